package org.tritri;

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

  /** The object to hand to native code for {@code host}, an array or a buffer, once it fits the layout. */
  static Object host(String function, String argument, Layout layout, Object host, boolean written) {
    notNull(function, argument + " layout", layout);
    if (host == null) {
      if (layout.elements().signum() == 0) return null;
      throw refuse(function, argument, "must not be null for " + layout + ", got null");
    }
    final Dtype dtype = layout.dtype();
    final Object memory = host instanceof Buffer ? direct(function, argument, (Buffer) host, written) : host;
    final Class<?> component = host instanceof Buffer ? component((Buffer) host) : host.getClass().getComponentType();
    if (component != dtype.component) {
      throw refuse(function, argument, "must hold " + dtype.component + "s for " + dtype + ", got " + component + "s");
    }
    final BigInteger needed = layout.elements().multiply(BigInteger.valueOf(dtype.components));
    final long length = host instanceof Buffer ? ((Buffer) host).remaining() : Array.getLength(host);
    if (layout.batchStride() < 0 && layout.batchCount() > 1) {
      throw refuse(function, argument, "batch stride must be at least 0 for Java memory, which begins at its first element, got " + layout.batchStride());
    }
    if (needed.compareTo(BigInteger.valueOf(length)) > 0) {
      throw refuse(function, argument, "must have at least " + needed + " entries for " + layout + ", got " + length);
    }
    return length == 0 ? null : memory;
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
