using System;
using System.Runtime.InteropServices;
using Tritri.Internal;

namespace Tritri
{
    /// <summary>
    /// Host memory of the library's own, of any size, from which and to which transfers run fastest: pinned on a CUDA context, aligned on the CPU. Made by
    /// <see cref="Context.AllocateHost"/>. Matrices begin at its first byte and may hold any dtype.
    /// </summary>
    /// <remarks>The rules for threads, life and errors are those of <see cref="Context"/>. It keeps its context's device alive until it is disposed. Pinned memory is taken
    /// from all programs: keep it, and dispose it.</remarks>
    /// <example><code>
    /// using (HostMemory memory = context.AllocateHost(8 * n * n))
    /// {
    ///     for (int i = 0; i &lt; n; i++) Row(i).CopyTo(memory.Span&lt;double&gt;(8 * n * i, n));
    ///     Matrix a = context.Upload(Layout.Float64(n, n), memory);
    /// }
    /// </code></example>
    public sealed class HostMemory : IDisposable
    {
        private readonly HostHandle handle;
        private readonly long bytes;

        internal HostMemory(Context context, long bytes)
        {
            if (bytes < 0) throw Check.Refuse("Context.AllocateHost", "bytes", "must be at least 0, got " + bytes);
            this.bytes = bytes;
            handle = new HostHandle();
            IntPtr address;
            lock (context.Turn)
            {
                ContextHandle device = context.Handle;
                TritriNative.tritri_host_allocate(device, (ulong)bytes, out address);
                handle.Own(device, address);
            }
        }

        /// <summary>How many bytes there are.</summary>
        public long ByteSize { get { return bytes; } }

        /// <summary>Whether <see cref="Dispose"/> has been called.</summary>
        public bool IsDisposed { get { return handle.IsClosed; } }

        /// <summary>The address of the first byte. Valid while the memory is not disposed: keep a reference to it.</summary>
        public IntPtr Address { get { return Handle.DangerousGetHandle(); } }

        /// <summary>A window of the memory: what is put there is there. Valid while the memory is not disposed: keep a reference to it.</summary>
        /// <param name="offset">The window's first byte, a multiple of T's size.</param>
        /// <param name="count">Its length in values of T.</param>
        public unsafe Span<T> Span<T>(long offset, int count) where T : struct
        {
            int size = MemoryMarshal.AsBytes(new ReadOnlySpan<T>(new T[1])).Length;
            if (offset < 0 || offset > bytes || offset % size != 0)
            {
                throw Check.Refuse("HostMemory.Span", "offset", "must be 0 to " + bytes + " and a multiple of " + size + ", got " + offset);
            }
            long room = (bytes - offset) / size;
            if (count < 0 || count > room) throw Check.Refuse("HostMemory.Span", "count", "must be 0 to " + room + " from offset " + offset + ", got " + count);
            return new Span<T>((byte*)Handle.DangerousGetHandle() + offset, count);
        }

        /// <summary>Frees the memory once no call works on it.</summary>
        public void Dispose()
        {
            handle.Dispose();
        }

        internal HostHandle Handle
        {
            get
            {
                if (handle.IsClosed) throw new ObjectDisposedException("HostMemory");
                return handle;
            }
        }
    }
}
