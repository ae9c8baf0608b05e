using System;
using System.Numerics;
using System.Runtime.InteropServices;
using NUnit.Framework;

namespace Tritri.Tests
{
    /// <summary>How arrays and spans reach the library and what is refused before it touches them.</summary>
    [TestFixture]
    public sealed class ArraysTest
    {
        private const double N = double.NaN;
        private static readonly double[] Upper = { 1, 2, N, 3 }, Lower = { 4, N, 5, 6 }, Product = { 14, 12, 15, 18 };
        private static readonly Layout A = Layout.Float64(2, 2).WithFill(Fill.Upper), B = Layout.Float64(2, 2).WithFill(Fill.Lower), C = Layout.Float64(2, 2);

        private Context context;

        [SetUp]
        public void Open() { context = new Context(Device.Cpu); }

        [TearDown]
        public void Close() { context.Dispose(); }

        private static double[,] Square(params double[] v) { return new[,] { { v[0], v[1] }, { v[2], v[3] } }; }

        [Test]
        public void OneCallOnTwoDimensionalArrays()
        {
            CollectionAssert.AreEqual(Product, Values.Flat(TriMath.Multiply(Square(Upper), Fill.Upper, Square(Lower), Fill.Lower)));
            float[,] floats = TriMath.Multiply(new[,] { { 1f, 2f }, { float.NaN, 3f } }, Fill.Upper, new[,] { { 4f, float.NaN }, { 5f, 6f } }, Fill.Lower);
            CollectionAssert.AreEqual(new[,] { { 14f, 12f }, { 15f, 18f } }, floats);
        }

        [Test]
        public void OneCallOnComplex()
        {
            Complex[,] c = TriMath.Multiply(new[,] { { new Complex(1, 2) } }, Fill.Full, new[,] { { new Complex(1, 1) } }, Fill.Full,
                new MultiplyOptions { OpB = Op.ConjTranspose });
            Assert.AreEqual(new Complex(3, 1), c[0, 0]);
        }

        [Test]
        public void OneCallOnFlatArrays()
        {
            CollectionAssert.AreEqual(Product, TriMath.Multiply(2, Upper, Fill.Upper, Lower, Fill.Lower));
            CollectionAssert.AreEqual(Values.Floats(Product), TriMath.Multiply(2, Values.Floats(Upper), Fill.Upper, Values.Floats(Lower), Fill.Lower));
            Complex i = Complex.ImaginaryOne;
            CollectionAssert.AreEqual(new[] { i * i }, TriMath.Multiply(1, new[] { i }, Fill.Lower, new[] { i }, Fill.Lower));
        }

        [Test]
        public void OneCallOnNothing()
        {
            Assert.AreEqual(0, TriMath.Multiply(0, new double[0], Fill.Lower, new double[0], Fill.Lower).Length);
            Assert.AreEqual(0, TriMath.Multiply(new double[0, 0], Fill.Lower, new double[0, 0], Fill.Lower).Length);
            CollectionAssert.AreEqual(new double[2, 3], TriMath.Multiply(new double[2, 0], Fill.Full, new double[0, 3], Fill.Full));
        }

        [Test]
        public void OneCallRefusesSizesThatNoArrayHolds()
        {
            Values.Refused("TriMath.Multiply: n: must be 0 to 46340, as an array of n * n elements can hold, got 46341",
                () => TriMath.Multiply(46341, Upper, Fill.Upper, Lower, Fill.Lower));
            Values.Refused("got -1", () => TriMath.Multiply(-1, Upper, Fill.Upper, Lower, Fill.Lower));
        }

        [Test]
        public void OneCallOnSpans()
        {
            var c = new double[] { 777, N, N, N, N, 777 };
            TriMath.Multiply<double>(null, A, Upper, B, Lower, C, new Span<double>(c, 1, 4));
            CollectionAssert.AreEqual(new double[] { 777, 14, 12, 15, 18, 777 }, c);
        }

        [Test]
        public void SpanOfUnmanagedMemory()
        {
            IntPtr memory = Marshal.AllocHGlobal(4 * sizeof(double));
            try
            {
                Span<double> c;
                unsafe { c = new Span<double>((void*)memory, 4); }
                context.Multiply<double>(null, A, Upper, B, Lower, C, c);
                CollectionAssert.AreEqual(Product, c.ToArray());
            }
            finally
            {
                Marshal.FreeHGlobal(memory);
            }
        }

