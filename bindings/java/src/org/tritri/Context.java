package org.tritri;

import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.ShortBuffer;
import java.util.concurrent.locks.ReentrantLock;
import org.tritri.internal.Loader;
import org.tritri.internal.TritriNative;

/**
 * A device, its stream and its workspace. All slow start-up happens when it is made: the first product runs like the tenth.
 *
 * <pre>{@code
 * try (Context context = new Context();
 *      Matrix a = context.upload(Layout.float64(n, n).fill(Fill.LOWER), lower);
 *      Matrix c = context.multiply(a, a)) {
 *   c.download(result);
 * }
 * }</pre>
 *
 * <p><b>Threads.</b> A context and its matrices may be used from any thread; calls on one context take turns, so that work that shall run in
 * parallel needs a context for each thread. {@link #close} may be called from any thread at any time: it never waits for a running call and never
 * frees what that call uses.
 *
 * <p><b>Life.</b> Contexts and matrices may be closed in any order, and more than once. What is never closed is released when the collector finds
 * it, which may be late: device memory is not Java memory. A call on a closed context or matrix throws {@link IllegalStateException}.
 *
 * <p><b>Errors.</b> {@link IllegalArgumentException} for what the caller got wrong, {@link TritriException} for everything else, each with one
 * sentence; nothing has been written then.
 *
 * <p><b>Memory.</b> Arrays are copied once each way, in bulk. Direct buffers in the machine's byte order are used where they lie, from their
 * position on; other buffers are refused. {@link HostMemory} is used where it lies too, and has no limit of 2^31 bytes. An array that is longer than its layout needs
 * is fine.
 */
public final class Context implements AutoCloseable {
  private final Handle handle;
  private final ReentrantLock turn = new ReentrantLock();

  /** A context on the best device. */
  public Context() {
    this(builder());
  }

  /** A context on a device of this kind. */
  public Context(Device device) {
    this(builder().device(device));
  }

  private Context(Builder options) {
    Loader.load();
    final long[] address = new long[1];
    TritriNative.tritri_context_create(options.values(), address);
    handle = new Handle("Context", address[0], TritriNative::tritri_context_destroy);
    handle.cleanWith(this);
  }

  /** Begins with the best device. */
  public static Builder builder() {
    return new Builder();
  }

  /** The device that this context computes on. */
  public DeviceInfo device() {
    try (Handle.Use self = handle.use(this)) {
      return DeviceInfo.of(values -> inTurn(() -> TritriNative.tritri_context_device_info(self.address(), values)));
    }
  }

  /** Waits until everything that this context enqueued has finished and reports what went wrong in it. */
  public void synchronize() {
    try (Handle.Use self = handle.use(this)) {
      inTurn(() -> TritriNative.tritri_context_synchronize(self.address()));
    }
  }

  /** Work enqueued from now on goes to this {@code cudaStream_t}; 0: back to the context's own stream. */
  public void setStream(long cudaStream) {
    try (Handle.Use self = handle.use(this)) {
      inTurn(() -> TritriNative.tritri_context_set_stream(self.address(), cudaStream));
    }
  }

  /**
   * Copies the elements inside the layout's fill to the device.
   *
   * @param layout how the matrix lies in {@code host}
   * @param host an array or direct buffer of the {@link Dtype}'s component type
   */
  public Matrix upload(Layout layout, double[] host) {
    return uploadObject(layout, host);
  }

  /** As {@link #upload(Layout, double[])}. */
  public Matrix upload(Layout layout, float[] host) {
    return uploadObject(layout, host);
  }

  /** As {@link #upload(Layout, double[])}. */
  public Matrix upload(Layout layout, short[] host) {
    return uploadObject(layout, host);
  }

  /** As {@link #upload(Layout, double[])}. */
  public Matrix upload(Layout layout, FloatBuffer host) {
    return uploadObject(layout, host);
  }

  /** As {@link #upload(Layout, double[])}. */
  public Matrix upload(Layout layout, DoubleBuffer host) {
    return uploadObject(layout, host);
  }

  /** As {@link #upload(Layout, double[])}. */
  public Matrix upload(Layout layout, ShortBuffer host) {
    return uploadObject(layout, host);
  }

  /** As {@link #upload(Layout, double[])}, of elements of any {@link Dtype}. */
  public Matrix upload(Layout layout, HostMemory host) {
    return uploadObject(layout, host);
  }

  private Matrix uploadObject(Layout layout, Object host) {
    try (Check.Host memory = Check.host("Context.upload", "host", layout, host, false)) {
      return matrix((self, out) -> TritriNative.tritri_upload(self, layout.values(), memory.memory(), out));
    }
  }

  /**
   * Host memory from which and to which transfers run fastest: pinned on a CUDA context, aligned on the CPU. Its contents are unspecified. Pinned memory is taken from all
   * programs: keep it, and close it.
   */
  public HostMemory allocateHost(long bytes) {
    if (bytes < 0) throw Check.refuse("Context.allocateHost", "bytes", "must be at least 0, got " + bytes);
    return HostMemory.allocate(this, bytes);
  }

