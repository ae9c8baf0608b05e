using System;
using System.IO;
using System.Threading;
using NUnit.Framework;

namespace Tritri.Tests
{
    /// <summary>Memory of the library's own.</summary>
    [TestFixture]
    public sealed class HostMemoryTest
    {
        private const double N = double.NaN;
        private static readonly double[] Upper = { 1, 2, N, 3 }, Lower = { 4, N, 5, 6 }, Product = { 14, 12, 15, 18 };
        private static readonly Layout A = Layout.Float64(2, 2).WithFill(Fill.Upper), B = Layout.Float64(2, 2).WithFill(Fill.Lower), C = Layout.Float64(2, 2);

        private Context context;

        [SetUp]
        public void Open() { context = new Context(Device.Cpu); }

        [TearDown]
        public void Close() { context.Dispose(); }

        private HostMemory Memory(params double[] values)
        {
            HostMemory memory = context.AllocateHost(8L * values.Length);
            values.CopyTo(memory.Span<double>(0, values.Length));
            return memory;
        }

        private static double[] All(HostMemory memory) { return memory.Span<double>(0, (int)(memory.ByteSize / 8)).ToArray(); }

        private static void Disposed(string name, TestDelegate call) { Assert.AreEqual(name, Assert.Throws<ObjectDisposedException>(call).ObjectName); }

        private static void Null(string sentence, TestDelegate call) { StringAssert.StartsWith(sentence, Assert.Throws<ArgumentNullException>(call).Message); }

        [Test]
        public void ProductInPlaceOfItsMemory()
        {
            using (HostMemory a = Memory(Upper), b = Memory(Lower), c = Memory(N, N, N, N))
            {
                context.Multiply(null, A, a, B, b, C, c);
                CollectionAssert.AreEqual(Product, All(c));
                context.Multiply(null, A, a, B, b, B, b);
                CollectionAssert.AreEqual(new[] { 14, N, 15, 18 }, All(b));
            }
        }

        [Test]
        public void UploadRefillAndDownload()
        {
            using (HostMemory host = Memory(Upper), back = Memory(7, 7, 7, 7))
            using (Matrix matrix = context.Upload(A, host))
            {
                matrix.Download(A, back);
                CollectionAssert.AreEqual(new double[] { 1, 2, 7, 3 }, All(back));
                host.Span<double>(8, 1).Fill(20);
                matrix.Refill(A, host);
                matrix.Download(A, back);
                CollectionAssert.AreEqual(new double[] { 1, 20, 7, 3 }, All(back));
            }
        }

        [TestCase(Dtype.Float32, 4)]
        [TestCase(Dtype.Float64, 8)]
        [TestCase(Dtype.Complex64, 8)]
        [TestCase(Dtype.Complex128, 16)]
        [TestCase(Dtype.Float16, 2)]
        [TestCase(Dtype.BFloat16, 2)]
        public void EveryDtypeIsMeasuredInBytes(Dtype dtype, int size)
        {
            var layout = new Layout(dtype, 3, 3);
            using (HostMemory enough = context.AllocateHost(9 * size), less = context.AllocateHost(9 * size - 1))
            {
                enough.Span<byte>(0, 9 * size).Clear();
                context.Upload(layout, enough).Dispose();
                Values.Refused("Context.Upload: host: must have at least " + 9 * size + " bytes for " + layout + ", got " + (9 * size - 1), () => context.Upload(layout, less));
            }
        }

        [Test]
        public void Windows()
        {
            using (HostMemory memory = context.AllocateHost(24))
            {
                memory.Span<double>(16, 1).Fill(3.5);
                Assert.AreEqual(3.5, memory.Span<double>(0, 3)[2]);
                Assert.AreEqual(0, memory.Span<double>(24, 0).Length);
                Values.Refused("HostMemory.Span: offset: must be 0 to 24 and a multiple of 8, got 4", () => memory.Span<double>(4, 1));
                Values.Refused("HostMemory.Span: offset: must be 0 to 24 and a multiple of 8, got -8", () => memory.Span<double>(-8, 1));
                Values.Refused("HostMemory.Span: count: must be 0 to 1 from offset 16, got 2", () => memory.Span<double>(16, 2));
                Values.Refused("HostMemory.Span: count: must be 0 to 3 from offset 0, got -1", () => memory.Span<double>(0, -1));
            }
        }

