using System;
using System.Threading;
using Tritri.Internal;

namespace Tritri
{
    /// <summary>Products of triangular matrices in one call.</summary>
    /// <remarks>
    /// These methods may be called from any thread. They share one context on the best device and take turns on it; threads that shall compute in parallel, and
    /// callers that keep matrices on a GPU, use a <see cref="Context"/>, whose remarks say how errors and memory are handled. T is <c>float</c>, <c>double</c>
    /// or <see cref="System.Numerics.Complex"/>; where a <see cref="Layout"/> is given, any type that it names.
    /// </remarks>
    /// <example><code>
    /// double[,] l = { { 4, 0 }, { 5, 6 } }, u = { { 1, 2 }, { 0, 3 } };
    /// double[,] c = TriMath.Multiply(l, Fill.Lower, u, Fill.Upper);
    /// </code></example>
    public static class TriMath
    {
        // Made when it is first needed, kept until the process ends.
        private static readonly Lazy<Context> Shared = new Lazy<Context>(() => new Context(), LazyThreadSafetyMode.PublicationOnly);

        /// <summary>alpha op(A) op(B) as a new array, cut to <paramref name="fill"/>: 0 outside.</summary>
        public static T[,] Multiply<T>(T[,] a, Fill aFill, T[,] b, Fill bFill, MultiplyOptions options = null, Fill fill = Fill.Full,
            Diag aDiag = Diag.NonUnit, Diag bDiag = Diag.NonUnit) where T : struct
        {
            const string function = "TriMath.Multiply";
            MultiplyOptions.CheckBetaIsZero(function, options);
            using (var x = new Pinned<T>(function, "a", a))
            using (var y = new Pinned<T>(function, "b", b))
            {
                Layout left = x.Layout(aFill).WithDiag(aDiag), right = y.Layout(bFill).WithDiag(bDiag);
                bool ta = options != null && Transposes(options.OpA), tb = options != null && Transposes(options.OpB);
                var c = new T[ta ? left.Cols : left.Rows, tb ? right.Rows : right.Cols];
                using (var z = new Pinned<T>(function, "c", c))
                {
                    Shared.Value.MultiplyHost<T>(function, options, left, x.Span, right, y.Span, z.Layout(fill), z.Span);
                }
                return c;
            }
        }

        /// <summary>C := alpha op(A) op(B) + beta C on two-dimensional arrays, cut to C's fill. C may be A or B itself.</summary>
        public static void Multiply<T>(MultiplyOptions options, T[,] a, Fill aFill, T[,] b, Fill bFill, T[,] c, Fill cFill, Diag aDiag = Diag.NonUnit,
            Diag bDiag = Diag.NonUnit) where T : struct
        {
            const string function = "TriMath.Multiply";
            using (var x = new Pinned<T>(function, "a", a))
            using (var y = new Pinned<T>(function, "b", b))
            using (var z = new Pinned<T>(function, "c", c))
            {
                Shared.Value.MultiplyHost<T>(function, options, x.Layout(aFill).WithDiag(aDiag), x.Span, y.Layout(bFill).WithDiag(bDiag), y.Span,
                    z.Layout(cFill), z.Span);
            }
        }

        /// <summary>
        /// Products of batches: alpha op(A) op(B) for each index of the first dimension as a new array, cut to <paramref name="fill"/>: 0 outside. A batch of one matrix
        /// goes with all of the other's.
        /// </summary>
        public static T[,,] Multiply<T>(T[,,] a, Fill aFill, T[,,] b, Fill bFill, MultiplyOptions options = null, Fill fill = Fill.Full,
            Diag aDiag = Diag.NonUnit, Diag bDiag = Diag.NonUnit) where T : struct
        {
            const string function = "TriMath.Multiply";
            Check.HasMatrices(function, "a", a);
            Check.HasMatrices(function, "b", b);
            MultiplyOptions.CheckBetaIsZero(function, options);
            using (var x = new Pinned<T>(function, "a", a))
            using (var y = new Pinned<T>(function, "b", b))
            {
                Layout left = x.Layout(aFill).WithDiag(aDiag), right = y.Layout(bFill).WithDiag(bDiag);
                bool ta = options != null && Transposes(options.OpA), tb = options != null && Transposes(options.OpB);
                var c = new T[Math.Max(left.BatchCount, right.BatchCount), ta ? left.Cols : left.Rows, tb ? right.Rows : right.Cols];
                using (var z = new Pinned<T>(function, "c", c))
                {
                    Shared.Value.MultiplyHost<T>(function, options, left, x.Span, right, y.Span, z.Layout(fill), z.Span);
                }
                return c;
            }
        }

        /// <summary>The full product of two n x n matrices that lie row after row.</summary>
        public static T[] Multiply<T>(int n, T[] a, Fill aFill, T[] b, Fill bFill) where T : struct
        {
            const string function = "TriMath.Multiply";
            if (n < 0 || n > 46340) throw Check.Refuse(function, "n", "must be 0 to 46340, as an array of n * n elements can hold, got " + n);
            var square = new Layout(Check.DtypeOf<T>(function), n, n);
            var c = new T[n * n];
            Multiply(null, square.WithFill(aFill), a, square.WithFill(bFill), b, square, c);
            return c;
        }

        /// <summary>
        /// C := alpha op(A) op(B) + beta C, cut to C's fill, with spans in and out. <paramref name="c"/> may be <paramref name="a"/> or
        /// <paramref name="b"/> itself, in the same layout.
        /// </summary>
        public static void Multiply<T>(MultiplyOptions options, Layout aLayout, ReadOnlySpan<T> a, Layout bLayout, ReadOnlySpan<T> b, Layout cLayout, Span<T> c)
            where T : struct
        {
            Shared.Value.MultiplyHost("TriMath.Multiply", options, aLayout, a, bLayout, b, cLayout, c);
        }

        /// <summary>As the same call on spans.</summary>
        public static void Multiply<T>(MultiplyOptions options, Layout aLayout, T[] a, Layout bLayout, T[] b, Layout cLayout, T[] c) where T : struct
        {
            Multiply(options, aLayout, new ReadOnlySpan<T>(a), bLayout, new ReadOnlySpan<T>(b), cLayout, new Span<T>(c));
        }

        /// <summary>As the same call on spans.</summary>
        public static void Multiply<T>(MultiplyOptions options, Layout aLayout, ReadOnlyMemory<T> a, Layout bLayout, ReadOnlyMemory<T> b, Layout cLayout, Memory<T> c)
            where T : struct
        {
            Multiply(options, aLayout, a.Span, bLayout, b.Span, cLayout, c.Span);
        }

        /// <summary>The native library's version, such as "0.1.0".</summary>
        public static string Version
        {
            get
            {
                NativeCode.Load();
                return TritriNative.tritri_version_string();
            }
        }

        /// <summary>How many devices of a kind there are; <see cref="Device.Auto"/> counts all.</summary>
        public static int DeviceCount(Device kind)
        {
            NativeCode.Load();
            int count;
            TritriNative.tritri_device_count((int)kind, out count);
            return count;
        }

        /// <summary>Describes a device.</summary>
        public static DeviceInfo DeviceInfo(Device kind, int index)
        {
            NativeCode.Load();
            return new DeviceInfo(values => TritriNative.tritri_device_info_get((int)kind, index, values));
        }

        private static bool Transposes(Op op)
        {
            return op == Op.Transpose || op == Op.ConjTranspose;
        }
    }
}