        [Test]
        public void SpanOfTheStack()
        {
            unsafe
            {
                double* values = stackalloc double[4];
                context.Multiply<double>(null, A, Upper, B, Lower, C, new Span<double>(values, 4));
                CollectionAssert.AreEqual(Product, new Span<double>(values, 4).ToArray());
            }
        }

        [Test]
        public void MemoryInsideAnArray()
        {
            var c = new double[] { 777, N, N, N, N, 777 };
            context.Multiply(null, A, new ReadOnlyMemory<double>(Upper), B, new ReadOnlyMemory<double>(Lower), C, new Memory<double>(c, 1, 4));
            CollectionAssert.AreEqual(new double[] { 777, 14, 12, 15, 18, 777 }, c);
            c[1] = N;
            TriMath.Multiply(null, A, new ReadOnlyMemory<double>(Upper), B, new ReadOnlyMemory<double>(Lower), C, new Memory<double>(c, 1, 4));
            CollectionAssert.AreEqual(new double[] { 777, 14, 12, 15, 18, 777 }, c);
        }

        [Test]
        public void TwoDimensionalResultIsCutToItsFill()
        {
            CollectionAssert.AreEqual(new double[] { 14, 0, 15, 18 }, Values.Flat(TriMath.Multiply(Square(Upper), Fill.Upper, Square(Lower), Fill.Lower, null, Fill.Lower)));
            double[,] c = Square(777, 777, 777, 777);
            TriMath.Multiply(null, Square(Upper), Fill.Upper, Square(Lower), Fill.Lower, c, Fill.Lower);
            CollectionAssert.AreEqual(new double[] { 14, 777, 15, 18 }, Values.Flat(c));
        }

        [Test]
        public void TwoDimensionalShapeFollowsTheOperations()
        {
            var options = new MultiplyOptions { OpA = Op.Transpose, OpB = Op.ConjTranspose };
            double[,] c = TriMath.Multiply(new double[,] { { 1, 2 } }, Fill.Full, new double[,] { { 3 }, { 4 }, { 5 } }, Fill.Full, options);
            CollectionAssert.AreEqual(new double[,] { { 3, 4, 5 }, { 6, 8, 10 } }, c);
        }

        [Test]
        public void TwoDimensionalInPlaceWithUnitDiagonal()
        {
            double[,] lu = Square(4, 3, .5, 2), c = new double[2, 2];
            TriMath.Multiply(null, lu, Fill.Lower, lu, Fill.Upper, c, Fill.Full, Diag.Unit);
            CollectionAssert.AreEqual(new[] { 4, 3, 2, 3.5 }, Values.Flat(c));
            CollectionAssert.AreEqual(new[] { 4, 3, 2, 3.5 }, Values.Flat(TriMath.Multiply(lu, Fill.Lower, lu, Fill.Upper, aDiag: Diag.Unit)));
            CollectionAssert.AreEqual(new[] { 4, 3, .5, 2 }, Values.Flat(lu));
            double[,] both = Square(4, N, 5, 6);
            TriMath.Multiply(null, both, Fill.Lower, both, Fill.Lower, both, Fill.Lower);
            CollectionAssert.AreEqual(new[] { 16, N, 50, 36 }, Values.Flat(both));
        }

        [Test]
        public void ShortArrayIsRefused()
        {
            double[] c = { 7, 7, 7 };
            Values.Refused("Context.Multiply: c: must have at least 4 entries for Float64 Full 2 x 2, Row, ld 0, got 3", () => context.Multiply(null, A, Upper, B, Lower, C, c));
            CollectionAssert.AreEqual(new double[] { 7, 7, 7 }, c);
            Values.Refused("a: must have at least 4 entries", () => context.Multiply(null, A, new double[3], B, Lower, C, new double[4]));
            Values.Refused("b: must have at least 12 entries", () => context.Multiply(null, A, Upper, B.WithLd(10), Lower, C, new double[4]));
            Values.Refused("Matrix.Download: host: must have at least 4 entries", () => context.Upload(A, Upper).Download(new double[3]));
            Values.Refused("Matrix.Refill: host: must have at least 4 entries", () => context.Upload(A, Upper).Refill(new double[3]));
        }

