using System;
using System.Runtime.InteropServices;
using Tritri.Internal;

namespace Tritri
{
    /// <summary>A device, its stream and its workspace. All slow start-up happens when it is made: the first product runs like the tenth.</summary>
    /// <remarks>
    /// <para>Threads: a context and its matrices may be used from any thread; calls on one context take turns, so that work that shall run in parallel
    /// needs a context for each thread. <see cref="Dispose"/> may be called from any thread at any time and never frees what a running call uses.</para>
    /// <para>Life: contexts and matrices may be disposed in any order, and more than once. What is never disposed is released by the finalizer of its
    /// SafeHandle, which may be late: device memory is not managed memory. A call on a disposed object throws <see cref="ObjectDisposedException"/>.</para>
    /// <para>Errors: <see cref="ArgumentException"/> for what the caller got wrong, <see cref="TritriException"/> for everything else, each with one
    /// sentence; nothing has been written then.</para>
    /// <para>Memory: arrays and spans are pinned for the length of the call, not copied; on a CPU context products work on them where they lie. An
    /// array that is longer than its layout needs is fine.</para>
    /// </remarks>
    /// <example><code>
    /// using (var context = new Context())
    /// using (Matrix a = context.Upload(Layout.Float64(n, n).WithFill(Fill.Lower), lower))
    /// using (Matrix c = context.Multiply(a, a))
    /// {
    ///     c.Download(result);
    /// }
    /// </code></example>
    public sealed class Context : IDisposable
    {
        private readonly object turn = new object();
        private readonly ContextHandle handle;

        /// <summary>A context on the best device.</summary>
        public Context() : this(new ContextOptions())
        {
        }

        /// <summary>A context on a device of this kind.</summary>
        public Context(Device device) : this(new ContextOptions { Device = device })
        {
        }

        /// <summary>A context as the options say.</summary>
        public Context(ContextOptions options)
        {
            Check.NotNull("Context", "options", options);
            NativeCode.Load();
            TritriNative.tritri_context_create(options.Values(), out handle);
        }

        /// <summary>The device that this context computes on.</summary>
        public DeviceInfo DeviceInfo
        {
            get { lock (turn) return new DeviceInfo(values => TritriNative.tritri_context_device_info(Handle, values)); }
        }

        /// <summary>Whether <see cref="Dispose"/> has been called.</summary>
        public bool IsDisposed { get { return handle.IsClosed; } }

        /// <summary>Waits until everything that this context enqueued has finished and reports what went wrong in it.</summary>
        public void Synchronize()
        {
            lock (turn) TritriNative.tritri_context_synchronize(Handle);
        }

        /// <summary>Work enqueued from now on goes to this <c>cudaStream_t</c>; zero: back to the context's own stream.</summary>
        public void SetStream(IntPtr cudaStream)
        {
            lock (turn) TritriNative.tritri_context_set_stream(Handle, cudaStream);
        }

        /// <summary>Copies the elements inside the layout's fill to the device.</summary>
        /// <param name="layout">How the matrix lies in <paramref name="host"/>.</param>
        /// <param name="host">Values of the dtype's C# type.</param>
        public unsafe Matrix Upload<T>(Layout layout, ReadOnlySpan<T> host) where T : struct
        {
            Check.Fits<T>("Context.Upload", "host", layout, host.Length);
            MatrixHandle matrix;
            fixed (byte* memory = &MemoryMarshal.GetReference(Check.Start(host)))
            {
                lock (turn) TritriNative.tritri_upload(Handle, layout.Values, (IntPtr)memory, out matrix);
            }
            return new Matrix(this, matrix);
        }

        /// <summary>As <see cref="Upload{T}(Layout, ReadOnlySpan{T})"/>.</summary>
        public Matrix Upload<T>(Layout layout, T[] host) where T : struct
        {
            return Upload(layout, new ReadOnlySpan<T>(host));
        }

        /// <summary>As <see cref="Upload{T}(Layout, ReadOnlySpan{T})"/>, of elements of any <see cref="Dtype"/>.</summary>
        public Matrix Upload(Layout layout, HostMemory host)
        {
            MatrixHandle matrix;
            using (HeldMemory memory = Check.Fits("Context.Upload", "host", layout, host))
            {
                lock (turn) TritriNative.tritri_upload(Handle, layout.Values, memory.Address, out matrix);
            }
            return new Matrix(this, matrix);
        }

        /// <summary>Host memory from which and to which transfers run fastest. Its contents are unspecified.</summary>
        public HostMemory AllocateHost(long bytes)
        {
            return new HostMemory(this, bytes);
        }

