using System;
using System.Numerics;
using System.Runtime.InteropServices;
using Tritri.Internal;

namespace Tritri
{
    /// <summary>What has to be right before native code may touch managed memory. The library checks everything else.</summary>
    internal static class Check
    {
        public static ArgumentException Refuse(string function, string argument, string rule)
        {
            return new ArgumentException(function + ": " + argument + ": " + rule);
        }

        public static void NotNull(string function, string argument, object value)
        {
            if (value == null) throw new ArgumentNullException(argument, function + ": " + argument + ": must not be null, got null");
        }

        /// <summary>The dtype that an element type stands for by itself.</summary>
        public static Dtype DtypeOf<T>(string function) where T : struct
        {
            if (typeof(T) == typeof(float)) return Dtype.Float32;
            if (typeof(T) == typeof(double)) return Dtype.Float64;
            if (typeof(T) == typeof(Complex)) return Dtype.Complex128;
            throw Refuse(function, "T", "must be float, double or System.Numerics.Complex, got " + typeof(T));
        }

        /// <summary>Memory of <paramref name="length"/> values of T holds everything that the layout speaks of.</summary>
        public static void Fits<T>(string function, string argument, Layout layout, long length) where T : struct
        {
            NotNull(function, argument + "Layout", layout);
            int parts = ValuesPerElement<T>(layout.Dtype);
            if (parts == 0) throw Refuse(function, argument, "must hold " + TypeNames(layout.Dtype) + " for " + layout.Dtype + ", got " + typeof(T));
            Room(function, argument, layout, parts, length, "entries");
        }

        /// <summary>Memory of the library's own holds everything that the layout speaks of.</summary>
        public static HeldMemory Fits(string function, string argument, Layout layout, HostMemory memory)
        {
            NotNull(function, argument + "Layout", layout);
            NotNull(function, argument, memory);
            Room(function, argument, layout, BytesPerElement(layout.Dtype), memory.ByteSize, "bytes");
            return new HeldMemory(memory.Handle);
        }

        /// <summary>A batch in an array has matrices: to the library a batch count of 0 means one.</summary>
        public static void HasMatrices(string function, string argument, Array batch)
        {
            NotNull(function, argument, batch);
            if (batch.GetLongLength(0) == 0) throw Refuse(function, argument, "must have at least 1 matrix, got 0");
        }

        private static void Room(string function, string argument, Layout layout, int units, long length, string names)
        {
            if (layout.BatchStride < 0 && layout.BatchCount > 1)
            {
                throw Refuse(function, argument, "batch stride must be at least 0 for memory that begins at its first element, got " + layout.BatchStride);
            }
            BigInteger needed = layout.Elements() * units;
            if (needed > length) throw Refuse(function, argument, "must have at least " + needed + " " + names + " for " + layout + ", got " + length);
        }

        // A dtype that does not exist passes, for the library to name it.
        private static int BytesPerElement(Dtype dtype)
        {
            switch (dtype)
            {
                case Dtype.Float64: case Dtype.Complex64: return 8;
                case Dtype.Complex128: return 16;
                case Dtype.Float16: case Dtype.BFloat16: return 2;
                default: return 4;
            }
        }

        // 0: T cannot hold the dtype. A dtype that does not exist passes, for the library to name it.
        private static int ValuesPerElement<T>(Dtype dtype) where T : struct
        {
            switch (dtype)
            {
                case Dtype.Float32: return typeof(T) == typeof(float) ? 1 : 0;
                case Dtype.Float64: return typeof(T) == typeof(double) ? 1 : 0;
                case Dtype.Complex64: return typeof(T) == typeof(float) ? 2 : 0;
                case Dtype.Complex128: return typeof(T) == typeof(Complex) ? 1 : typeof(T) == typeof(double) ? 2 : 0;
                case Dtype.Float16: case Dtype.BFloat16: return typeof(T) == typeof(ushort) || typeof(T) == typeof(short) ? 1 : 0;
                default: return 1;
            }
        }

        private static string TypeNames(Dtype dtype)
        {
            switch (dtype)
            {
                case Dtype.Float32: case Dtype.Complex64: return "float";
                case Dtype.Float64: return "double";
                case Dtype.Complex128: return "System.Numerics.Complex or double";
                default: return "ushort or short";
            }
        }

        /// <summary>The bytes of a span, or of its first element only: enough to pin it, and never more bytes than an int can count.</summary>
        public static ReadOnlySpan<byte> Start<T>(ReadOnlySpan<T> memory) where T : struct
        {
            return MemoryMarshal.AsBytes(memory.Slice(0, Math.Min(1, memory.Length)));
        }
    }
}
