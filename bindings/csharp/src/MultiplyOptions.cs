using System;
using System.Numerics;

namespace Tritri
{
    /// <summary>How a product C := alpha op(A) op(B) + beta C is to be computed.</summary>
    /// <example><code>new MultiplyOptions { OpB = Op.Transpose, Alpha = 2 }</code></example>
    public sealed class MultiplyOptions
    {
        /// <summary>C := A B.</summary>
        public MultiplyOptions()
        {
            Alpha = Complex.One;
        }

        /// <summary>What is done to A first.</summary>
        public Op OpA { get; set; }

        /// <summary>What is done to B first.</summary>
        public Op OpB { get; set; }

        /// <summary>The factor of the product, 1 to begin with; real for real types. With 0, A and B are not read.</summary>
        public Complex Alpha { get; set; }

        /// <summary>The factor of what C held before, 0 to begin with, and then C is not read; real for real types.</summary>
        public Complex Beta { get; set; }

        /// <summary>How float32 is computed.</summary>
        public Compute Compute { get; set; }

        /// <summary>Who computes.</summary>
        public Algorithm Algorithm { get; set; }

        /// <summary>For calls that make C themselves.</summary>
        internal static void CheckBetaIsZero(string function, MultiplyOptions options)
        {
            if (options == null || options.Beta == Complex.Zero) return;
            throw Check.Refuse(function, "options", "Beta must be 0 for a new matrix, which holds nothing yet, got " + options.Beta);
        }

        internal static long[] Values(MultiplyOptions options)
        {
            if (options == null) return null;
            return new long[]
            {
                (long)options.OpA, (long)options.OpB, Bits(options.Alpha.Real), Bits(options.Alpha.Imaginary), Bits(options.Beta.Real),
                Bits(options.Beta.Imaginary), (long)options.Compute, (long)options.Algorithm
            };
        }

        private static long Bits(double value) { return BitConverter.DoubleToInt64Bits(value); }
    }
}