        /// <summary>Copies a batch of matrices to the device, one for each index of the first dimension.</summary>
        public Matrix Upload<T>(T[,,] host, Fill fill = Fill.Full, Diag diag = Diag.NonUnit) where T : struct
        {
            Check.HasMatrices("Context.Upload", "host", host);
            using (var pinned = new Pinned<T>("Context.Upload", "host", host)) return Upload(pinned.Layout(fill).WithDiag(diag), (ReadOnlySpan<T>)pinned.Span);
        }

        /// <summary>Copies a two-dimensional array to the device.</summary>
        public Matrix Upload<T>(T[,] host, Fill fill = Fill.Full, Diag diag = Diag.NonUnit) where T : struct
        {
            using (var pinned = new Pinned<T>("Context.Upload", "host", host)) return Upload(pinned.Layout(fill).WithDiag(diag), (ReadOnlySpan<T>)pinned.Span);
        }

        /// <summary>A new matrix for results; its contents are unspecified.</summary>
        public Matrix Create(Layout layout)
        {
            Check.NotNull("Context.Create", "layout", layout);
            MatrixHandle matrix;
            lock (turn) TritriNative.tritri_matrix_create(Handle, layout.Values, out matrix);
            return new Matrix(this, matrix);
        }

        /// <summary>
        /// A matrix over memory of this context's device (unmanaged host memory on the CPU). Nothing is copied; the caller keeps ownership and keeps the
        /// memory valid until the matrix is disposed and the work on it is done.
        /// </summary>
        public Matrix Wrap(Layout layout, IntPtr address)
        {
            Check.NotNull("Context.Wrap", "layout", layout);
            MatrixHandle matrix;
            lock (turn) TritriNative.tritri_matrix_wrap(Handle, layout.Values, address, out matrix);
            return new Matrix(this, matrix);
        }

        /// <summary>A new matrix of the given fill with alpha op(A) op(B), cut to that fill.</summary>
        public Matrix Multiply(Matrix a, Matrix b, MultiplyOptions options = null, Fill fill = Fill.Full)
        {
            Check.NotNull("Context.Multiply", "a", a);
            Check.NotNull("Context.Multiply", "b", b);
            MultiplyOptions.CheckBetaIsZero("Context.Multiply", options);
            Layout left = a.Layout, right = b.Layout;
            long m = IsTransposed(options?.OpA) ? left.Cols : left.Rows, n = IsTransposed(options?.OpB) ? right.Rows : right.Cols;
            Layout result = new Layout(left.Dtype, m, n).WithFill(fill);
            long batch = Math.Max(left.BatchCount, right.BatchCount);
            Matrix c = Create(batch > 1 ? result.WithBatch(batch) : result);
            try
            {
                Multiply(a, b, c, options);
                return c;
            }
            catch
            {
                c.Dispose();
                throw;
            }
        }

        /// <summary>C := alpha op(A) op(B) + beta C, cut to C's fill. C may be A or B itself. On a CUDA context the product is only enqueued.</summary>
        public void Multiply(Matrix a, Matrix b, Matrix c, MultiplyOptions options = null)
        {
            Check.NotNull("Context.Multiply", "a", a);
            Check.NotNull("Context.Multiply", "b", b);
            Check.NotNull("Context.Multiply", "c", c);
            lock (turn) TritriNative.tritri_multiply(Handle, MultiplyOptions.Values(options), a.Handle, b.Handle, c.Handle);
        }

        /// <summary>
        /// C := alpha op(A) op(B) + beta C with spans in and out. <paramref name="c"/> may be <paramref name="a"/> or <paramref name="b"/> itself, in the
        /// same layout.
        /// </summary>
        public void Multiply<T>(MultiplyOptions options, Layout aLayout, ReadOnlySpan<T> a, Layout bLayout, ReadOnlySpan<T> b, Layout cLayout, Span<T> c)
            where T : struct
        {
            MultiplyHost("Context.Multiply", options, aLayout, a, bLayout, b, cLayout, c);
        }

        /// <summary>As the same call on spans.</summary>
        public void Multiply<T>(MultiplyOptions options, Layout aLayout, T[] a, Layout bLayout, T[] b, Layout cLayout, T[] c) where T : struct
        {
            MultiplyHost("Context.Multiply", options, aLayout, new ReadOnlySpan<T>(a), bLayout, new ReadOnlySpan<T>(b), cLayout, new Span<T>(c));
        }

        /// <summary>As the same call on spans.</summary>
        public void Multiply<T>(MultiplyOptions options, Layout aLayout, ReadOnlyMemory<T> a, Layout bLayout, ReadOnlyMemory<T> b, Layout cLayout, Memory<T> c)
            where T : struct
        {
            MultiplyHost("Context.Multiply", options, aLayout, a.Span, bLayout, b.Span, cLayout, c.Span);
        }

