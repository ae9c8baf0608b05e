package org.tritri;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.tritri.internal.TritriNative;

/** B3: 2^31 + 1 and more through every size argument. */
class SizesTest {
  private static final long BIG = (1L << 31) + 1, BIGGER = (1L << 32) + 2;

  private Context context;

  @BeforeEach
  void open() {
    context = new Context(Device.CPU);
  }

  @AfterEach
  void close() {
    context.close();
  }

  private static void refused(String part, Runnable call) {
    final String message = assertThrows(IllegalArgumentException.class, call::run).getMessage();
    assertTrue(message.contains(part), () -> "must contain '" + part + "', got '" + message + "'");
  }

  @Test
  void B3_rows() {
    for (long size : new long[] {BIG, BIGGER}) {
      assertEquals(size, context.create(Layout.float64(size, 0)).layout().rows());
      refused("got " + size + " x 0", () -> context.multiply(context.create(Layout.float64(1, 1)), context.create(Layout.float64(1, 1)), context.create(Layout.float64(size, 0))));
    }
  }

  @Test
  void B3_cols() {
    for (long size : new long[] {BIG, BIGGER}) assertEquals(size, context.create(Layout.float64(0, size)).layout().cols());
  }

  @Test
  void B3_ldOfOneLine() {
    for (long size : new long[] {BIG, BIGGER}) {
      final double[] c = {0, 0};
      context.multiply(MultiplyOptions.DEFAULT, Layout.float64(1, 2).ld(size), new double[] {1, 2}, Layout.float64(2, 2), new double[] {3, 4, 5, 6},
          Layout.float64(1, 2).ld(size), c);
      assertArrayEquals(new double[] {13, 16}, c);
      assertEquals(size, context.create(Layout.float64(1, 2).ld(size)).layout().ld());
    }
  }

  @Test
  void B3_ldOfTwoLines() {
    refused("host: must have at least 2147483651 entries for FLOAT64 FULL 2 x 2, ROW, ld 2147483649, got 4", () -> context.upload(Layout.float64(2, 2).ld(BIG), new double[4]));
    refused("host: must have at least 4294967300 entries", () -> context.upload(Layout.float64(2, 2).ld(BIGGER), new double[4]));
  }

  @Test
  void B3_batchCount() {
    refused("batch_count must be 0 to 2^31, got 2147483649", () -> context.create(Layout.float64(0, 0).batch(BIG, 0)));
    refused("batch_count must be 0 to 2^31, got 4294967298", () -> context.create(Layout.float64(0, 0).batch(BIGGER, 0)));
  }

  @Test
  void B3_batchStride() {
    for (long size : new long[] {BIG, BIGGER, -BIG}) {
      try (Matrix memory = context.create(Layout.float64(1, 1)); Matrix matrix = context.wrap(Layout.float64(1, 1).batch(2, size), memory.address())) {
        assertEquals(size, matrix.layout().batchStride());
      }
    }
  }

  @Test
  void B3_arrayLength() {
    refused("must have at least 4611686022722355201 entries", () -> context.upload(Layout.float64(BIG, BIG), new double[4]));
    refused("must have at least 85070591730234615847396907784232501249 entries", () -> context.upload(Layout.float64(Long.MAX_VALUE, Long.MAX_VALUE), new double[4]));
    refused("must have at least 9223372045444710402 entries", () -> context.upload(Layout.complex64(BIG, BIG), new float[4]));
  }

  @Test
  void B3_spanOfMoreThanSixtyThreeBits() {
    refused("the matrix must span less than 2^63 bytes, got 4611686018427387904 x 4", () -> context.create(Layout.float64(1L << 62, 4)));
  }

  @Test
  void B3_workspaceBytes() {
    Context.builder().device(Device.CPU).workspaceBytes(BIG).build().close();
    refused("Context.Builder: workspaceBytes: must be at least 0, got -1", () -> Context.builder().workspaceBytes(-1));
  }

  @Test
  void B3_hostBytes() {
    final long[] address = new long[1];
    try (Handle.Use self = context.use()) {
      TritriNative.tritri_host_allocate(self.address(), BIG, address);
      assertTrue(address[0] != 0);
      TritriNative.tritri_host_free(self.address(), address[0]);
      refused("tritri_host_allocate: bytes: must be at least 0, got -2147483649", () -> TritriNative.tritri_host_allocate(self.address(), -BIG, address));
    }
  }

  @Test
  void B3_addressesAreSixtyFourBitsWide() {
    assertThrows(IllegalArgumentException.class, () -> context.wrap(Layout.float64(1, 1), 1L << 32 | 1));
    try (Matrix matrix = context.wrap(Layout.float64(1, 1), 1L << 40)) {
      assertEquals(1L << 40, matrix.address());
    }
  }

  @Test
  void B3_moreThanThirtyTwoBitsOfFlops() {
    try (Matrix a = context.create(Layout.float64(3000, 3000)); Matrix c = context.create(Layout.float64(3000, 3000))) {
      assertTrue(context.plan(MultiplyOptions.DEFAULT, a, a, c).matches(".*flops=5\\.?4.*"), context.plan(MultiplyOptions.DEFAULT, a, a, c));
    }
  }
}
