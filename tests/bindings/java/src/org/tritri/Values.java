package org.tritri;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;

/** Arrays and direct buffers for the tests. */
final class Values {
  private Values() {}

  static float[] floats(double... values) {
    final float[] result = new float[values.length];
    for (int i = 0; i < values.length; i++) result[i] = (float) values[i];
    return result;
  }

  static double[] doubles(float[] values) {
    final double[] result = new double[values.length];
    for (int i = 0; i < values.length; i++) result[i] = values[i];
    return result;
  }

  static FloatBuffer direct32(float... values) {
    return ByteBuffer.allocateDirect(values.length * Float.BYTES).order(ByteOrder.nativeOrder()).asFloatBuffer().put(values).rewind();
  }

  static DoubleBuffer direct(double... values) {
    return ByteBuffer.allocateDirect(values.length * Double.BYTES).order(ByteOrder.nativeOrder()).asDoubleBuffer().put(values).rewind();
  }

  static float[] array(FloatBuffer buffer) {
    final float[] result = new float[buffer.remaining()];
    buffer.duplicate().get(result);
    return result;
  }

  static double[] array(DoubleBuffer buffer) {
    final double[] result = new double[buffer.remaining()];
    buffer.duplicate().get(result);
    return result;
  }

  static void close(double[] expected, double[] got, double tolerance) {
    assertEquals(expected.length, got.length);
    for (int i = 0; i < expected.length; i++) {
      final boolean same = Double.isNaN(expected[i]) ? Double.isNaN(got[i]) : expected[i] == got[i] || Math.abs(expected[i] - got[i]) <= tolerance;
      if (!same) fail("entry " + i + ": expected " + expected[i] + " within " + tolerance + ", got " + got[i]);
    }
  }

  /** A lower triangle of small fractions, NaN above. */
  static double[] lower(int n) {
    final double[] values = new double[n * n];
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) values[i * n + j] = j > i ? Double.NaN : ((i * 31 + j * 17) % 23 - 11) / 8.0;
    }
    return values;
  }
}