        /// <summary>As the same call on spans, on elements of any <see cref="Dtype"/>.</summary>
        public void Multiply(MultiplyOptions options, Layout aLayout, HostMemory a, Layout bLayout, HostMemory b, Layout cLayout, HostMemory c)
        {
            using (HeldMemory x = Check.Fits("Context.Multiply", "a", aLayout, a))
            using (HeldMemory y = Check.Fits("Context.Multiply", "b", bLayout, b))
            using (HeldMemory z = Check.Fits("Context.Multiply", "c", cLayout, c))
            {
                lock (turn)
                {
                    TritriNative.tritri_multiply_host(Handle, MultiplyOptions.Values(options), aLayout.Values, x.Address, bLayout.Values, y.Address, cLayout.Values,
                        z.Address);
                }
            }
        }

        internal unsafe void MultiplyHost<T>(string function, MultiplyOptions options, Layout aLayout, ReadOnlySpan<T> a, Layout bLayout, ReadOnlySpan<T> b,
            Layout cLayout, Span<T> c) where T : struct
        {
            Check.Fits<T>(function, "a", aLayout, a.Length);
            Check.Fits<T>(function, "b", bLayout, b.Length);
            Check.Fits<T>(function, "c", cLayout, c.Length);
            fixed (byte* x = &MemoryMarshal.GetReference(Check.Start(a)), y = &MemoryMarshal.GetReference(Check.Start(b)),
                z = &MemoryMarshal.GetReference(Check.Start((ReadOnlySpan<T>)c)))
            {
                lock (turn)
                {
                    TritriNative.tritri_multiply_host(Handle, MultiplyOptions.Values(options), aLayout.Values, (IntPtr)x, bLayout.Values, (IntPtr)y,
                        cLayout.Values, (IntPtr)z);
                }
            }
        }

        /// <summary>Device memory that this product needs in the context's workspace, in bytes; 0 on a CPU context.</summary>
        public long WorkspaceSize(Matrix a, Matrix b, Matrix c, MultiplyOptions options = null)
        {
            Check.NotNull("Context.WorkspaceSize", "a", a);
            Check.NotNull("Context.WorkspaceSize", "b", b);
            Check.NotNull("Context.WorkspaceSize", "c", c);
            ulong bytes;
            lock (turn) TritriNative.tritri_workspace_size(Handle, MultiplyOptions.Values(options), a.Handle, b.Handle, c.Handle, out bytes);
            return checked((long)bytes);
        }

        /// <summary>How this product would be computed, as one line of key=value pairs for people and logs.</summary>
        public string Plan(Matrix a, Matrix b, Matrix c, MultiplyOptions options = null)
        {
            Check.NotNull("Context.Plan", "a", a);
            Check.NotNull("Context.Plan", "b", b);
            Check.NotNull("Context.Plan", "c", c);
            byte[] text = new byte[4096];
            lock (turn) TritriNative.tritri_plan_describe(Handle, MultiplyOptions.Values(options), a.Handle, b.Handle, c.Handle, text);
            return Text.Of(text);
        }

        /// <summary>Checks a finished product in O(n^2) for each probe.</summary>
        /// <param name="a">The left factor.</param>
        /// <param name="b">The right factor.</param>
        /// <param name="c">The product.</param>
        /// <param name="options">What it was computed with.</param>
        /// <param name="probes">Random vectors to try, 1 to 1024.</param>
        /// <returns>The largest relative residual of a row: a small multiple of the type's epsilon if the product is right.</returns>
        public double Verify(Matrix a, Matrix b, Matrix c, MultiplyOptions options = null, int probes = 8)
        {
            Check.NotNull("Context.Verify", "a", a);
            Check.NotNull("Context.Verify", "b", b);
            Check.NotNull("Context.Verify", "c", c);
            double residual;
            lock (turn) TritriNative.tritri_verify(Handle, MultiplyOptions.Values(options), a.Handle, b.Handle, c.Handle, probes, out residual);
            return residual;
        }

        /// <summary>Releases this context. Its matrices may be disposed later.</summary>
        public void Dispose()
        {
            handle.Dispose();
        }

        internal object Turn { get { return turn; } }

        internal ContextHandle Handle
        {
            get
            {
                if (handle.IsClosed) throw new ObjectDisposedException("Context");
                return handle;
            }
        }

        private static bool IsTransposed(Op? op)
        {
            return op == Op.Transpose || op == Op.ConjTranspose;
        }
    }
}
