package org.tritri;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.ShortBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How arrays and buffers reach the library and what is refused before it touches them. */
class ArraysTest {
  private static final double N = Double.NaN;
  private static final double[] UPPER = {1, 2, N, 3}, LOWER = {4, N, 5, 6}, PRODUCT = {14, 12, 15, 18};
  private static final Layout A = Layout.float64(2, 2).fill(Fill.UPPER), B = Layout.float64(2, 2).fill(Fill.LOWER), C = Layout.float64(2, 2);
  private static final Layout A32 = Layout.float32(2, 2).fill(Fill.UPPER), B32 = Layout.float32(2, 2).fill(Fill.LOWER), C32 = Layout.float32(2, 2);

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

  private static DoubleBuffer foreign(double... values) {
    final ByteOrder other = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
    return ByteBuffer.allocateDirect(values.length * Double.BYTES).order(other).asDoubleBuffer().put(values).rewind();
  }

  @Test
  void oneCallOnDoubles() {
    assertArrayEquals(PRODUCT, Tritri.multiply(2, UPPER, Fill.UPPER, LOWER, Fill.LOWER));
  }

  @Test
  void oneCallOnFloats() {
    assertArrayEquals(Values.floats(PRODUCT), Tritri.multiply(2, Values.floats(UPPER), Fill.UPPER, Values.floats(LOWER), Fill.LOWER));
  }

  @Test
  void oneCallOnNothing() {
    assertEquals(0, Tritri.multiply(0, new double[0], Fill.LOWER, new double[0], Fill.LOWER).length);
  }

  @Test
  void oneCallRefusesSizesThatNoArrayHolds() {
    refused("Tritri.multiply: n: must be 0 to 46340, as a Java array of n * n elements can hold, got 46341",
        () -> Tritri.multiply(46341, UPPER, Fill.UPPER, LOWER, Fill.LOWER));
    refused("got -1", () -> Tritri.multiply(-1, UPPER, Fill.UPPER, LOWER, Fill.LOWER));
  }

  @Test
  void oneCallOnDirectBuffers() {
    final DoubleBuffer c = Values.direct(N, N, N, N);
    Tritri.multiply(MultiplyOptions.DEFAULT, A, Values.direct(UPPER), B, Values.direct(LOWER), C, c);
    assertArrayEquals(PRODUCT, Values.array(c));
    final FloatBuffer c32 = Values.direct32(Values.floats(N, N, N, N));
    Tritri.multiply(MultiplyOptions.DEFAULT, A32, Values.direct32(Values.floats(UPPER)), B32, Values.direct32(Values.floats(LOWER)), C32, c32);
    assertArrayEquals(Values.floats(PRODUCT), Values.array(c32));
  }

  @Test
  void bufferBeginsAtItsPosition() {
    final DoubleBuffer a = Values.direct(N, N, 1, 2, N, 3), c = Values.direct(777, N, N, N, N, 777);
    a.position(2);
    c.position(1);
    context.multiply(MultiplyOptions.DEFAULT, A, a, B, Values.direct(LOWER), C, c);
    assertEquals(2, a.position());
    assertEquals(1, c.position());
    assertArrayEquals(new double[] {777, 14, 12, 15, 18, 777}, Values.array(c.rewind()));
  }

  @Test
  void bufferEndsAtItsLimit() {
    final DoubleBuffer a = Values.direct(UPPER);
    a.limit(3);
    refused("Context.multiply: a: must have at least 4 entries", () -> context.multiply(MultiplyOptions.DEFAULT, A, a, B, Values.direct(LOWER), C, Values.direct(new double[4])));
  }

  @Test
  void B5_bufferInTheOtherByteOrderIsRefused() {
    final DoubleBuffer c = Values.direct(7.0, 7, 7, 7);
    refused("Context.multiply: a: must be in the machine's byte order", () -> context.multiply(MultiplyOptions.DEFAULT, A, foreign(UPPER), B, Values.direct(LOWER), C, c));
    refused("c: must be in the machine's byte order", () -> context.multiply(MultiplyOptions.DEFAULT, A, Values.direct(UPPER), B, Values.direct(LOWER), C, foreign(PRODUCT)));
    assertArrayEquals(new double[] {7, 7, 7, 7}, Values.array(c));
  }

  @Test
  void B5_byteBufferWithoutOrderIsRefused() {
    final FloatBuffer c = ByteBuffer.allocateDirect(16).asFloatBuffer();
    refused("use ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder())",
        () -> context.multiply(MultiplyOptions.DEFAULT, A32, Values.direct32(Values.floats(UPPER)), B32, Values.direct32(Values.floats(LOWER)), C32, c));
  }

