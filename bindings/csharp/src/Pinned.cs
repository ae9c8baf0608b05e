using System;
using System.Runtime.InteropServices;

namespace Tritri
{
    /// <summary>A two- or three-dimensional array held in place, so that it can be seen as a span: a matrix, or a batch. <see cref="Dispose"/> lets go of it.</summary>
    internal struct Pinned<T> : IDisposable where T : struct
    {
        private readonly Array array;
        private readonly Dtype dtype;
        private GCHandle pin;

        public Pinned(string function, string argument, Array array)
        {
            Check.NotNull(function, argument, array);
            dtype = Check.DtypeOf<T>(function);
            this.array = array;
            pin = GCHandle.Alloc(array, GCHandleType.Pinned);
        }

        public unsafe Span<T> Span
        {
            get { return array.Length == 0 ? Span<T>.Empty : new Span<T>((void*)pin.AddrOfPinnedObject(), array.Length); }
        }

        public Layout Layout(Fill fill)
        {
            Layout one = new Layout(dtype, array.GetLongLength(array.Rank - 2), array.GetLongLength(array.Rank - 1)).WithFill(fill);
            return array.Rank == 2 ? one : one.WithBatch(array.GetLongLength(0));
        }

        public void Dispose()
        {
            pin.Free();
        }
    }
}
