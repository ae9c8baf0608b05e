package org.tritri;

/** What needs {@code java.lang.foreign}. This is the class for Java before 22, which does not have it; the jar holds another one for Java from 22 on. */
final class Segments {
  private Segments() {}

  static HostMemory memory(String function, Object segment) {
    throw Check.refuse(function, "segment", "must be a java.lang.foreign.MemorySegment, which Java has from 22 on, got " + segment.getClass().getName() + " on Java "
        + Runtime.version().feature());
  }

  static Object segment(String function, long address, long bytes) {
    throw Check.refuse(function, "segment", "must be asked for on Java from 22 on, which has java.lang.foreign.MemorySegment, got Java " + Runtime.version().feature()
        + ": use HostMemory.bytes");
  }

  static void check(Object segment) {}
}