  @Test
  void B5_heapBufferIsRefused() {
    refused("Context.multiply: b: must be a direct buffer, whose memory native code can reach, or an array, got a heap buffer",
        () -> context.multiply(MultiplyOptions.DEFAULT, A, Values.direct(UPPER), B, DoubleBuffer.wrap(LOWER), C, Values.direct(new double[4])));
    refused("Context.upload: host: must be a direct buffer", () -> context.upload(A32, FloatBuffer.wrap(new float[4])));
  }

  @Test
  void readOnlyBufferIsAnInputAndNoResult() {
    final DoubleBuffer c = Values.direct(new double[4]);
    context.multiply(MultiplyOptions.DEFAULT, A, Values.direct(UPPER).asReadOnlyBuffer(), B, Values.direct(LOWER).asReadOnlyBuffer(), C, c);
    assertArrayEquals(PRODUCT, Values.array(c));
    refused("c: must be writable, got a read-only buffer",
        () -> context.multiply(MultiplyOptions.DEFAULT, A, Values.direct(UPPER), B, Values.direct(LOWER), C, c.asReadOnlyBuffer()));
  }

  @Test
  void shortArrayIsRefused() {
    final double[] c = {7, 7, 7};
    refused("Context.multiply: c: must have at least 4 entries for FLOAT64 FULL 2 x 2, ROW, ld 0, got 3",
        () -> context.multiply(MultiplyOptions.DEFAULT, A, UPPER, B, LOWER, C, c));
    assertArrayEquals(new double[] {7, 7, 7}, c);
    refused("a: must have at least 4 entries", () -> context.multiply(MultiplyOptions.DEFAULT, A, new double[3], B, LOWER, C, new double[4]));
    refused("b: must have at least 12 entries", () -> context.multiply(MultiplyOptions.DEFAULT, A, UPPER, B.ld(10), LOWER, C, new double[4]));
    refused("Matrix.download: host: must have at least 4 entries", () -> context.upload(A, UPPER).download(new double[3]));
    refused("Matrix.refill: host: must have at least 4 entries", () -> context.upload(A, UPPER).refill(new double[3]));
  }

  @Test
  void longerArrayIsFine() {
    final double[] c = {N, N, N, N, 777};
    context.multiply(MultiplyOptions.DEFAULT, A, UPPER, B, LOWER, C, c);
    assertArrayEquals(new double[] {14, 12, 15, 18, 777}, c);
  }

  @Test
  void wrongElementTypeIsRefused() {
    refused("Context.upload: host: must hold floats for FLOAT32, got doubles", () -> context.upload(A32, UPPER));
    refused("must hold doubles for FLOAT64, got floats", () -> context.upload(A, new float[4]));
    refused("must hold shorts for BFLOAT16, got floats", () -> context.upload(Layout.of(Dtype.BFLOAT16, 2, 2), new float[4]));
    refused("must hold doubles for COMPLEX128, got floats", () -> context.upload(Layout.complex128(1, 1), Values.direct32(1, 2)));
  }

  @Test
  void nullIsRefusedByName() {
    refused("Context.upload: host: must not be null", () -> context.upload(A, (double[]) null));
    refused("Context.upload: host layout: must not be null", () -> context.upload(null, UPPER));
    refused("Context.multiply: options: must not be null", () -> context.multiply(null, A, UPPER, B, LOWER, C, new double[4]));
    refused("Context.multiply: a: must not be null", () -> context.multiply((Matrix) null, null, null));
    refused("Layout: fill: must not be null", () -> A.fill(null));
    refused("MultiplyOptions: opA: must not be null", () -> MultiplyOptions.builder().opA(null));
    refused("Context.create: layout: must not be null", () -> context.create(null));
  }

  @Test
  void nullIsFineWhereNothingIsTouched() {
    final Layout none = Layout.float64(0, 0);
    context.multiply(MultiplyOptions.DEFAULT, none, (double[]) null, none, null, none, null);
    context.upload(none.ld(1), (double[]) null).close();
  }

  @Test
  void aNewMatrixHasNothingForBeta() {
    try (Matrix a = context.upload(A, UPPER)) {
      refused("Context.multiply: options: beta must be 0 for a new matrix, which holds nothing yet, got 1.0",
          () -> context.multiply(MultiplyOptions.builder().beta(1).build(), a, a, Fill.FULL));
      refused("got 0.0 + 2.0i", () -> context.multiply(MultiplyOptions.builder().beta(0, 2).build(), a, a, Fill.FULL));
    }
  }

