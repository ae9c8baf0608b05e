using System;
using System.Collections.Generic;
using System.Numerics;
using NUnit.Framework;

namespace Tritri.Tests
{
    /// <summary>The shared vectors, through each way that managed memory can take.</summary>
    [TestFixture]
    public sealed class VectorsTest
    {
        private Context context;

        public static IEnumerable<VectorCase> Cases { get { return VectorCase.Read(); } }

        [TestFixtureSetUp]
        public void Open() { context = new Context(Device.Cpu); }

        [TestFixtureTearDown]
        public void Close() { context.Dispose(); }

        [Test]
        public void ThereAreEnough() { Assert.GreaterOrEqual(VectorCase.Read().Count, 150); }

        [TestCaseSource("Cases")]
        public void Arrays(VectorCase one)
        {
            Layout x = one.Layouts["a"], y = one.Layouts["b"], z = one.Layouts["c"];
            if (IsFloat(one))
            {
                float[] a = Values.Floats(one.Data["a"]), b = Values.Floats(one.Data["b"]), c = Values.Floats(one.Data["c"]);
                Check(one, () => context.Multiply(one.Options, x, a, y, b, z, c), () => Values.Doubles(c));
                CollectionAssert.AreEqual(Values.Floats(one.Data["a"]), a);
                CollectionAssert.AreEqual(Values.Floats(one.Data["b"]), b);
            }
            else
            {
                double[] a = Copy(one, "a"), b = Copy(one, "b"), c = Copy(one, "c");
                Check(one, () => context.Multiply(one.Options, x, a, y, b, z, c), () => c);
                CollectionAssert.AreEqual(one.Data["a"], a);
                CollectionAssert.AreEqual(one.Data["b"], b);
            }
        }

        [TestCaseSource("Cases")]
        public void Spans(VectorCase one)
        {
            Layout x = one.Layouts["a"], y = one.Layouts["b"], z = one.Layouts["c"];
            if (IsFloat(one))
            {
                float[] c = Shifted(Values.Floats(one.Data["c"]));
                Check(one, () => context.Multiply(one.Options, x, Inside(Shifted(Values.Floats(one.Data["a"]))), y, Inside(Shifted(Values.Floats(one.Data["b"]))), z,
                    Inside(c)), () => Values.Doubles(Inside(c).ToArray()));
            }
            else if (one.Dtype == Dtype.Complex128)
            {
                Complex[] c = Shifted(Values.Complexes(one.Data["c"]));
                Check(one, () => context.Multiply(one.Options, x, Inside(Shifted(Values.Complexes(one.Data["a"]))), y,
                    Inside(Shifted(Values.Complexes(one.Data["b"]))), z, Inside(c)), () => Values.Doubles(Inside(c).ToArray()));
            }
            else
            {
                double[] c = Shifted(Copy(one, "c"));
                Check(one, () => context.Multiply(one.Options, x, Inside(Shifted(Copy(one, "a"))), y, Inside(Shifted(Copy(one, "b"))), z, Inside(c)),
                    () => Inside(c).ToArray());
            }
        }

        [TestCaseSource("Cases")]
        public void Matrices(VectorCase one)
        {
            Layout z = one.Layouts["c"];
            double[] c = Copy(one, "c");
            float[] floats = Values.Floats(c);
            Check(one, () =>
            {
                using (Matrix a = Upload(one, "a"), b = Upload(one, "b"), result = Upload(one, "c"))
                {
                    context.Multiply(a, b, result, one.Options);
                    if (IsFloat(one)) result.Download(z, floats);
                    else result.Download(z, c);
                }
            }, () => IsFloat(one) ? Values.Doubles(floats) : c);
        }

        private static bool IsFloat(VectorCase one) { return one.Dtype == Dtype.Float32 || one.Dtype == Dtype.Complex64; }

        private static double[] Copy(VectorCase one, string operand) { return (double[])one.Data[operand].Clone(); }

        // The values behind one that is not theirs, so that a span begins inside its array.
        private static T[] Shifted<T>(T[] values)
        {
            var shifted = new T[values.Length + 1];
            values.CopyTo(shifted, 1);
            return shifted;
        }

        private static Span<T> Inside<T>(T[] shifted) { return new Span<T>(shifted).Slice(1); }

        private Matrix Upload(VectorCase one, string operand)
        {
            double[] values = one.Data[operand];
            return IsFloat(one) ? context.Upload(one.Layouts[operand], Values.Floats(values)) : context.Upload(one.Layouts[operand], values);
        }

        private static void Check(VectorCase one, TestDelegate call, Func<double[]> result)
        {
            if (one.Refused == null)
            {
                call();
                Values.Close(one.Expected, result(), one.Tolerance);
            }
            else
            {
                Values.Refused(one.Refused, call);
                Values.Close(one.Data["c"], result(), 0);
            }
        }
    }
}