  /** A new matrix for results; its contents are unspecified. */
  public Matrix create(Layout layout) {
    final long[] values = Check.notNull("Context.create", "layout", layout).values();
    return matrix((self, out) -> TritriNative.tritri_matrix_create(self, values, out));
  }

  /**
   * A matrix over memory of this context's device (host memory on the CPU). Nothing is copied; the caller keeps ownership and keeps the memory valid
   * until the matrix is closed and the work on it is done.
   */
  public Matrix wrap(Layout layout, long address) {
    final long[] values = Check.notNull("Context.wrap", "layout", layout).values();
    return matrix((self, out) -> TritriNative.tritri_matrix_wrap(self, values, address, out));
  }

  /** A new full matrix {@code A B}. */
  public Matrix multiply(Matrix a, Matrix b) {
    return multiply(MultiplyOptions.DEFAULT, a, b, Fill.FULL);
  }

  /** A new matrix of the given fill with {@code alpha op(A) op(B)}, cut to that fill. */
  public Matrix multiply(MultiplyOptions options, Matrix a, Matrix b, Fill fill) {
    final String function = "Context.multiply";
    Check.notNull(function, "options", options).checkBetaIsZero(function);
    final Layout left = Check.notNull(function, "a", a).layout(), right = Check.notNull(function, "b", b).layout();
    final long m = options.opA().transposes() ? left.cols() : left.rows(), n = options.opB().transposes() ? right.rows() : right.cols();
    final Layout result = Layout.of(left.dtype(), m, n).fill(fill);
    final long batch = Math.max(left.batchCount(), right.batchCount());
    final Matrix c = create(batch > 1 ? result.batch(batch) : result);
    try {
      multiply(options, a, b, c);
      return c;
    } catch (RuntimeException | Error failure) {
      c.close();
      throw failure;
    }
  }

  /** {@code C := A B}, cut to C's fill. */
  public void multiply(Matrix a, Matrix b, Matrix c) {
    multiply(MultiplyOptions.DEFAULT, a, b, c);
  }

  /** {@code C := alpha op(A) op(B) + beta C}, cut to C's fill. C may be A or B itself. On a CUDA context the product is only enqueued. */
  public void multiply(MultiplyOptions options, Matrix a, Matrix b, Matrix c) {
    onThree("Context.multiply", options, a, b, c, TritriNative::tritri_multiply);
  }

  /**
   * {@code C := alpha op(A) op(B) + beta C} with arrays or direct buffers in and out. On a CPU context direct buffers are not copied at all.
   * {@code c} may be {@code a} or {@code b} itself, in the same layout.
   */
  public void multiply(MultiplyOptions options, Layout aLayout, double[] a, Layout bLayout, double[] b, Layout cLayout, double[] c) {
    multiplyObjects("Context.multiply", options, aLayout, a, bLayout, b, cLayout, c);
  }

  /** As {@link #multiply(MultiplyOptions, Layout, double[], Layout, double[], Layout, double[])}. */
  public void multiply(MultiplyOptions options, Layout aLayout, float[] a, Layout bLayout, float[] b, Layout cLayout, float[] c) {
    multiplyObjects("Context.multiply", options, aLayout, a, bLayout, b, cLayout, c);
  }

  /** As {@link #multiply(MultiplyOptions, Layout, double[], Layout, double[], Layout, double[])}. */
  public void multiply(MultiplyOptions options, Layout aLayout, short[] a, Layout bLayout, short[] b, Layout cLayout, short[] c) {
    multiplyObjects("Context.multiply", options, aLayout, a, bLayout, b, cLayout, c);
  }

  /** As {@link #multiply(MultiplyOptions, Layout, double[], Layout, double[], Layout, double[])}. */
  public void multiply(MultiplyOptions options, Layout aLayout, FloatBuffer a, Layout bLayout, FloatBuffer b, Layout cLayout, FloatBuffer c) {
    multiplyObjects("Context.multiply", options, aLayout, a, bLayout, b, cLayout, c);
  }

  /** As {@link #multiply(MultiplyOptions, Layout, double[], Layout, double[], Layout, double[])}. */
  public void multiply(MultiplyOptions options, Layout aLayout, DoubleBuffer a, Layout bLayout, DoubleBuffer b, Layout cLayout, DoubleBuffer c) {
    multiplyObjects("Context.multiply", options, aLayout, a, bLayout, b, cLayout, c);
  }

  /** As {@link #multiply(MultiplyOptions, Layout, double[], Layout, double[], Layout, double[])}. */
  public void multiply(MultiplyOptions options, Layout aLayout, ShortBuffer a, Layout bLayout, ShortBuffer b, Layout cLayout, ShortBuffer c) {
    multiplyObjects("Context.multiply", options, aLayout, a, bLayout, b, cLayout, c);
  }