        [Test]
        public void Sizes()
        {
            Values.Refused("Context.AllocateHost: bytes: must be at least 0, got -1", () => context.AllocateHost(-1));
            Assert.AreEqual("TRITRI_OUT_OF_MEMORY", Assert.Throws<TritriException>(() => context.AllocateHost(long.MaxValue)).StatusName);
            using (HostMemory nothing = context.AllocateHost(0))
            {
                Assert.AreEqual(0, nothing.ByteSize);
                context.Upload(Layout.Float64(0, 5), nothing).Dispose();
                Values.Refused("must have at least 32 bytes", () => context.Upload(C, nothing));
            }
        }

        /// <summary>2.2 GB, of which no span of bytes could see the end.</summary>
        [Test]
        public void PastTwoToThe31Bytes()
        {
            const long rows = 270000, cols = 1000;
            using (HostMemory column = context.AllocateHost(8 * rows), row = context.AllocateHost(8 * cols), c = context.AllocateHost(8 * rows * cols))
            {
                for (int i = 0; i < rows; i++) column.Span<double>(8L * i, 1).Fill(i);
                for (int j = 0; j < cols; j++) row.Span<double>(8L * j, 1).Fill(j + 1);
                context.Multiply(null, Layout.Float64(rows, 1), column, Layout.Float64(1, cols), row, Layout.Float64(rows, cols), c);
                foreach (long i in new[] { 0, 1, 268435, 268436, rows - 1 })
                {
                    foreach (long j in new[] { 0, 455, 456, cols - 1 }) Assert.AreEqual(i * (j + 1), c.Span<double>(8 * (i * cols + j), 1)[0]);
                }
            }
        }

        [Test]
        public void B4_UseAfterDispose()
        {
            HostMemory memory = Memory(Lower);
            memory.Dispose();
            memory.Dispose();
            Assert.IsTrue(memory.IsDisposed);
            Disposed("HostMemory", () => { IntPtr address = memory.Address; });
            Disposed("HostMemory", () => memory.Span<double>(0, 1));
            Disposed("HostMemory", () => context.Upload(B, memory));
            using (HostMemory open = Memory(Upper))
            {
                Disposed("HostMemory", () => context.Multiply(null, A, open, B, memory, C, open));
                Disposed("HostMemory", () => context.Multiply(null, A, open, B, open, C, memory));
            }
        }

        /// <summary>The context lives on inside until its memory is freed.</summary>
        [Test]
        public void B4_ContextDisposedFirst()
        {
            var early = new Context(Device.Cpu);
            HostMemory memory = early.AllocateHost(32);
            early.Dispose();
            Lower.CopyTo(memory.Span<double>(0, 4));
            context.Upload(B, memory).Dispose();
            memory.Dispose();
            Disposed("Context", () => early.AllocateHost(8));
        }

        [Test]
        public void B4_DisposedWhileCallsRun()
        {
            const int n = 600;
            Layout lower = Layout.Float64(n, n).WithFill(Fill.Lower);
            for (int round = 0; round < 20; round++)
            {
                HostMemory a = context.AllocateHost(8L * n * n), c = context.AllocateHost(8L * n * n);
                a.Span<double>(0, n * n).Fill(1);
                var worker = new Thread(() =>
                {
                    try
                    {
                        while (true) context.Multiply(null, lower, a, lower, a, lower, c);
                    }
                    catch (ObjectDisposedException)
                    {
                        // between two calls
                    }
                });
                worker.Start();
                Thread.Sleep(2);
                a.Dispose();
                c.Dispose();
                worker.Join();
            }
        }

        /// <summary>3.2 GB in turn, of which the collector gives most back.</summary>
        [Test]
        public void B4_Collected()
        {
            long before = Resident();
            for (int i = 0; i < 100; i++)
            {
                Forget();
                if (i % 10 == 9)
                {
                    GC.Collect();
                    GC.WaitForPendingFinalizers();
                }
            }
            Assert.Less(Resident() - before, 1500L << 20);
        }

        private void Forget() { context.AllocateHost(32 << 20).Span<byte>(0, 32 << 20).Fill(1); }

        private static long Resident() { return 4096 * long.Parse(File.ReadAllText("/proc/self/statm").Split(' ')[1]); }

