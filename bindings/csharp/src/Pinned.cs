using System;
using System.Runtime.InteropServices;

namespace Tritri
{
    /// <summary>A two-dimensional array held in place, so that it can be seen as a span. <see cref="Dispose"/> lets go of it.</summary>
    internal struct Pinned<T> : IDisposable where T : struct
    {
        private readonly T[,] array;
        private readonly Dtype dtype;
        private GCHandle pin;

        public Pinned(string function, string argument, T[,] array)
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
            return new Layout(dtype, array.GetLongLength(0), array.GetLongLength(1)).WithFill(fill);
        }

        public void Dispose()
        {
            pin.Free();
        }
    }
}
