using System;
using System.Reflection;
using NUnit.Framework;

namespace Tritri.Tests
{
    /// <summary>B3: 2^31 + 1 and more through every size argument.</summary>
    [TestFixture]
    public sealed class SizesTest
    {
        private const long Big = (1L << 31) + 1, Bigger = (1L << 32) + 2;

        private Context context;

        [SetUp]
        public void Open() { context = new Context(Device.Cpu); }

        [TearDown]
        public void Close() { context.Dispose(); }

        [TestCase(Big)]
        [TestCase(Bigger)]
        public void B3_Rows(long size)
        {
            Assert.AreEqual(size, context.Create(Layout.Float64(size, 0)).Layout.Rows);
            Matrix one = context.Create(Layout.Float64(1, 1));
            Values.Refused("got " + size + " x 0", () => context.Multiply(one, one, context.Create(Layout.Float64(size, 0))));
        }

        [TestCase(Big)]
        [TestCase(Bigger)]
        public void B3_Cols(long size)
        {
            Assert.AreEqual(size, context.Create(Layout.Float64(0, size)).Layout.Cols);
        }

        [TestCase(Big)]
        [TestCase(Bigger)]
        public void B3_LdOfOneLine(long size)
        {
            double[] c = { 0, 0 };
            context.Multiply(null, Layout.Float64(1, 2).WithLd(size), new double[] { 1, 2 }, Layout.Float64(2, 2), new double[] { 3, 4, 5, 6 },
                Layout.Float64(1, 2).WithLd(size), c);
            CollectionAssert.AreEqual(new double[] { 13, 16 }, c);
            Assert.AreEqual(size, context.Create(Layout.Float64(1, 2).WithLd(size)).Layout.Ld);
        }

        [Test]
        public void B3_LdOfTwoLines()
        {
            Values.Refused("host: must have at least 2147483651 entries for Float64 Full 2 x 2, Row, ld 2147483649, got 4",
                () => context.Upload(Layout.Float64(2, 2).WithLd(Big), new double[4]));
            Values.Refused("host: must have at least 4294967300 entries", () => context.Upload(Layout.Float64(2, 2).WithLd(Bigger), new double[4]));
        }

        [TestCase(Big)]
        [TestCase(Bigger)]
        public void B3_BatchCount(long size)
        {
            Values.Refused("batch_count must be 0 to 2^31, got " + size, () => context.Create(Layout.Float64(0, 0).WithBatch(size, 0)));
        }

        [TestCase(Big)]
        [TestCase(Bigger)]
        [TestCase(-Big)]
        public void B3_BatchStride(long size)
        {
            using (Matrix memory = context.Create(Layout.Float64(1, 1)), matrix = context.Wrap(Layout.Float64(1, 1).WithBatch(2, size), memory.Address))
            {
                Assert.AreEqual(size, matrix.Layout.BatchStride);
            }
        }

        [Test]
        public void B3_ArrayLength()
        {
            Values.Refused("must have at least 4611686022722355201 entries", () => context.Upload(Layout.Float64(Big, Big), new double[4]));
            Values.Refused("must have at least 85070591730234615847396907784232501249 entries",
                () => context.Upload(Layout.Float64(long.MaxValue, long.MaxValue), new double[4]));
            Values.Refused("must have at least 9223372045444710402 entries", () => context.Upload(Layout.Complex64(Big, Big), new float[4]));
        }

        [Test]
        public void B3_SpanOfMoreThanSixtyThreeBits()
        {
            Values.Refused("the matrix must span less than 2^63 bytes, got 4611686018427387904 x 4", () => context.Create(Layout.Float64(1L << 62, 4)));
        }

        [Test]
        public void B3_WorkspaceBytes()
        {
            new Context(new ContextOptions { Device = Device.Cpu, WorkspaceBytes = Big }).Dispose();
            Values.Refused("ContextOptions: WorkspaceBytes: must be at least 0, got -1", () => new Context(new ContextOptions { WorkspaceBytes = -1 }));
        }

        [Test]
        public void B3_HostBytes()
        {
            // Below the public classes: SWIG's own size_t is 32 bits wide in C#.
            Type native = typeof(Context).Assembly.GetType("Tritri.Internal.TritriNative", true);
            object handle = typeof(Context).GetProperty("Handle", BindingFlags.Instance | BindingFlags.NonPublic).GetValue(context, null);
            object[] allocate = { handle, (ulong)Big, IntPtr.Zero };
            native.GetMethod("tritri_host_allocate").Invoke(null, allocate);
            Assert.AreNotEqual(IntPtr.Zero, allocate[2]);
            native.GetMethod("tritri_host_free").Invoke(null, new[] { handle, allocate[2] });
            allocate[1] = ulong.MaxValue / 2;
            Exception failure = Assert.Throws<TargetInvocationException>(() => native.GetMethod("tritri_host_allocate").Invoke(null, allocate)).InnerException;
            StringAssert.Contains("9223372036854775807", failure.Message);
        }

        [Test]
        public void B3_AddressesAreSixtyFourBitsWide()
        {
            Values.Refused("must be aligned", () => context.Wrap(Layout.Float64(1, 1), (IntPtr)(1L << 32 | 1)));
            using (Matrix matrix = context.Wrap(Layout.Float64(1, 1), (IntPtr)(1L << 40))) Assert.AreEqual((IntPtr)(1L << 40), matrix.Address);
        }
    }
}