  @Test
  void innerSizeZeroGivesBetaC() {
    final double[] c = {1, 2, 3, 4};
    context.multiply(MultiplyOptions.builder().beta(2).build(), Layout.float64(2, 0), new double[0], Layout.float64(0, 2), new double[0], C, c);
    assertArrayEquals(new double[] {2, 4, 6, 8}, c);
  }

  @Test
  void arrayInPlace() {
    final double[] both = {4, N, 5, 6};
    context.multiply(MultiplyOptions.DEFAULT, B, both, B, both, B, both);
    assertArrayEquals(new double[] {16, N, 50, 36}, both);
  }

  @Test
  void arrayGivenTwiceInTwoLayoutsIsTheOverlapThatItIs() {
    final double[] both = {4, N, 5, 6};
    refused("tritri_multiply_host: c: must be a itself", () -> context.multiply(MultiplyOptions.DEFAULT, B, both, B, LOWER, C.order(Order.COLUMN), both));
    assertArrayEquals(new double[] {4, N, 5, 6}, both);
  }

  @Test
  void oneArrayHoldsBothFactors() {
    final double[] lu = {4, 3, .5, 2}, before = lu.clone(), c = new double[4];
    context.multiply(MultiplyOptions.DEFAULT, B.diag(Diag.UNIT), lu, A, lu, C, c);
    assertArrayEquals(new double[] {4, 3, 2, 3.5}, c);
    assertArrayEquals(before, lu);
  }

  @Test
  void bufferInPlace() {
    final DoubleBuffer both = Values.direct(4.0, N, 5, 6);
    context.multiply(MultiplyOptions.DEFAULT, B, both, B, both, B, both);
    assertArrayEquals(new double[] {16, N, 50, 36}, Values.array(both));
  }

  @Test
  void outsideTheFillOfCKeepsItsValues() {
    final double[] c = {777, 777, 777, 777};
    context.multiply(MultiplyOptions.DEFAULT, A, UPPER, B, LOWER, C.fill(Fill.LOWER), c);
    assertArrayEquals(new double[] {14, 777, 15, 18}, c);
  }

  @Test
  void failedCallLeavesTheArrayAlone() {
    final double[] c = {1, 2, 3, 4};
    refused("options: alpha_im must be 0 for float64, got 1", () -> context.multiply(MultiplyOptions.builder().alpha(1, 1).build(), A, UPPER, B, LOWER, C, c));
    assertArrayEquals(new double[] {1, 2, 3, 4}, c);
  }

  @Test
  void optionsReachTheLibrary() {
    final double[] c = {2, 4, 6, 8};
    context.multiply(MultiplyOptions.builder().alpha(2).beta(.5).build(), A, UPPER, B, LOWER, C, c);
    assertArrayEquals(new double[] {29, 26, 33, 40}, c);
    context.multiply(MultiplyOptions.builder().opA(Op.TRANSPOSE).opB(Op.TRANSPOSE).build(), A, UPPER, B, LOWER, C, c);
    assertArrayEquals(new double[] {4, 5, 8, 28}, c);
    refused("compute must be TRITRI_COMPUTE_DEFAULT", () -> context.multiply(MultiplyOptions.builder().compute(Compute.TF32).build(), A, UPPER, B, LOWER, C, c));
    final MultiplyOptions cublas = MultiplyOptions.builder().algorithm(Algorithm.CUBLAS).build();
    assertThrows(TritriException.class, () -> context.multiply(cublas, A, UPPER, B, LOWER, C, c));
  }

  @Test
  void complexScalarsReachTheLibrary() {
    final Layout one = Layout.complex128(1, 1);
    final double[] c = {5, 6};
    context.multiply(MultiplyOptions.builder().alpha(0, 1).beta(1, 2).build(), one, new double[] {1, 2}, one, new double[] {1, 1}, one, c);
    // i (1 + 2i)(1 + i) + (1 + 2i)(5 + 6i)
    assertArrayEquals(new double[] {-3 - 7, -1 + 16}, c);
  }

  @Test
  void complexFloatsAreInterleaved() {
    final Layout one = Layout.complex64(1, 1);
    final float[] c = new float[2];
    context.multiply(MultiplyOptions.builder().opB(Op.CONJ_TRANSPOSE).build(), one, new float[] {1, 2}, one, new float[] {1, 1}, one, c);
    assertArrayEquals(new float[] {3, 1}, c);
  }