        [Test]
        public void NullArrayIsAnArrayWithoutElements()
        {
            Values.Refused("Context.Upload: host: must have at least 4 entries", () => context.Upload(A, (double[])null));
            context.Upload(Layout.Float64(0, 0).WithLd(1), (double[])null).Dispose();
        }

        [Test]
        public void LongerArrayIsFine()
        {
            double[] c = { N, N, N, N, 777 };
            context.Multiply(null, A, Upper, B, Lower, C, c);
            CollectionAssert.AreEqual(new double[] { 14, 12, 15, 18, 777 }, c);
        }

        [Test]
        public void WrongElementTypeIsRefused()
        {
            Values.Refused("Context.Upload: host: must hold float for Float32, got System.Double", () => context.Upload(Layout.Float32(2, 2), Upper));
            Values.Refused("must hold double for Float64, got System.Single", () => context.Upload(A, new float[4]));
            Values.Refused("must hold System.Numerics.Complex or double for Complex128, got System.Single", () => context.Upload(Layout.Complex128(1, 1), new float[2]));
            Values.Refused("must hold ushort or short for BFloat16, got System.Int32", () => context.Upload(new Layout(Dtype.BFloat16, 1, 1), new int[1]));
            Values.Refused("Context.Upload: T: must be float, double or System.Numerics.Complex, got System.Int64", () => context.Upload(new long[1, 1]));
            Values.Refused("T: must be float, double or System.Numerics.Complex, got System.Decimal", () => TriMath.Multiply(1, new decimal[1], Fill.Full, new decimal[1], Fill.Full));
        }

        [Test]
        public void NullIsRefusedByName()
        {
            Values.RefusedNull("Context.Upload: hostLayout: must not be null", () => context.Upload(null, Upper));
            Values.RefusedNull("Context.Multiply: aLayout: must not be null", () => context.Multiply(null, null, Upper, B, Lower, C, new double[4]));
            Values.RefusedNull("Context.Multiply: a: must not be null", () => context.Multiply(null, null, (Matrix)null));
            Values.RefusedNull("Context.Create: layout: must not be null", () => context.Create(null));
            Values.RefusedNull("TriMath.Multiply: b: must not be null", () => TriMath.Multiply(Square(Upper), Fill.Upper, null, Fill.Lower));
            Values.RefusedNull("Context: options: must not be null", () => new Context(null));
        }

        [Test]
        public void ANewMatrixHasNothingForBeta()
        {
            var options = new MultiplyOptions { Beta = 1 };
            using (Matrix a = context.Upload(A, Upper))
            {
                Values.Refused("Context.Multiply: options: Beta must be 0 for a new matrix, which holds nothing yet, got ", () => context.Multiply(a, a, options));
            }
            var square = new double[2, 2];
            Values.Refused("TriMath.Multiply: options: Beta must be 0", () => TriMath.Multiply(square, Fill.Lower, square, Fill.Lower, options));
            Values.Refused("TriMath.Multiply: options: Beta must be 0", () => TriMath.Multiply(new double[1, 2, 2], Fill.Lower, new double[1, 2, 2], Fill.Lower, options));
        }

        [Test]
        public void InnerSizeZeroGivesBetaC()
        {
            double[] c = { 1, 2, 3, 4 };
            context.Multiply(new MultiplyOptions { Beta = 2 }, Layout.Float64(2, 0), new double[0], Layout.Float64(0, 2), new double[0], C, c);
            CollectionAssert.AreEqual(new double[] { 2, 4, 6, 8 }, c);
        }

        [Test]
        public void ArrayInPlace()
        {
            double[] both = { 4, N, 5, 6 };
            context.Multiply(null, B, both, B, both, B, both);
            CollectionAssert.AreEqual(new[] { 16, N, 50, 36 }, both);
        }

        [Test]
        public void OverlapIsRefused()
        {
            double[] memory = { 4, N, 5, 6, 0 };
            Values.Refused("tritri_multiply_host: c: must be a itself", () => context.Multiply(null, B, memory, B, Lower, C.WithOrder(Order.Column), memory));
            Values.Refused("tritri_multiply_host: c: must be a itself",
                () => context.Multiply(null, B, new ReadOnlySpan<double>(memory), B, Lower, C, new Span<double>(memory, 1, 4)));
            CollectionAssert.AreEqual(new[] { 4, N, 5, 6, 0 }, memory);
        }