        [Test]
        public void Nulls()
        {
            using (HostMemory memory = Memory(Lower))
            {
                Null("Context.Upload: host: must not be null, got null", () => context.Upload(C, (HostMemory)null));
                Null("Context.Upload: hostLayout: must not be null, got null", () => context.Upload(null, memory));
            }
        }

        // ---- batches in three-dimensional arrays

        private static double[,,] Batch(int count)
        {
            var batch = new double[count, 2, 2];
            for (int i = 0; i < count; i++)
            {
                batch[i, 0, 0] = i + 1;
                batch[i, 0, 1] = N;
                batch[i, 1, 0] = 2;
                batch[i, 1, 1] = i + 3;
            }
            return batch;
        }

        [Test]
        public void BatchesInOneCall()
        {
            double[,,] c = TriMath.Multiply(Batch(3), Fill.Lower, Batch(1), Fill.Lower);
            Assert.AreEqual(3, c.GetLength(0));
            for (int i = 0; i < 3; i++)
            {
                // [i+1 0; 2 i+3] [1 0; 2 3]
                CollectionAssert.AreEqual(new double[] { i + 1, 0, 2 + 2 * (i + 3), 3 * (i + 3) }, new[] { c[i, 0, 0], c[i, 0, 1], c[i, 1, 0], c[i, 1, 1] });
            }
            double[,,] transposed = TriMath.Multiply(Batch(2), Fill.Lower, Batch(2), Fill.Lower, new MultiplyOptions { OpA = Op.Transpose, Alpha = 2 }, Fill.Lower);
            Assert.AreEqual(2 * (2 * 2 + 2 * 2), transposed[1, 0, 0]);
            Assert.AreEqual(0, transposed[1, 0, 1]);
        }

        [Test]
        public void BatchesOnTheDevice()
        {
            using (Matrix a = context.Upload(Batch(3), Fill.Lower), square = context.Multiply(a, a, fill: Fill.Lower))
            {
                Assert.AreEqual(3, square.Layout.BatchCount);
                double[,,] c = square.ToBatch<double>();
                for (int i = 0; i < 3; i++) CollectionAssert.AreEqual(new double[] { (i + 1) * (i + 1), 0, 2 * (i + 1) + 2 * (i + 3), (i + 3) * (i + 3) },
                    new[] { c[i, 0, 0], c[i, 0, 1], c[i, 1, 0], c[i, 1, 1] });
                Values.Refused("batch_count", () => square.ToArray<double>());
            }
            using (Matrix one = context.Upload(new double[,] { { 1, 2 }, { 3, 4 } })) Assert.AreEqual(4, one.ToBatch<double>()[0, 1, 1]);
        }

        [Test]
        public void BatchesThatDoNotGo()
        {
            Values.Refused("TriMath.Multiply: a: must have at least 1 matrix, got 0", () => TriMath.Multiply(new double[0, 2, 2], Fill.Lower, Batch(1), Fill.Lower));
            Values.Refused("Context.Upload: host: must have at least 1 matrix, got 0", () => context.Upload(new double[0, 2, 2]));
            Null("TriMath.Multiply: b: must not be null, got null", () => TriMath.Multiply(Batch(1), Fill.Lower, null, Fill.Lower));
            Values.Refused("batch_count must be 1 or c's 3, got 2", () => TriMath.Multiply(Batch(3), Fill.Lower, Batch(2), Fill.Lower));
            Assert.AreEqual(0, TriMath.Multiply(new float[3, 0, 0], Fill.Lower, new float[3, 0, 0], Fill.Lower).Length);
        }

        [Test]
        public void BatchesWithoutAStride()
        {
            Assert.AreEqual(12, Layout.Float64(3, 4).WithBatch(5).BatchStride);
            Assert.AreEqual(6, Layout.Float64(3, 3).WithFill(Fill.Lower).WithStorage(Storage.Packed).WithBatch(5).BatchStride);
            Assert.AreEqual(19, Layout.Float64(3, 3).WithLd(8).WithBatch(2).BatchStride);
            Values.Refused("Layout.WithBatch: count: must leave the stride below 2^63", () => Layout.Float64(long.MaxValue, long.MaxValue).WithBatch(2));
        }
    }
}