  /** As {@link #multiply(MultiplyOptions, Layout, double[], Layout, double[], Layout, double[])}, on elements of any {@link Dtype}, without a copy. */
  public void multiply(MultiplyOptions options, Layout aLayout, HostMemory a, Layout bLayout, HostMemory b, Layout cLayout, HostMemory c) {
    multiplyObjects("Context.multiply", options, aLayout, a, bLayout, b, cLayout, c);
  }

  void multiplyObjects(String function, MultiplyOptions options, Layout aLayout, Object a, Layout bLayout, Object b, Layout cLayout, Object c) {
    Check.notNull(function, "options", options);
    try (Check.Host x = Check.host(function, "a", aLayout, a, false); Check.Host y = Check.host(function, "b", bLayout, b, false);
         Check.Host z = Check.host(function, "c", cLayout, c, true); Handle.Use self = handle.use(this)) {
      inTurn(() -> TritriNative.tritri_multiply_host(self.address(), options.values(), aLayout.values(), x.memory(), bLayout.values(), y.memory(),
          cLayout.values(), z.memory()));
    }
  }

  /** Device memory that this product needs in the context's workspace, in bytes; 0 on a CPU context. */
  public long workspaceSize(MultiplyOptions options, Matrix a, Matrix b, Matrix c) {
    final long[] bytes = new long[1];
    onThree("Context.workspaceSize", options, a, b, c, (self, o, x, y, z) -> TritriNative.tritri_workspace_size(self, o, x, y, z, bytes));
    return bytes[0];
  }

  /** How this product would be computed, as one line of key=value pairs for people and logs. */
  public String plan(MultiplyOptions options, Matrix a, Matrix b, Matrix c) {
    final String[] text = new String[1];
    onThree("Context.plan", options, a, b, c, (self, o, x, y, z) -> TritriNative.tritri_plan_describe(self, o, x, y, z, text));
    return text[0];
  }

  /**
   * Checks a finished product in O(n^2) for each probe.
   *
   * @param probes random vectors to try, 1 to 1024
   * @return the largest relative residual of a row: a small multiple of the type's epsilon if the product is right
   */
  public double verify(MultiplyOptions options, Matrix a, Matrix b, Matrix c, int probes) {
    final double[] residual = new double[1];
    onThree("Context.verify", options, a, b, c, (self, o, x, y, z) -> TritriNative.tritri_verify(self, o, x, y, z, probes, residual));
    return residual[0];
  }

  /** Releases this context. Its matrices stay usable for as long as no call needs the context, and may be closed later. */
  @Override
  public void close() {
    handle.close();
  }

  /** Whether {@link #close} has been called. */
  public boolean isClosed() {
    return handle.isClosed();
  }

  /** Runs a native call while no other call of this context runs. */
  void inTurn(Runnable call) {
    turn.lock();
    try {
      call.run();
    } finally {
      turn.unlock();
    }
  }

  Handle.Use use() {
    return handle.use(this);
  }

  private Matrix matrix(Maker maker) {
    final long[] address = new long[1];
    try (Handle.Use self = handle.use(this)) {
      inTurn(() -> maker.make(self.address(), address));
    }
    return new Matrix(this, address[0]);
  }

  private void onThree(String function, MultiplyOptions options, Matrix a, Matrix b, Matrix c, OnThree call) {
    final long[] values = Check.notNull(function, "options", options).values();
    Check.notNull(function, "a", a);
    Check.notNull(function, "b", b);
    Check.notNull(function, "c", c);
    try (Handle.Use self = handle.use(this); Handle.Use x = a.use(); Handle.Use y = b.use(); Handle.Use z = c.use()) {
      inTurn(() -> call.run(self.address(), values, x.address(), y.address(), z.address()));
    }
  }

  private interface Maker {
    void make(long context, long[] out);
  }

  private interface OnThree {
    void run(long context, long[] options, long a, long b, long c);
  }

  /** Says which device a context shall be on and what it may use. */
  public static final class Builder {
    private Device device = Device.AUTO;
    private int index, threads;
    private long stream, workspaceBytes;

    private Builder() {}

    /** The kind of device. */
    public Builder device(Device device) {
      this.device = Check.notNull("Context.Builder", "device", device);
      return this;
    }

    /** Which CUDA device; 0 to begin with. */
    public Builder index(int index) {
      this.index = index;
      return this;
    }

    /** A {@code cudaStream_t} to work on, which must outlive its use here; 0: the context's own. */
    public Builder stream(long cudaStream) {
      stream = cudaStream;
      return this;
    }

    /** CPU threads for each call, at most 1024; 0: as many as this process may run on. */
    public Builder threads(int threads) {
      this.threads = threads;
      return this;
    }

    /** Device memory set aside for products; 0: the library's choice. */
    public Builder workspaceBytes(long bytes) {
      if (bytes < 0) throw Check.refuse("Context.Builder", "workspaceBytes", "must be at least 0, got " + bytes);
      workspaceBytes = bytes;
      return this;
    }

    /** Makes the context. */
    public Context build() {
      return new Context(this);
    }

    private long[] values() {
      return new long[] {device.value, index, stream, threads, workspaceBytes};
    }
  }
}
