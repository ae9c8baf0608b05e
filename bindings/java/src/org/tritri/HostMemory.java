package org.tritri;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.tritri.internal.TritriNative;

/**
 * Host memory outside the Java heap, of any size, in which matrices lie: memory of the library's own ({@link Context#allocateHost}), which is pinned where a GPU
 * profits, or a {@code java.lang.foreign.MemorySegment}, which Java has from 22 on ({@link #of}). Matrices begin at its first byte, in the machine's byte
 * order.
 *
 * <pre>{@code
 * try (HostMemory memory = context.allocateHost(8 * n * n)) {
 *   for (long i = 0; i < n; i++) memory.bytes(8 * n * i, (int) (8 * n)).asDoubleBuffer().put(row(i));
 *   Matrix a = context.upload(Layout.float64(n, n), memory);
 * }
 * }</pre>
 *
 * <p>The rules for threads, life and errors are those of {@link Context}. Memory of the library's own keeps its context's device alive until it is closed.
 */
public final class HostMemory implements AutoCloseable {
  private final Handle handle;
  private final Object segment;  // null for memory of the library's own
  private final long bytes;
  private final boolean readOnly;

  private HostMemory(Handle handle, Object segment, long bytes, boolean readOnly) {
    this.handle = handle;
    this.segment = segment;
    this.bytes = bytes;
    this.readOnly = readOnly;
  }

  /**
   * The memory of a {@code java.lang.foreign.MemorySegment}, used where it lies. The segment stays its owner's: it must not be closed while a call works on it, and a
   * confined segment serves its own thread only.
   *
   * @param segment a segment outside the Java heap; its type is not named here because Java before 22 does not have it
   * @throws IllegalArgumentException for anything else, and before Java 22
   */
  public static HostMemory of(Object segment) {
    return Segments.memory("HostMemory.of", Check.notNull("HostMemory.of", "segment", segment));
  }

  static HostMemory over(Object segment, long address, long bytes, boolean readOnly) {
    return new HostMemory(new Handle("HostMemory", address, nothing -> { }), segment, bytes, readOnly);
  }

  static HostMemory allocate(Context context, long bytes) {
    final long[] address = new long[1];
    final Handle.Use device = context.use();
    try {
      context.inTurn(() -> TritriNative.tritri_host_allocate(device.address(), bytes, address));
    } catch (RuntimeException | Error failure) {
      device.close();
      throw failure;
    }
    final Handle handle = new Handle("HostMemory", address[0], pointer -> {
      try {
        TritriNative.tritri_host_free(device.address(), pointer);  // reads the context's device alone: no turn to wait for
      } finally {
        device.close();
      }
    });
    final HostMemory memory = new HostMemory(handle, null, bytes, false);
    handle.cleanWith(memory);
    return memory;
  }

  /** The address of the first byte. It is valid while the memory is open: keep a reference to it. */
  public long address() {
    try (Handle.Use self = use()) {
      return self.address();
    }
  }

  /** How many bytes there are. */
  public long byteSize() {
    return bytes;
  }

  /** Whether results may not be written here. */
  public boolean isReadOnly() {
    return readOnly;
  }

  /**
   * A window of the memory, in the machine's byte order, for reading and writing: what is put there is there. It is valid while the memory is open: keep a
   * reference to the memory too.
   *
   * @param offset the window's first byte
   * @param count its length in bytes
   */
  public ByteBuffer bytes(long offset, int count) {
    if (offset < 0 || offset > bytes) throw Check.refuse("HostMemory.bytes", "offset", "must be 0 to " + bytes + ", got " + offset);
    if (count < 0 || count > bytes - offset) throw Check.refuse("HostMemory.bytes", "count", "must be 0 to " + (bytes - offset) + " from offset " + offset + ", got " + count);
    try (Handle.Use self = use()) {
      if (count == 0) return ByteBuffer.allocateDirect(0).order(ByteOrder.nativeOrder());
      final ByteBuffer window = TritriNative.host_window(self.address() + offset, count);
      return (readOnly ? window.asReadOnlyBuffer() : window).order(ByteOrder.nativeOrder());
    }
  }

  /**
   * The memory as a {@code java.lang.foreign.MemorySegment}: the one that was given to {@link #of}, or one over all of the library's own memory, which is valid while
   * this object is open.
   *
   * @throws IllegalArgumentException before Java 22
   */
  public Object segment() {
    try (Handle.Use self = use()) {
      return segment != null ? segment : Segments.segment("HostMemory.segment", self.address(), bytes);
    }
  }

  /** Frees memory of the library's own once no call works on it, or lets go of the segment. */
  @Override
  public void close() {
    handle.close();
  }

  /** Whether {@link #close} has been called. */
  public boolean isClosed() {
    return handle.isClosed();
  }

  /** A call's hold on the memory, which keeps it from being freed, if the segment may be used at all. */
  Handle.Use use() {
    final Handle.Use use = handle.use(this);
    try {
      if (segment != null) Segments.check(segment);
      return use;
    } catch (RuntimeException failure) {
      use.close();
      throw failure;
    }
  }
}
