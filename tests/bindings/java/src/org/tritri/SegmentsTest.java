package org.tritri;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** MemorySegments, on a Java from 22 on; run.sh finds one. java.lang.foreign is reached by its names, since the compiler may be older. */
@Tag("java22")
class SegmentsTest {
  private static final double N = Double.NaN;
  private static final double[] UPPER = {1, 2, N, 3}, LOWER = {4, N, 5, 6}, PRODUCT = {14, 12, 15, 18};
  private static final Layout A = Layout.float64(2, 2).fill(Fill.UPPER), B = Layout.float64(2, 2).fill(Fill.LOWER), C = Layout.float64(2, 2);

  private static Object call(String type, Object self, String name, Object... arguments) {
    try {
      for (Method method : Class.forName("java.lang.foreign." + type).getMethods()) {
        if (!method.getName().equals(name) || method.getParameterCount() != arguments.length) continue;
        boolean fits = true;
        for (int i = 0; i < arguments.length; i++) {
          final Class<?> wanted = method.getParameterTypes()[i];
          fits &= wanted == long.class ? arguments[i] instanceof Long : wanted.isInstance(arguments[i]);
        }
        if (fits) return method.invoke(self, arguments);
      }
    } catch (ReflectiveOperationException failure) {
      throw new AssertionError(failure);
    }
    throw new AssertionError("java.lang.foreign." + type + "." + name);
  }

  private static Object segment(Object arena, double... values) {
    final Object segment = call("Arena", arena, "allocate", 8L * values.length, 8L);
    bytes(segment, 0, 8L * values.length).asDoubleBuffer().put(values);
    return segment;
  }

  private static ByteBuffer bytes(Object segment, long offset, long count) {
    return ((ByteBuffer) call("MemorySegment", call("MemorySegment", segment, "asSlice", offset, count), "asByteBuffer")).order(ByteOrder.nativeOrder());
  }

  private static double[] values(Object segment) {
    final double[] values = new double[(int) ((long) call("MemorySegment", segment, "byteSize") / 8)];
    bytes(segment, 0, 8L * values.length).asDoubleBuffer().get(values);
    return values;
  }

  private static void refused(String sentence, Runnable call) {
    assertEquals(sentence, assertThrows(IllegalArgumentException.class, call::run).getMessage());
  }

  @Test
  void productsWhereTheSegmentsLie() throws Exception {
    try (AutoCloseable arena = (AutoCloseable) call("Arena", null, "ofConfined"); Context context = new Context(Device.CPU)) {
      final Object c = segment(arena, N, N, N, N);
      final HostMemory x = HostMemory.of(segment(arena, UPPER)), y = HostMemory.of(segment(arena, LOWER)), z = HostMemory.of(c);
      assertSame(c, z.segment());
      assertEquals(call("MemorySegment", c, "address"), z.address());
      Tritri.multiply(MultiplyOptions.DEFAULT, A, x, B, y, C, z);
      assertArrayEquals(PRODUCT, values(c));
      try (Matrix left = context.upload(A, x); Matrix right = context.upload(B, y); Matrix product = context.multiply(left, right)) {
        bytes(c, 0, 32).asDoubleBuffer().put(new double[4]);
        product.download(z);
        assertArrayEquals(PRODUCT, values(c));
        left.refill(z);
        product.refill(z);
      }
      assertEquals(14, z.bytes(0, 8).getDouble());
    }
  }

  @Test
  void slicesBeginWhereTheyBegin() throws Exception {
    try (AutoCloseable arena = (AutoCloseable) call("Arena", null, "ofShared")) {
      final Object big = segment(arena, 777, 1, 2, N, 3, 777), c = segment(arena, N, N, N, N);
      final HostMemory inner = HostMemory.of(call("MemorySegment", big, "asSlice", 8L, 32L));
      assertEquals(32, inner.byteSize());
      Tritri.multiply(MultiplyOptions.DEFAULT, A, inner, B, HostMemory.of(segment(arena, LOWER)), C, HostMemory.of(c));
      assertArrayEquals(PRODUCT, values(c));
      refused("Tritri.multiply: a: must have at least 32 bytes for " + C + ", got 24",
          () -> Tritri.multiply(MultiplyOptions.DEFAULT, C, HostMemory.of(call("MemorySegment", big, "asSlice", 8L, 24L)), B, inner, C, inner));
    }
  }

