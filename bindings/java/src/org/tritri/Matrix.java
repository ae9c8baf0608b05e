package org.tritri;

import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.ShortBuffer;
import org.tritri.internal.TritriNative;

/**
 * A matrix on a {@link Context}'s device: made by {@link Context#upload}, {@link Context#create}, {@link Context#wrap} or as a product. The rules
 * for threads, life, errors and memory are those of {@link Context}.
 */
public final class Matrix implements AutoCloseable {
  private final Context context;
  private final Handle handle;
  private final Layout layout;

  Matrix(Context context, long address) {
    this.context = context;
    handle = new Handle("Matrix", address, TritriNative::tritri_matrix_destroy);
    handle.cleanWith(this);
    final long[] values = new long[10];
    TritriNative.tritri_matrix_desc_get(address, values);
    layout = Layout.of(values);
  }

  /** The context that this matrix belongs to. */
  public Context context() {
    return context;
  }

  /** What the matrix holds, with ld and batch stride as they are in the device's memory. */
  public Layout layout() {
    return layout;
  }

  /** The address of the first element in the device's memory. It is valid while the matrix is open: keep a reference to the matrix. */
  public long address() {
    final long[] address = new long[1];
    try (Handle.Use self = use()) {
      TritriNative.tritri_matrix_data(self.address(), address);
    }
    return address[0];
  }

  /** Copies the elements inside the fill to {@code host}, with tight lines; what lies outside the fill keeps its values. */
  public void download(double[] host) {
    download(layout().tight(), host);
  }

  /** Copies the elements inside the fill to where {@code hostLayout} says; shape, dtype, fill and batch count must be the matrix's. */
  public void download(Layout hostLayout, double[] host) {
    downloadObject(hostLayout, host);
  }

  /** As {@link #download(double[])}. */
  public void download(float[] host) {
    download(layout().tight(), host);
  }

  /** As {@link #download(Layout, double[])}. */
  public void download(Layout hostLayout, float[] host) {
    downloadObject(hostLayout, host);
  }

  /** As {@link #download(double[])}. */
  public void download(short[] host) {
    download(layout().tight(), host);
  }

  /** As {@link #download(Layout, double[])}. */
  public void download(Layout hostLayout, short[] host) {
    downloadObject(hostLayout, host);
  }

  /** As {@link #download(double[])}. */
  public void download(FloatBuffer host) {
    download(layout().tight(), host);
  }

  /** As {@link #download(Layout, double[])}. */
  public void download(Layout hostLayout, FloatBuffer host) {
    downloadObject(hostLayout, host);
  }

  /** As {@link #download(double[])}. */
  public void download(DoubleBuffer host) {
    download(layout().tight(), host);
  }

  /** As {@link #download(Layout, double[])}. */
  public void download(Layout hostLayout, DoubleBuffer host) {
    downloadObject(hostLayout, host);
  }

  /** As {@link #download(double[])}. */
  public void download(ShortBuffer host) {
    download(layout().tight(), host);
  }

  /** As {@link #download(Layout, double[])}. */
  public void download(Layout hostLayout, ShortBuffer host) {
    downloadObject(hostLayout, host);
  }

  /** As {@link #download(double[])}. */
  public void download(HostMemory host) {
    download(layout().tight(), host);
  }

  /** As {@link #download(Layout, double[])}. */
  public void download(Layout hostLayout, HostMemory host) {
    downloadObject(hostLayout, host);
  }

  private void downloadObject(Layout hostLayout, Object host) {
    try (Check.Host memory = Check.host("Matrix.download", "host", hostLayout, host, true); Handle.Use device = context.use(); Handle.Use self = use()) {
      context.inTurn(() -> TritriNative.tritri_download(device.address(), self.address(), hostLayout.values(), memory.memory()));
    }
  }

  /** Replaces the elements inside the fill by those of {@code host}, which has tight lines. */
  public void refill(double[] host) {
    refill(layout().tight(), host);
  }

  /** Replaces the elements inside the fill by those that {@code hostLayout} finds in {@code host}; nothing is allocated on the device. */
  public void refill(Layout hostLayout, double[] host) {
    refillObject(hostLayout, host);
  }

  /** As {@link #refill(double[])}. */
  public void refill(float[] host) {
    refill(layout().tight(), host);
  }

  /** As {@link #refill(Layout, double[])}. */
  public void refill(Layout hostLayout, float[] host) {
    refillObject(hostLayout, host);
  }

  /** As {@link #refill(double[])}. */
  public void refill(short[] host) {
    refill(layout().tight(), host);
  }

  /** As {@link #refill(Layout, double[])}. */
  public void refill(Layout hostLayout, short[] host) {
    refillObject(hostLayout, host);
  }

  /** As {@link #refill(double[])}. */
  public void refill(FloatBuffer host) {
    refill(layout().tight(), host);
  }

  /** As {@link #refill(Layout, double[])}. */
  public void refill(Layout hostLayout, FloatBuffer host) {
    refillObject(hostLayout, host);
  }

  /** As {@link #refill(double[])}. */
  public void refill(DoubleBuffer host) {
    refill(layout().tight(), host);
  }

  /** As {@link #refill(Layout, double[])}. */
  public void refill(Layout hostLayout, DoubleBuffer host) {
    refillObject(hostLayout, host);
  }

  /** As {@link #refill(double[])}. */
  public void refill(ShortBuffer host) {
    refill(layout().tight(), host);
  }

  /** As {@link #refill(Layout, double[])}. */
  public void refill(Layout hostLayout, ShortBuffer host) {
    refillObject(hostLayout, host);
  }

  /** As {@link #refill(double[])}. */
  public void refill(HostMemory host) {
    refill(layout().tight(), host);
  }

  /** As {@link #refill(Layout, double[])}. */
  public void refill(Layout hostLayout, HostMemory host) {
    refillObject(hostLayout, host);
  }

  private void refillObject(Layout hostLayout, Object host) {
    try (Check.Host memory = Check.host("Matrix.refill", "host", hostLayout, host, false); Handle.Use device = context.use(); Handle.Use self = use()) {
      context.inTurn(() -> TritriNative.tritri_upload_into(device.address(), self.address(), hostLayout.values(), memory.memory()));
    }
  }

  /** Releases the memory, or forgets the wrapped memory. */
  @Override
  public void close() {
    handle.close();
  }

  /** Whether {@link #close} has been called. */
  public boolean isClosed() {
    return handle.isClosed();
  }

  Handle.Use use() {
    return handle.use(this);
  }
}
