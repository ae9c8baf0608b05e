package org.tritri;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The shared vectors, through each way that Java memory can take. */
class VectorsTest {
  private static Context context;

  @BeforeAll
  static void open() {
    context = new Context(Device.CPU);
  }

  @AfterAll
  static void close() {
    context.close();
  }

  @TestFactory
  Stream<DynamicTest> arrays() throws IOException {
    return each("arrays", VectorsTest::onArrays);
  }

  @TestFactory
  Stream<DynamicTest> directBuffers() throws IOException {
    return each("direct buffers", VectorsTest::onDirectBuffers);
  }

  @TestFactory
  Stream<DynamicTest> matrices() throws IOException {
    return each("matrices", VectorsTest::onMatrices);
  }

  private static Stream<DynamicTest> each(String way, Consumer<VectorCase> run) throws IOException {
    final List<VectorCase> cases = VectorCase.read();
    assertTrue(cases.size() >= 150, "vectors.txt must hold at least 150 cases, got " + cases.size());
    return cases.stream().map(one -> DynamicTest.dynamicTest(one.name + " on " + way, () -> run.accept(one)));
  }

  private static boolean isFloat(VectorCase one) {
    return one.dtype == Dtype.FLOAT32 || one.dtype == Dtype.COMPLEX64;
  }

  private static void onArrays(VectorCase one) {
    final Layout x = one.layouts.get("a"), y = one.layouts.get("b"), z = one.layouts.get("c");
    final double[] a = one.data.get("a"), b = one.data.get("b"), c = one.data.get("c");
    final MultiplyOptions options = one.options.build();
    if (isFloat(one)) {
      final float[] left = Values.floats(a), right = Values.floats(b), result = Values.floats(c);
      check(one, () -> context.multiply(options, x, left, y, right, z, result), () -> Values.doubles(result));
      assertArrayEquals(Values.floats(a), left);
      assertArrayEquals(Values.floats(b), right);
    } else {
      final double[] left = a.clone(), right = b.clone(), result = c.clone();
      check(one, () -> context.multiply(options, x, left, y, right, z, result), () -> result);
      assertArrayEquals(a, left);
      assertArrayEquals(b, right);
    }
  }

  private static void onDirectBuffers(VectorCase one) {
    final Layout x = one.layouts.get("a"), y = one.layouts.get("b"), z = one.layouts.get("c");
    final double[] a = one.data.get("a"), b = one.data.get("b"), c = one.data.get("c");
    final MultiplyOptions options = one.options.build();
    if (isFloat(one)) {
      final FloatBuffer left = Values.direct32(Values.floats(a)), right = Values.direct32(Values.floats(b)), result = Values.direct32(Values.floats(c));
      check(one, () -> context.multiply(options, x, left, y, right, z, result), () -> Values.doubles(Values.array(result)));
      assertArrayEquals(Values.floats(a), Values.array(left));
      assertArrayEquals(Values.floats(b), Values.array(right));
    } else {
      final DoubleBuffer left = Values.direct(a), right = Values.direct(b), result = Values.direct(c);
      check(one, () -> context.multiply(options, x, left, y, right, z, result), () -> Values.array(result));
      assertArrayEquals(a, Values.array(left));
      assertArrayEquals(b, Values.array(right));
    }
  }

  private static void onMatrices(VectorCase one) {
    final Layout z = one.layouts.get("c");
    final double[] c = one.data.get("c").clone();
    final float[] floats = Values.floats(c);
    check(one, () -> {
      try (Matrix a = upload(one, "a"); Matrix b = upload(one, "b"); Matrix result = upload(one, "c")) {
        context.multiply(one.options.build(), a, b, result);
        if (isFloat(one)) result.download(z, floats); else result.download(z, c);
      }
    }, () -> isFloat(one) ? Values.doubles(floats) : c);
  }

  private static Matrix upload(VectorCase one, String operand) {
    final double[] values = one.data.get(operand);
    return isFloat(one) ? context.upload(one.layouts.get(operand), Values.floats(values)) : context.upload(one.layouts.get(operand), values);
  }

  private static void check(VectorCase one, Runnable call, Supplier<double[]> result) {
    if (one.refused == null) {
      call.run();
      Values.close(one.expected, result.get(), one.tolerance);
    } else {
      final String message = assertThrows(IllegalArgumentException.class, call::run).getMessage();
      assertTrue(message.contains(one.refused), () -> "must contain '" + one.refused + "', got '" + message + "'");
      Values.close(one.data.get("c"), result.get(), 0);
    }
  }
}
