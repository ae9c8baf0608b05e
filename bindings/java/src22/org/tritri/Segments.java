package org.tritri;

import java.lang.foreign.MemorySegment;

/** What needs {@code java.lang.foreign}: the class for Java from 22 on. */
final class Segments {
  private Segments() {}

  static HostMemory memory(String function, Object object) {
    if (!(object instanceof MemorySegment)) {
      throw Check.refuse(function, "segment", "must be a java.lang.foreign.MemorySegment, got " + object.getClass().getName());
    }
    final MemorySegment segment = (MemorySegment) object;
    if (!segment.isNative()) throw Check.refuse(function, "segment", "must be outside the Java heap, got a segment of an array: pass the array itself");
    return HostMemory.over(segment, segment.address(), segment.byteSize(), segment.isReadOnly());
  }

  static Object segment(String function, long address, long bytes) {
    return MemorySegment.ofAddress(address).reinterpret(bytes);
  }

  static void check(Object object) {
    final MemorySegment segment = (MemorySegment) object;
    if (!segment.scope().isAlive()) throw new IllegalStateException("HostMemory: segment: must be alive, got one whose arena is closed");
    if (!segment.isAccessibleBy(Thread.currentThread())) {
      throw new IllegalStateException("HostMemory: segment: must be accessible to this thread, got one that is confined to another");
    }
  }
}