        [Test]
        public void OptionsReachTheLibrary()
        {
            double[] c = { 2, 4, 6, 8 };
            context.Multiply(new MultiplyOptions { Alpha = 2, Beta = .5 }, A, Upper, B, Lower, C, c);
            CollectionAssert.AreEqual(new double[] { 29, 26, 33, 40 }, c);
            context.Multiply(new MultiplyOptions { OpA = Op.Transpose, OpB = Op.Transpose }, A, Upper, B, Lower, C, c);
            CollectionAssert.AreEqual(new double[] { 4, 5, 8, 28 }, c);
            Values.Refused("compute must be TRITRI_COMPUTE_DEFAULT", () => context.Multiply(new MultiplyOptions { Compute = Compute.Tf32 }, A, Upper, B, Lower, C, c));
            Values.Refused("options: alpha_im must be 0 for float64, got 1", () => context.Multiply(new MultiplyOptions { Alpha = Complex.ImaginaryOne }, A, Upper, B, Lower, C, c));
            Assert.Throws<TritriException>(() => context.Multiply(new MultiplyOptions { Algorithm = Algorithm.Cublas }, A, Upper, B, Lower, C, c));
            CollectionAssert.AreEqual(new double[] { 4, 5, 8, 28 }, c);
        }

        [Test]
        public void ComplexScalarsReachTheLibrary()
        {
            Layout one = Layout.Complex128(1, 1);
            var c = new[] { new Complex(5, 6) };
            context.Multiply(new MultiplyOptions { Alpha = Complex.ImaginaryOne, Beta = new Complex(1, 2) }, one, new[] { new Complex(1, 2) }, one,
                new[] { new Complex(1, 1) }, one, c);
            Assert.AreEqual(new Complex(-3 - 7, -1 + 16), c[0]);
        }

        [Test]
        public void ComplexAsInterleavedNumbers()
        {
            var conj = new MultiplyOptions { OpB = Op.ConjTranspose };
            var c = new float[2];
            context.Multiply(conj, Layout.Complex64(1, 1), new float[] { 1, 2 }, Layout.Complex64(1, 1), new float[] { 1, 1 }, Layout.Complex64(1, 1), c);
            CollectionAssert.AreEqual(new float[] { 3, 1 }, c);
            var d = new double[2];
            context.Multiply(conj, Layout.Complex128(1, 1), new double[] { 1, 2 }, Layout.Complex128(1, 1), new double[] { 1, 1 }, Layout.Complex128(1, 1), d);
            CollectionAssert.AreEqual(new double[] { 3, 1 }, d);
        }

        [TestCase(Dtype.Float16, 0x3e00, 0x4200)]
        [TestCase(Dtype.BFloat16, 0x3fc0, 0x4040)]
        public void HalfPrecisionIsBits(Dtype dtype, int oneAndAHalf, int three)
        {
            var one = new Layout(dtype, 1, 1);
            ushort[] a = { (ushort)oneAndAHalf }, b = { 0x4000 }, c = { 0 };
            context.Multiply(null, one, a, one, b, one, c);
            Assert.AreEqual(three, c[0]);
            var signed = new short[1];
            context.Upload(one, c).Download(signed);
            Assert.AreEqual(three, signed[0]);
        }

        [Test]
        public void UnknownEnumeratorsAreNamed()
        {
            double[] c = { 7, 7, 7, 7 };
            Values.Refused("diag must be TRITRI_DIAG_NON_UNIT or UNIT (0 or 1), got 99", () => context.Multiply(null, A.WithDiag((Diag)99), Upper, B, Lower, C, c));
            Values.Refused("fill must be TRITRI_FILL_FULL, LOWER or UPPER (0 to 2), got -1", () => context.Multiply(null, A, Upper, B.WithFill((Fill)(-1)), Lower, C, c));
            Values.Refused("dtype must be TRITRI_FLOAT32 to TRITRI_BFLOAT16 (0 to 5), got 1000", () => context.Multiply(null, A, Upper, B, Lower, new Layout((Dtype)1000, 2, 2), c));
            Values.Refused("order must be TRITRI_ORDER_ROW or COLUMN (0 or 1), got 5", () => context.Create(A.WithOrder((Order)5)));
            Values.Refused("storage must be TRITRI_STORAGE_STRIDED or PACKED (0 or 1), got 2", () => context.Create(A.WithStorage((Storage)2)));
            Values.Refused("op_a must be", () => context.Multiply(new MultiplyOptions { OpA = (Op)4 }, A, Upper, B, Lower, C, c));
            Values.Refused("op_b must be", () => context.Multiply(new MultiplyOptions { OpB = (Op)(-1) }, A, Upper, B, Lower, C, c));
            Values.Refused("compute must be", () => context.Multiply(new MultiplyOptions { Compute = (Compute)3 }, A, Upper, B, Lower, C, c));
            Values.Refused("algorithm must be", () => context.Multiply(new MultiplyOptions { Algorithm = (Algorithm)3 }, A, Upper, B, Lower, C, c));
            Values.Refused("device must be", () => new Context((Device)7));
            CollectionAssert.AreEqual(new double[] { 7, 7, 7, 7 }, c);
        }

