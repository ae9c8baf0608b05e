package java.lang.foreign;

/** As much of Java 22's class as src22 uses, so that any JDK from 11 on compiles it. It is in no jar. */
public interface MemorySegment {
  /** As in Java 22. */
  interface Scope {
    boolean isAlive();
  }

  static MemorySegment ofAddress(long address) {
    throw new UnsupportedOperationException();
  }

  MemorySegment reinterpret(long newSize);

  long address();

  long byteSize();

  boolean isNative();

  boolean isReadOnly();

  boolean isAccessibleBy(Thread thread);

  Scope scope();
}
