using System;
using System.Runtime.InteropServices;
using Tritri.Internal;

namespace Tritri
{
    /// <summary>
    /// A matrix on a <see cref="Context"/>'s device: made by its Upload, Create, Wrap or Multiply. The rules for threads, life, errors and memory are those of
    /// <see cref="Context"/>.
    /// </summary>
    public sealed class Matrix : IDisposable
    {
        private readonly Context context;
        private readonly MatrixHandle handle;
        private readonly Layout layout;

        internal Matrix(Context context, MatrixHandle handle)
        {
            this.context = context;
            this.handle = handle;
            long[] values = new long[10];
            TritriNative.tritri_matrix_desc_get(handle, values);
            layout = new Layout(values);
        }

        /// <summary>The context that this matrix belongs to.</summary>
        public Context Context { get { return context; } }

        /// <summary>What the matrix holds, with ld and batch stride as they are in the device's memory.</summary>
        public Layout Layout { get { return layout; } }

        /// <summary>Whether <see cref="Dispose"/> has been called.</summary>
        public bool IsDisposed { get { return handle.IsClosed; } }

        /// <summary>The address of the first element in the device's memory. Valid while the matrix is not disposed: keep a reference to the matrix.</summary>
        public IntPtr Address
        {
            get
            {
                IntPtr address;
                TritriNative.tritri_matrix_data(Handle, out address);
                return address;
            }
        }

        /// <summary>Copies the elements inside the fill to where <paramref name="hostLayout"/> says; what lies outside the fill keeps its values.</summary>
        public unsafe void Download<T>(Layout hostLayout, Span<T> host) where T : struct
        {
            Check.Fits<T>("Matrix.Download", "host", hostLayout, host.Length);
            fixed (byte* memory = &MemoryMarshal.GetReference(Check.Start((ReadOnlySpan<T>)host)))
            {
                lock (context.Turn) TritriNative.tritri_download(context.Handle, Handle, hostLayout.Values, (IntPtr)memory);
            }
        }

        /// <summary>As <see cref="Download{T}(Layout, Span{T})"/>.</summary>
        public void Download<T>(Layout hostLayout, T[] host) where T : struct { Download(hostLayout, new Span<T>(host)); }

        /// <summary>Copies the elements inside the fill, with tight lines.</summary>
        public void Download<T>(Span<T> host) where T : struct { Download(layout.Tight(), host); }

        /// <summary>Copies the elements inside the fill, with tight lines.</summary>
        public void Download<T>(T[] host) where T : struct { Download(layout.Tight(), new Span<T>(host)); }

        /// <summary>A new two-dimensional array with the elements inside the fill, and 0 outside. For a single matrix: <see cref="ToBatch{T}"/> takes a batch.</summary>
        public T[,] ToArray<T>() where T : struct
        {
            var array = new T[layout.Rows, layout.Cols];
            using (var pinned = new Pinned<T>("Matrix.ToArray", "result", array)) Download(pinned.Layout(layout.Fill).WithDiag(layout.Diag), pinned.Span);
            return array;
        }

        /// <summary>A new three-dimensional array with the elements inside the fill of each matrix of the batch, and 0 outside.</summary>
        public T[,,] ToBatch<T>() where T : struct
        {
            var array = new T[layout.BatchCount, layout.Rows, layout.Cols];
            using (var pinned = new Pinned<T>("Matrix.ToBatch", "result", array)) Download(pinned.Layout(layout.Fill).WithDiag(layout.Diag), pinned.Span);
            return array;
        }

        /// <summary>As <see cref="Download{T}(Layout, Span{T})"/>, of elements of any <see cref="Dtype"/>.</summary>
        public void Download(Layout hostLayout, HostMemory host)
        {
            using (HeldMemory memory = Check.Fits("Matrix.Download", "host", hostLayout, host))
            {
                lock (context.Turn) TritriNative.tritri_download(context.Handle, Handle, hostLayout.Values, memory.Address);
            }
        }

        /// <summary>As <see cref="Refill{T}(Layout, ReadOnlySpan{T})"/>, of elements of any <see cref="Dtype"/>.</summary>
        public void Refill(Layout hostLayout, HostMemory host)
        {
            using (HeldMemory memory = Check.Fits("Matrix.Refill", "host", hostLayout, host))
            {
                lock (context.Turn) TritriNative.tritri_upload_into(context.Handle, Handle, hostLayout.Values, memory.Address);
            }
        }

        /// <summary>Replaces the elements inside the fill by those that <paramref name="hostLayout"/> finds; nothing is allocated on the device.</summary>
        public unsafe void Refill<T>(Layout hostLayout, ReadOnlySpan<T> host) where T : struct
        {
            Check.Fits<T>("Matrix.Refill", "host", hostLayout, host.Length);
            fixed (byte* memory = &MemoryMarshal.GetReference(Check.Start(host)))
            {
                lock (context.Turn) TritriNative.tritri_upload_into(context.Handle, Handle, hostLayout.Values, (IntPtr)memory);
            }
        }

        /// <summary>As <see cref="Refill{T}(Layout, ReadOnlySpan{T})"/>.</summary>
        public void Refill<T>(Layout hostLayout, T[] host) where T : struct { Refill(hostLayout, new ReadOnlySpan<T>(host)); }

        /// <summary>Replaces the elements inside the fill by those of an array with tight lines.</summary>
        public void Refill<T>(T[] host) where T : struct { Refill(layout.Tight(), new ReadOnlySpan<T>(host)); }

        /// <summary>Releases the memory, or forgets the wrapped memory.</summary>
        public void Dispose()
        {
            handle.Dispose();
        }

        internal MatrixHandle Handle
        {
            get
            {
                if (handle.IsClosed) throw new ObjectDisposedException("Matrix");
                return handle;
            }
        }
    }
}