  @Test
  void builderMayGoOnAfterBuild() {
    final MultiplyOptions.Builder builder = MultiplyOptions.builder().alpha(2);
    final MultiplyOptions twice = builder.build();
    builder.alpha(3);
    final double[] c = new double[4];
    context.multiply(twice, A, UPPER, B, LOWER, C, c);
    assertArrayEquals(new double[] {28, 24, 30, 36}, c);
  }

  @Test
  void halfPrecisionIsBits() {
    // 1.5 * 2 = 3
    for (Object[] half : new Object[][] {{Dtype.FLOAT16, 0x3e00, 0x4000, 0x4200}, {Dtype.BFLOAT16, 0x3fc0, 0x4000, 0x4040}}) {
      final Layout one = Layout.of((Dtype) half[0], 1, 1);
      final short[] a = {((Integer) half[1]).shortValue()}, b = {((Integer) half[2]).shortValue()}, c = {0};
      context.multiply(MultiplyOptions.DEFAULT, one, a, one, b, one, c);
      assertEquals(((Integer) half[3]).shortValue(), c[0]);
      final ShortBuffer direct = ByteBuffer.allocateDirect(2).order(ByteOrder.nativeOrder()).asShortBuffer();
      context.upload(one, c).download(direct);
      assertEquals(c[0], direct.get(0));
    }
  }

  @Test
  void packedTrianglesNeedOnlyTheirElements() {
    final Layout packed = B.storage(Storage.PACKED);
    final double[] c = new double[4];
    context.multiply(MultiplyOptions.DEFAULT, A, UPPER, packed, new double[] {4, 5, 6}, C, c);
    assertArrayEquals(PRODUCT, c);
    refused("must have at least 3 entries", () -> context.upload(packed, new double[2]));
    final Layout trapezoid = Layout.float64(3, 2).fill(Fill.LOWER).storage(Storage.PACKED);
    refused("must have at least 5 entries", () -> context.upload(trapezoid, new double[4]));
    try (Matrix m = context.upload(trapezoid, new double[] {1, 2, 3, 4, 5})) {
      final double[] back = {0, 777, 0, 0, 0, 0};
      m.download(Layout.float64(3, 2).fill(Fill.LOWER), back);
      assertArrayEquals(new double[] {1, 777, 2, 3, 4, 5}, back);
    }
  }

  @Test
  void batches() {
    final double[] c = new double[8];
    context.multiply(MultiplyOptions.DEFAULT, A.batch(2, 0), UPPER, B.batch(2, 4), new double[] {4, N, 5, 6, 8, N, 10, 12}, C.batch(2, 4), c);
    assertArrayEquals(new double[] {14, 12, 15, 18, 28, 24, 30, 36}, c);
    refused("must have at least 8 entries", () -> context.multiply(MultiplyOptions.DEFAULT, A, UPPER, B, LOWER, C.batch(2, 4), new double[7]));
    refused("batch stride must be at least 0 for Java memory", () -> context.upload(A.batch(2, -4), new double[8]));
    try (Matrix m = context.upload(C.batch(2, 5), new double[] {1, 2, 3, 4, N, 5, 6, 7, 8})) {
      final double[] tight = new double[8];
      m.download(tight);
      assertArrayEquals(new double[] {1, 2, 3, 4, 5, 6, 7, 8}, tight);
    }
  }

  @Test
  void uploadMultiplyDownload() {
    try (Matrix a = context.upload(A, UPPER); Matrix b = context.upload(B, Values.direct(LOWER)); Matrix c = context.multiply(a, b)) {
      final double[] result = new double[4];
      c.download(result);
      assertArrayEquals(PRODUCT, result);
      final DoubleBuffer direct = Values.direct(new double[4]);
      c.download(C.order(Order.COLUMN), direct);
      assertArrayEquals(new double[] {14, 15, 12, 18}, Values.array(direct));
    }
  }

  @Test
  void productTakesItsShapeFromTheOperations() {
    final MultiplyOptions options = MultiplyOptions.builder().opA(Op.TRANSPOSE).opB(Op.CONJ_TRANSPOSE).build();
    try (Matrix a = context.upload(Layout.float64(1, 2), new double[] {1, 2}); Matrix b = context.upload(Layout.float64(3, 1), new double[] {3, 4, 5});
        Matrix c = context.multiply(options, a, b, Fill.LOWER)) {
      final double[] result = {0, 777, 777, 0, 0, 777};
      c.download(result);
      assertArrayEquals(new double[] {3, 777, 777, 6, 8, 777}, result);
    }
  }