  @Test
  void ownMemoryAsASegment() {
    try (Context context = new Context(Device.CPU); HostMemory memory = context.allocateHost(32)) {
      final Object segment = memory.segment();
      assertEquals(32L, call("MemorySegment", segment, "byteSize"));
      bytes(segment, 0, 32).asDoubleBuffer().put(LOWER);
      assertEquals(6, memory.bytes(24, 8).getDouble());
      context.upload(B, memory).close();
    }
  }

  @Test
  void pastTwoToThe31Bytes() throws Exception {
    final long rows = 270_000, cols = 1000;
    try (AutoCloseable arena = (AutoCloseable) call("Arena", null, "ofShared")) {
      final Object column = call("Arena", arena, "allocate", 8 * rows, 8L), row = call("Arena", arena, "allocate", 8 * cols, 8L);
      final Object c = call("Arena", arena, "allocate", 8 * rows * cols, 8L);
      for (int i = 0; i < rows; i++) bytes(column, 0, 8 * rows).putDouble(8 * i, i);
      for (int j = 0; j < cols; j++) bytes(row, 0, 8 * cols).putDouble(8 * j, j + 1);
      Tritri.multiply(MultiplyOptions.DEFAULT, Layout.float64(rows, 1), HostMemory.of(column), Layout.float64(1, cols), HostMemory.of(row),
          Layout.float64(rows, cols), HostMemory.of(c));
      for (long i : new long[] {0, 268_435, 268_436, rows - 1}) {
        for (long j : new long[] {0, 455, 456, cols - 1}) assertEquals(i * (j + 1), bytes(c, 8 * (i * cols + j), 8).getDouble());
      }
    }
  }

  @Test
  void whatIsNotASegmentOutsideTheHeap() {
    refused("HostMemory.of: segment: must be a java.lang.foreign.MemorySegment, got [D", () -> HostMemory.of(new double[4]));
    refused("HostMemory.of: segment: must be outside the Java heap, got a segment of an array: pass the array itself",
        () -> HostMemory.of(call("MemorySegment", null, "ofArray", new double[4])));
  }

  @Test
  void readOnlySegmentsAreInputsOnly() throws Exception {
    try (AutoCloseable arena = (AutoCloseable) call("Arena", null, "ofConfined")) {
      final HostMemory a = HostMemory.of(call("MemorySegment", segment(arena, UPPER), "asReadOnly")), c = HostMemory.of(segment(arena, N, N, N, N));
      assertTrue(a.isReadOnly() && a.bytes(0, 32).isReadOnly());
      Tritri.multiply(MultiplyOptions.DEFAULT, A, a, A, a, C, c);
      refused("Tritri.multiply: c: must be writable, got a read-only segment", () -> Tritri.multiply(MultiplyOptions.DEFAULT, A, a, A, a, C, a));
    }
  }

  @Test
  void closedArenasAndOtherThreads() throws Exception {
    final AutoCloseable arena = (AutoCloseable) call("Arena", null, "ofConfined");
    final HostMemory a = HostMemory.of(segment(arena, UPPER)), c = HostMemory.of(segment(arena, N, N, N, N));
    final String[] said = new String[1];
    final Thread other = new Thread(() -> {
      try {
        Tritri.multiply(MultiplyOptions.DEFAULT, A, a, A, a, C, c);
      } catch (IllegalStateException expected) {
        said[0] = expected.getMessage();
      }
    });
    other.start();
    other.join();
    assertEquals("HostMemory: segment: must be accessible to this thread, got one that is confined to another", said[0]);
    arena.close();
    assertEquals("HostMemory: segment: must be alive, got one whose arena is closed",
        assertThrows(IllegalStateException.class, () -> Tritri.multiply(MultiplyOptions.DEFAULT, A, a, A, a, C, c)).getMessage());
    a.close();
    assertEquals("HostMemory is closed", assertThrows(IllegalStateException.class, () -> Tritri.multiply(MultiplyOptions.DEFAULT, A, a, A, a, C, c)).getMessage());
  }
}
