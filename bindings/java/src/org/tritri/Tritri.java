package org.tritri;

import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.ShortBuffer;
import org.tritri.internal.Loader;
import org.tritri.internal.TritriNative;

/**
 * Products of triangular matrices in one call.
 *
 * <pre>{@code
 * double[] l = {4, 0,
 *               5, 6};
 * double[] u = {1, 2,
 *               0, 3};
 * double[] c = Tritri.multiply(2, l, Fill.LOWER, u, Fill.UPPER);
 * }</pre>
 *
 * <p>These methods may be called from any thread. They share one context on the best device and take turns on it; threads that shall compute in
 * parallel, and callers that keep matrices on a GPU, use a {@link Context}. Errors and memory are as {@link Context} says.
 */
public final class Tritri {
  private Tritri() {}

  private static Context shared;

  /** Made when it is first needed, kept until the virtual machine ends. */
  private static synchronized Context shared() {
    if (shared == null) shared = new Context();
    return shared;
  }

  /** The full product of two n x n matrices that lie row after row. */
  public static double[] multiply(int n, double[] a, Fill aFill, double[] b, Fill bFill) {
    final double[] c = new double[elements(n)];
    multiply(MultiplyOptions.DEFAULT, Layout.float64(n, n).fill(aFill), a, Layout.float64(n, n).fill(bFill), b, Layout.float64(n, n), c);
    return c;
  }

  /** As {@link #multiply(int, double[], Fill, double[], Fill)}. */
  public static float[] multiply(int n, float[] a, Fill aFill, float[] b, Fill bFill) {
    final float[] c = new float[elements(n)];
    multiply(MultiplyOptions.DEFAULT, Layout.float32(n, n).fill(aFill), a, Layout.float32(n, n).fill(bFill), b, Layout.float32(n, n), c);
    return c;
  }

  private static int elements(int n) {
    if (n < 0 || n > 46340) throw Check.refuse("Tritri.multiply", "n", "must be 0 to 46340, as a Java array of n * n elements can hold, got " + n);
    return n * n;
  }

  /**
   * {@code C := alpha op(A) op(B) + beta C}, cut to C's fill, with arrays or direct buffers in and out. {@code c} may be {@code a} or {@code b}
   * itself, in the same layout.
   */
  public static void multiply(MultiplyOptions options, Layout aLayout, double[] a, Layout bLayout, double[] b, Layout cLayout, double[] c) {
    shared().multiplyObjects("Tritri.multiply", options, aLayout, a, bLayout, b, cLayout, c);
  }

  /** As {@link #multiply(MultiplyOptions, Layout, double[], Layout, double[], Layout, double[])}. */
  public static void multiply(MultiplyOptions options, Layout aLayout, float[] a, Layout bLayout, float[] b, Layout cLayout, float[] c) {
    shared().multiplyObjects("Tritri.multiply", options, aLayout, a, bLayout, b, cLayout, c);
  }

  /** As {@link #multiply(MultiplyOptions, Layout, double[], Layout, double[], Layout, double[])}. */
  public static void multiply(MultiplyOptions options, Layout aLayout, short[] a, Layout bLayout, short[] b, Layout cLayout, short[] c) {
    shared().multiplyObjects("Tritri.multiply", options, aLayout, a, bLayout, b, cLayout, c);
  }

  /** As {@link #multiply(MultiplyOptions, Layout, double[], Layout, double[], Layout, double[])}. */
  public static void multiply(MultiplyOptions options, Layout aLayout, FloatBuffer a, Layout bLayout, FloatBuffer b, Layout cLayout, FloatBuffer c) {
    shared().multiplyObjects("Tritri.multiply", options, aLayout, a, bLayout, b, cLayout, c);
  }

  /** As {@link #multiply(MultiplyOptions, Layout, double[], Layout, double[], Layout, double[])}. */
  public static void multiply(MultiplyOptions options, Layout aLayout, DoubleBuffer a, Layout bLayout, DoubleBuffer b, Layout cLayout, DoubleBuffer c) {
    shared().multiplyObjects("Tritri.multiply", options, aLayout, a, bLayout, b, cLayout, c);
  }

  /** As {@link #multiply(MultiplyOptions, Layout, double[], Layout, double[], Layout, double[])}. */
  public static void multiply(MultiplyOptions options, Layout aLayout, ShortBuffer a, Layout bLayout, ShortBuffer b, Layout cLayout, ShortBuffer c) {
    shared().multiplyObjects("Tritri.multiply", options, aLayout, a, bLayout, b, cLayout, c);
  }

  /** As {@link #multiply(MultiplyOptions, Layout, double[], Layout, double[], Layout, double[])}, on elements of any {@link Dtype}, without a copy. */
  public static void multiply(MultiplyOptions options, Layout aLayout, HostMemory a, Layout bLayout, HostMemory b, Layout cLayout, HostMemory c) {
    shared().multiplyObjects("Tritri.multiply", options, aLayout, a, bLayout, b, cLayout, c);
  }

  /** The native library's version, such as "0.1.0". */
  public static String version() {
    Loader.load();
    return TritriNative.tritri_version_string();
  }

  /** How many devices of a kind there are; {@link Device#AUTO} counts all. */
  public static int deviceCount(Device kind) {
    Loader.load();
    final int[] count = new int[1];
    TritriNative.tritri_device_count(Check.notNull("Tritri.deviceCount", "kind", kind).value, count);
    return count[0];
  }

  /** Describes a device. */
  public static DeviceInfo device(Device kind, int index) {
    Loader.load();
    return DeviceInfo.of(values -> TritriNative.tritri_device_info_get(Check.notNull("Tritri.device", "kind", kind).value, index, values));
  }
}
