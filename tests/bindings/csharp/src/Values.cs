using System;
using System.Linq;
using System.Numerics;
using NUnit.Framework;

namespace Tritri.Tests
{
    /// <summary>Arrays for the tests, and what they assert everywhere.</summary>
    internal static class Values
    {
        public static float[] Floats(double[] values) { return Array.ConvertAll(values, value => (float)value); }

        public static double[] Doubles(float[] values) { return Array.ConvertAll(values, value => (double)value); }

        public static Complex[] Complexes(double[] pairs)
        {
            return Enumerable.Range(0, pairs.Length / 2).Select(i => new Complex(pairs[2 * i], pairs[2 * i + 1])).ToArray();
        }

        public static double[] Doubles(Complex[] values) { return values.SelectMany(value => new[] { value.Real, value.Imaginary }).ToArray(); }

        public static double[] Flat(double[,] values) { return values.Cast<double>().ToArray(); }

        public static void Close(double[] expected, double[] got, double tolerance)
        {
            Assert.AreEqual(expected.Length, got.Length);
            for (int i = 0; i < expected.Length; i++)
            {
                bool same = double.IsNaN(expected[i]) ? double.IsNaN(got[i]) : expected[i] == got[i] || Math.Abs(expected[i] - got[i]) <= tolerance;
                if (!same) Assert.Fail("entry " + i + ": expected " + expected[i] + " within " + tolerance + ", got " + got[i]);
            }
        }

        /// <summary>A lower triangle of small fractions, NaN above.</summary>
        public static double[] Lower(int n)
        {
            var values = new double[n * n];
            for (int i = 0; i < n; i++)
            {
                for (int j = 0; j < n; j++) values[i * n + j] = j > i ? double.NaN : ((i * 31 + j * 17) % 23 - 11) / 8.0;
            }
            return values;
        }

        public static void Refused(string part, TestDelegate call)
        {
            // Not a subclass: ArgumentNullException has a test of its own.
            StringAssert.Contains(part, Assert.Throws<ArgumentException>(call).Message);
        }

        public static void RefusedNull(string part, TestDelegate call)
        {
            StringAssert.Contains(part, Assert.Throws<ArgumentNullException>(call).Message);
        }
    }
}
