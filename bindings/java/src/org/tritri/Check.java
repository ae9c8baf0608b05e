package org.tritri;

import java.lang.ref.Reference;
import java.lang.reflect.Array;
import java.math.BigInteger;
import java.nio.Buffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.ShortBuffer;

/** What has to be right before native code may touch Java's memory. The library checks everything else. */
final class Check {
  private Check() {}

  static <T> T notNull(String function, String argument, T value) {
    if (value == null) throw refuse(function, argument, "must not be null, got null");
    return value;
  }

  static IllegalArgumentException refuse(String function, String argument, String rule) {
    return new IllegalArgumentException(function + ": " + argument + ": " + rule);
  }

  /** What a call was given for host memory, held until this is closed. */
  static final class Host implements AutoCloseable {
    private final Object given;
    private final Handle.Use use;  // null: the collector is what frees it
    private final Object memory;

    private Host(Object given, Handle.Use use, Object memory) {
      this.given = given;
      this.use = use;
      this.memory = memory;
    }

    /** The object to hand to native code: an array, a direct buffer, an address or null. */
    Object memory() {
      return memory;
    }

    @Override
    public void close() {
      if (use != null) use.close();
      Reference.reachabilityFence(given);
    }
  }

  /** Holds {@code host}, an array, a buffer or a {@link HostMemory}, once it fits the layout. */
  static Host host(String function, String argument, Layout layout, Object host, boolean written) {
    notNull(function, argument + " layout", layout);
    if (host == null) {
      if (layout.elements().signum() == 0) return new Host(null, null, null);
      throw refuse(function, argument, "must not be null for " + layout + ", got null");
    }
    final Dtype dtype = layout.dtype();
    if (host instanceof HostMemory) {
      final HostMemory outside = (HostMemory) host;
      if (written && outside.isReadOnly()) throw refuse(function, argument, "must be writable, got a read-only segment");
      holds(function, argument, layout, outside.byteSize(), dtype.bytes(), "bytes");
      final Handle.Use use = outside.use();
      return new Host(host, use, use.address());
    }
    final Object memory = host instanceof Buffer ? direct(function, argument, (Buffer) host, written) : host;
    final Class<?> component = host instanceof Buffer ? component((Buffer) host) : host.getClass().getComponentType();
    if (component != dtype.component) {
      throw refuse(function, argument, "must hold " + dtype.component + "s for " + dtype + ", got " + component + "s");
    }
    final long length = host instanceof Buffer ? ((Buffer) host).remaining() : Array.getLength(host);
    holds(function, argument, layout, length, dtype.components, "entries");
    return new Host(host, null, length == 0 ? null : memory);
  }

  private static void holds(String function, String argument, Layout layout, long length, int unitsPerElement, String units) {
    final BigInteger needed = layout.elements().multiply(BigInteger.valueOf(unitsPerElement));
    if (layout.batchStride() < 0 && layout.batchCount() > 1) {
      throw refuse(function, argument, "batch stride must be at least 0 for Java memory, which begins at its first element, got " + layout.batchStride());
    }
    if (needed.compareTo(BigInteger.valueOf(length)) > 0) {
      throw refuse(function, argument, "must have at least " + needed + " " + units + " for " + layout + ", got " + length);
    }
  }

  private static Buffer direct(String function, String argument, Buffer buffer, boolean written) {
    if (!buffer.isDirect()) {
      throw refuse(function, argument, "must be a direct buffer, whose memory native code can reach, or an array, got a heap buffer");
    }
    final ByteOrder order = order(buffer);
    if (order != ByteOrder.nativeOrder()) {
      throw refuse(function, argument, "must be in the machine's byte order " + ByteOrder.nativeOrder() + ", got " + order
          + ": use ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder())");
    }
    if (written && buffer.isReadOnly()) throw refuse(function, argument, "must be writable, got a read-only buffer");
    return buffer.slice();  // begins where the buffer's position is
  }

  private static ByteOrder order(Buffer buffer) {
    if (buffer instanceof FloatBuffer) return ((FloatBuffer) buffer).order();
    if (buffer instanceof DoubleBuffer) return ((DoubleBuffer) buffer).order();
    return ((ShortBuffer) buffer).order();
  }

  private static Class<?> component(Buffer buffer) {
    return buffer instanceof FloatBuffer ? float.class : buffer instanceof DoubleBuffer ? double.class : short.class;
  }
}