        [Test]
        public void PackedTrianglesNeedOnlyTheirElements()
        {
            Layout packed = B.WithStorage(Storage.Packed), trapezoid = Layout.Float64(3, 2).WithFill(Fill.Lower).WithStorage(Storage.Packed);
            var c = new double[4];
            context.Multiply(null, A, Upper, packed, new double[] { 4, 5, 6 }, C, c);
            CollectionAssert.AreEqual(Product, c);
            Values.Refused("must have at least 3 entries", () => context.Upload(packed, new double[2]));
            Values.Refused("must have at least 5 entries", () => context.Upload(trapezoid, new double[4]));
            using (Matrix m = context.Upload(trapezoid, new double[] { 1, 2, 3, 4, 5 }))
            {
                CollectionAssert.AreEqual(new double[,] { { 1, 0 }, { 2, 3 }, { 4, 5 } }, m.ToArray<double>());
            }
        }

        [Test]
        public void Batches()
        {
            var c = new double[8];
            context.Multiply(null, A.WithBatch(2, 0), Upper, B.WithBatch(2, 4), new double[] { 4, N, 5, 6, 8, N, 10, 12 }, C.WithBatch(2, 4), c);
            CollectionAssert.AreEqual(new double[] { 14, 12, 15, 18, 28, 24, 30, 36 }, c);
            Values.Refused("must have at least 8 entries", () => context.Multiply(null, A, Upper, B, Lower, C.WithBatch(2, 4), new double[7]));
            Values.Refused("batch stride must be at least 0 for memory that begins at its first element", () => context.Upload(A.WithBatch(2, -4), new double[8]));
            using (Matrix m = context.Upload(C.WithBatch(2, 5), new double[] { 1, 2, 3, 4, N, 5, 6, 7, 8 }))
            {
                var tight = new double[8];
                m.Download(tight);
                CollectionAssert.AreEqual(new double[] { 1, 2, 3, 4, 5, 6, 7, 8 }, tight);
            }
        }

        [Test]
        public void UploadMultiplyDownload()
        {
            using (Matrix a = context.Upload(Square(Upper), Fill.Upper), b = context.Upload(B, new ReadOnlySpan<double>(Lower)), c = context.Multiply(a, b))
            {
                CollectionAssert.AreEqual(Product, Values.Flat(c.ToArray<double>()));
                var result = new double[5];
                c.Download(C.WithOrder(Order.Column), new Span<double>(result, 1, 4));
                CollectionAssert.AreEqual(new double[] { 0, 14, 15, 12, 18 }, result);
                c.Download(result);
                CollectionAssert.AreEqual(new double[] { 14, 12, 15, 18, 18 }, result);
                c.Download(new Span<double>(result).Slice(1));
                CollectionAssert.AreEqual(new double[] { 14, 14, 12, 15, 18 }, result);
            }
        }

        [Test]
        public void UploadWithUnitDiagonal()
        {
            using (Matrix a = context.Upload(Square(99, N, 5, 99), Fill.Lower, Diag.Unit), c = context.Multiply(a, a, null, Fill.Lower))
            {
                CollectionAssert.AreEqual(new double[] { 1, 0, 10, 1 }, Values.Flat(c.ToArray<double>()));
                Assert.AreEqual(Diag.Unit, a.Layout.Diag);
            }
        }

        [Test]
        public void RefillReplacesTheElements()
        {
            using (Matrix m = context.Upload(A, Upper))
            {
                m.Refill(new double[] { 7, 8, N, 9 });
                CollectionAssert.AreEqual(new double[] { 7, 8, 0, 9 }, Values.Flat(m.ToArray<double>()));
                m.Refill(A.WithOrder(Order.Column), new ReadOnlySpan<double>(new double[] { 1, N, 2, 3 }));
                CollectionAssert.AreEqual(new double[] { 1, 2, 0, 3 }, Values.Flat(m.ToArray<double>()));
                Values.Refused("tritri_upload_into: host_layout: fill must be the matrix's", () => m.Refill(B, Lower));
            }
        }