  @Test
  void refillReplacesTheElements() {
    try (Matrix m = context.upload(A, UPPER)) {
      m.refill(new double[] {7, 8, N, 9});
      final double[] result = {0, 0, 777, 0};
      m.download(result);
      assertArrayEquals(new double[] {7, 8, 777, 9}, result);
      m.refill(A.order(Order.COLUMN), Values.direct(1, N, 2, 3));
      m.download(result);
      assertArrayEquals(new double[] {1, 2, 777, 3}, result);
      refused("tritri_upload_into: host_layout: fill must be the matrix's", () -> m.refill(B, LOWER));
    }
  }

  @Test
  void layoutOfAMatrixIsWhatTheLibraryHas() {
    try (Matrix m = context.create(Layout.complex64(3, 2).fill(Fill.LOWER).diag(Diag.UNIT).order(Order.COLUMN).ld(5).batch(4, 20))) {
      assertEquals(Layout.complex64(3, 2).fill(Fill.LOWER).diag(Diag.UNIT).order(Order.COLUMN).ld(5).batch(4, 20), m.layout());
      assertEquals("COMPLEX64 LOWER UNIT 3 x 2, COLUMN, ld 5, batch 4 by 20", m.layout().toString());
    }
    try (Matrix m = context.create(B.storage(Storage.PACKED))) {
      assertEquals(Storage.PACKED, m.layout().storage());
      assertEquals(0, m.layout().ld());
    }
  }

  @Test
  void wrapUsesTheMemoryItself() {
    try (Matrix a = context.upload(A, UPPER); Matrix view = context.wrap(a.layout(), a.address()); Matrix c = context.multiply(view, view)) {
      assertEquals(a.address(), view.address());
      final double[] result = new double[4];
      c.download(result);
      assertArrayEquals(new double[] {1, 8, 0, 9}, result);
    }
    refused("tritri_matrix_wrap: device_memory: must not be NULL", () -> context.wrap(A, 0));
    refused("must be aligned to 8 bytes", () -> context.wrap(A, 0x1001));
  }

  @Test
  void verifyAndPlanAndWorkspace() {
    try (Matrix a = context.upload(A, UPPER); Matrix b = context.upload(B, LOWER); Matrix c = context.multiply(a, b)) {
      assertTrue(context.verify(MultiplyOptions.DEFAULT, a, b, c, 8) < 1e-14);
      c.refill(new double[] {14, 12.1, 15, 18});
      assertTrue(context.verify(MultiplyOptions.DEFAULT, a, b, c, 8) > 1e-4);
      refused("probes: must be 1 to 1024, got 0", () -> context.verify(MultiplyOptions.DEFAULT, a, b, c, 0));
      assertTrue(context.plan(MultiplyOptions.DEFAULT, a, b, c).startsWith("device=cpu"));
      assertEquals(0, context.workspaceSize(MultiplyOptions.DEFAULT, a, b, c));
    }
  }

  @Test
  void synchronizeHasNothingToReport() {
    context.synchronize();
    refused("tritri_context_set_stream", () -> context.setStream(1));
    context.setStream(0);
  }

  @Test
  void devices() {
    assertEquals(1, Tritri.deviceCount(Device.CPU));
    assertEquals(Tritri.deviceCount(Device.CUDA) + 1, Tritri.deviceCount(Device.AUTO));
    final DeviceInfo info = Tritri.device(Device.CPU, 0);
    assertEquals(Device.CPU, info.kind());
    assertEquals(0, info.index());
    assertTrue(info.name().length() > 2 && info.name().length() < 128, info.name());
    assertTrue(info.details().length() < 512 && info.details().indexOf(0) < 0, info.details());
    assertTrue(info.memoryTotal() > 1L << 28 && info.memoryFree() <= info.memoryTotal(), info.memoryFree() + " of " + info.memoryTotal());
    assertEquals("0.0", info.computeCapability());
    assertTrue(info.multiprocessors() >= 1);
    assertEquals(0, info.driverVersion());
    assertEquals(0, info.runtimeVersion());
    assertEquals(info.toString(), context.device().toString());
    assertTrue(info.toString().startsWith("CPU 0: "), info.toString());
    refused("tritri_device_info_get", () -> Tritri.device(Device.CPU, -1));
  }

  @Test
  void version() {
    assertTrue(Tritri.version().matches("\\d+\\.\\d+\\.\\d+"), Tritri.version());
  }
}