        [Test]
        public void LayoutOfAMatrixIsWhatTheLibraryHas()
        {
            Layout layout = Layout.Complex64(3, 2).WithFill(Fill.Lower).WithDiag(Diag.Unit).WithOrder(Order.Column).WithLd(5).WithBatch(4, 20);
            using (Matrix m = context.Create(layout))
            {
                Assert.AreEqual(layout, m.Layout);
                Assert.AreEqual(layout.GetHashCode(), m.Layout.GetHashCode());
                Assert.AreEqual("Complex64 Lower Unit 3 x 2, Column, ld 5, batch 4 by 20", m.Layout.ToString());
            }
            using (Matrix m = context.Create(B.WithStorage(Storage.Packed)))
            {
                Assert.AreEqual(Storage.Packed, m.Layout.Storage);
                Assert.AreEqual(0, m.Layout.Ld);
            }
        }

        [Test]
        public void WrapUsesTheMemoryItself()
        {
            using (Matrix a = context.Upload(A, Upper), view = context.Wrap(a.Layout, a.Address), c = context.Multiply(view, view))
            {
                Assert.AreEqual(a.Address, view.Address);
                CollectionAssert.AreEqual(new double[] { 1, 8, 0, 9 }, Values.Flat(c.ToArray<double>()));
            }
            Values.Refused("tritri_matrix_wrap: device_memory: must not be NULL", () => context.Wrap(A, IntPtr.Zero));
            Values.Refused("must be aligned to 8 bytes", () => context.Wrap(A, (IntPtr)0x1001));
        }

        [Test]
        public void VerifyAndPlanAndWorkspace()
        {
            using (Matrix a = context.Upload(A, Upper), b = context.Upload(B, Lower), c = context.Multiply(a, b))
            {
                Assert.Less(context.Verify(a, b, c), 1e-14);
                c.Refill(new[] { 14, 12.1, 15, 18 });
                Assert.Greater(context.Verify(a, b, c), 1e-4);
                Values.Refused("probes: must be 1 to 1024, got 0", () => context.Verify(a, b, c, null, 0));
                StringAssert.StartsWith("device=cpu", context.Plan(a, b, c));
                Assert.AreEqual(0, context.WorkspaceSize(a, b, c));
            }
        }

        [Test]
        public void SynchronizeHasNothingToReport()
        {
            context.Synchronize();
            Values.Refused("tritri_context_set_stream", () => context.SetStream((IntPtr)1));
            context.SetStream(IntPtr.Zero);
        }

        [Test]
        public void Devices()
        {
            Assert.AreEqual(1, TriMath.DeviceCount(Device.Cpu));
            Assert.AreEqual(TriMath.DeviceCount(Device.Cuda) + 1, TriMath.DeviceCount(Device.Auto));
            DeviceInfo info = TriMath.DeviceInfo(Device.Cpu, 0);
            Assert.AreEqual(Device.Cpu, info.Kind);
            Assert.AreEqual(0, info.Index);
            Assert.That(info.Name.Length, Is.InRange(3, 127));
            Assert.That(info.Details.Length, Is.InRange(3, 511));
            Assert.Greater(info.MemoryTotal, 1L << 28);
            Assert.LessOrEqual(info.MemoryFree, info.MemoryTotal);
            Assert.AreEqual(new Version(0, 0), info.ComputeCapability);
            Assert.GreaterOrEqual(info.Multiprocessors, 1);
            Assert.AreEqual(0, info.DriverVersion);
            Assert.AreEqual(0, info.RuntimeVersion);
            Assert.AreEqual(info.ToString(), context.DeviceInfo.ToString());
            Values.Refused("tritri_device_info_get", () => TriMath.DeviceInfo(Device.Cpu, -1));
        }

        [Test]
        public void Version()
        {
            StringAssert.IsMatch(@"^\d+\.\d+\.\d+$", TriMath.Version);
            StringAssert.StartsWith(TriMath.Version, typeof(TriMath).Assembly.GetName().Version.ToString());
        }
    }
}
