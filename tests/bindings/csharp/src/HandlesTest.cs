using System;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using NUnit.Framework;

namespace Tritri.Tests
{
    /// <summary>B4: disposal in any order and at any time, the collector, threads.</summary>
    [TestFixture]
    public sealed class HandlesTest
    {
        private const int N = 64;
        private static readonly Layout Lower = Layout.Float64(N, N).WithFill(Fill.Lower), Full = Layout.Float64(N, N);

        private static double[] Product() { return TriMath.Multiply(N, Values.Lower(N), Fill.Lower, Values.Lower(N), Fill.Lower); }

        private static void Disposed(string name, TestDelegate call)
        {
            Assert.AreEqual(name, Assert.Throws<ObjectDisposedException>(call).ObjectName);
        }

        [Test]
        public void B4_DisposeTwice()
        {
            var context = new Context(Device.Cpu);
            Matrix matrix = context.Upload(Lower, Values.Lower(N));
            matrix.Dispose();
            matrix.Dispose();
            context.Dispose();
            context.Dispose();
            Assert.IsTrue(matrix.IsDisposed);
            Assert.IsTrue(context.IsDisposed);
        }

        [Test]
        public void B4_UseAfterDispose()
        {
            var context = new Context(Device.Cpu);
            Matrix open = context.Upload(Lower, Values.Lower(N)), matrix = context.Upload(Lower, Values.Lower(N));
            matrix.Dispose();
            var host = new double[N * N];
            Disposed("Matrix", () => matrix.Download(host));
            Disposed("Matrix", () => matrix.Refill(host));
            Disposed("Matrix", () => matrix.ToArray<double>());
            Disposed("Matrix", () => GC.KeepAlive(matrix.Address));
            Disposed("Matrix", () => context.Multiply(matrix, open, open));
            Disposed("Matrix", () => context.Multiply(open, matrix, open));
            Disposed("Matrix", () => context.Multiply(open, open, matrix));
            Disposed("Matrix", () => context.Verify(open, open, matrix));
            Disposed("Matrix", () => context.Plan(open, matrix, open));
            Disposed("Matrix", () => context.WorkspaceSize(matrix, open, open));
            Assert.AreEqual(N, matrix.Layout.Rows);
            context.Dispose();
            Disposed("Context", () => context.Upload(Lower, host));
            Disposed("Context", () => context.Create(Lower));
            Disposed("Context", () => context.Wrap(Lower, (IntPtr)8));
            Disposed("Context", () => context.Multiply(open, open, open));
            Disposed("Context", () => context.Multiply(null, Full, host, Full, host, Full, new double[N * N]));
            Disposed("Context", () => open.Download(host));
            Disposed("Context", () => open.Refill(host));
            Disposed("Context", () => context.Synchronize());
            Disposed("Context", () => GC.KeepAlive(context.DeviceInfo));
            Disposed("Context", () => context.SetStream(IntPtr.Zero));
            Assert.IsFalse(open.IsDisposed);
            open.Dispose();
        }

        [Test]
        public void B4_AnyOrder([Range(0, 5)] int order)
        {
            var context = new Context(Device.Cpu);
            Matrix a = context.Upload(Lower, Values.Lower(N)), c = context.Multiply(a, a);
            IDisposable[] all = { context, a, c };
            int first = order % 3, second = (first + 1 + order / 3) % 3;
            foreach (int i in new[] { first, second, 3 - first - second }) all[i].Dispose();
            Assert.IsTrue(context.IsDisposed && a.IsDisposed && c.IsDisposed);
        }

        [Test]
        public void MatrixOfAnotherContextIsRefused()
        {
            using (Context one = new Context(Device.Cpu), other = new Context(Device.Cpu))
            using (Matrix a = one.Upload(Lower, Values.Lower(N)), b = other.Upload(Lower, Values.Lower(N)))
            {
                Values.Refused("tritri_multiply: b: must belong to this context, got a matrix of another one", () => one.Multiply(a, b));
            }
        }

        private static void WhileCollecting(Action work)
        {
            bool go = true;
            int collections = 0;
            var collector = new Thread(() =>
            {
                while (Volatile.Read(ref go))
                {
                    // Garbage of many sizes, so that what is not pinned moves.
                    for (int i = 0; i < 64; i++) GC.KeepAlive(new byte[1 << (i % 16)]);
                    GC.Collect();
                    GC.WaitForPendingFinalizers();
                    collections++;
                }
            });
            collector.Start();
            try
            {
                work();
            }
            finally
            {
                Volatile.Write(ref go, false);
                collector.Join();
            }
            Assert.Greater(collections, 0);
        }

        private static void OnDroppedHandles(double[] right)
        {
            // Nothing but the running call refers to the context and the matrices.
            var c = new double[N * N];
            new Context(Device.Cpu).Multiply(null, Lower, Values.Lower(N), Lower, Values.Lower(N), Full, c);
            CollectionAssert.AreEqual(right, c);
            var context = new Context(Device.Cpu);
            context.Multiply(context.Upload(Lower, Values.Lower(N)), context.Upload(Lower, Values.Lower(N))).Download(c);
            CollectionAssert.AreEqual(right, c);
        }

        [Test]
        public void B4_CollectorDuringCalls()
        {
            double[] right = Product();
            WhileCollecting(() =>
            {
                for (int round = 0; round < 200; round++) OnDroppedHandles(right);
            });
        }

        [Test]
        public void B4_CollectorDuringALongCall()
        {
            const int n = 900;
            double[] a = Values.Lower(n), again = new double[n * n];
            Layout lower = Layout.Float64(n, n).WithFill(Fill.Lower), full = Layout.Float64(n, n);
            using (var context = new Context(new ContextOptions { Device = Device.Cpu, Threads = 1 }))
            {
                context.Multiply(null, lower, a, lower, a, full, again);
                WhileCollecting(() =>
                {
                    for (int round = 0; round < 10; round++)
                    {
                        var c = new double[n * n];
                        context.Multiply(null, lower, Values.Lower(n), lower, Values.Lower(n), full, c);
                        Assert.IsTrue(again.SequenceEqual(c));
                    }
                });
            }
        }

        [Test]
        public void B4_DisposeFromAnotherThreadDuringCalls()
        {
            double[] right = Product();
            for (int round = 0; round < 100; round++)
            {
                var context = new Context(Device.Cpu);
                Matrix a = context.Upload(Lower, Values.Lower(N)), c = context.Create(Full);
                var host = new double[N * N];
                bool done = false;
                var closer = new Thread(() =>
                {
                    a.Dispose();
                    context.Dispose();
                    c.Dispose();
                });
                closer.Start();
                Assert.Throws<ObjectDisposedException>(() =>
                {
                    while (true)
                    {
                        context.Multiply(a, a, c);
                        c.Download(host);
                        done = true;
                    }
                });
                closer.Join();
                if (done) CollectionAssert.AreEqual(right, host);
            }
        }

        private static void InThreads(int count, Action work)
        {
            Task[] running = Enumerable.Range(0, count).Select(i => Task.Factory.StartNew(work, TaskCreationOptions.LongRunning)).ToArray();
            Task.WaitAll(running);
        }

        [Test]
        public void ContextsOfManyThreads()
        {
            double[] right = Product();
            InThreads(8, () =>
            {
                using (var context = new Context(new ContextOptions { Device = Device.Cpu, Threads = 1 }))
                using (Matrix a = context.Upload(Lower, Values.Lower(N)), c = context.Create(Full))
                {
                    for (int i = 0; i < 1000; i++) context.Multiply(a, a, c);
                    var host = new double[N * N];
                    c.Download(host);
                    CollectionAssert.AreEqual(right, host);
                }
            });
        }

        [Test]
        public void OneContextOfManyThreadsTakesTurns()
        {
            double[] right = Product();
            using (var context = new Context(Device.Cpu))
            {
                InThreads(8, () =>
                {
                    for (int i = 0; i < 100; i++)
                    {
                        using (Matrix a = context.Upload(Lower, Values.Lower(N)), c = context.Multiply(a, a))
                        {
                            var host = new double[N * N];
                            c.Download(host);
                            CollectionAssert.AreEqual(right, host);
                        }
                    }
                });
            }
        }

        [Test]
        public void OneCallOfManyThreads()
        {
            double[] right = Product();
            InThreads(8, () =>
            {
                for (int i = 0; i < 100; i++) CollectionAssert.AreEqual(right, Product());
            });
        }

        [Test]
        public void MessagesBelongToTheirThread()
        {
            InThreads(4, () =>
            {
                using (var context = new Context(Device.Cpu))
                {
                    for (int i = 1; i < 200; i++)
                    {
                        long rows = -Thread.CurrentThread.ManagedThreadId * 1000L - i;
                        string message = Assert.Throws<ArgumentException>(() => context.Create(Layout.Float64(rows, 1))).Message;
                        Assert.AreEqual("tritri_matrix_create: desc: rows must be at least 0, got " + rows, message);
                    }
                }
            });
        }

        [Test]
        public void L6_DroppedHandlesGiveTheirMemoryBack()
        {
            // 4,000 matrices of 1 MiB: far more than the process may hold, if the finalizer did not free them.
            Layout layout = Layout.Float64(512, 256);
            var host = new double[512 * 256];
            long after = 0;
            using (var context = new Context(Device.Cpu))
            {
                for (int i = 0; i < 4000; i++)
                {
                    context.Upload(layout, host);
                    if (i % 100 == 99)
                    {
                        GC.Collect();
                        GC.WaitForPendingFinalizers();
                    }
                    if (i == 999) after = ResidentBytes();
                }
                Assert.Less(ResidentBytes(), after + (512L << 20));
            }
        }

        [Test]
        public void L6_CreateMultiplyDestroy()
        {
            double[] host = Values.Lower(N), right = Product(), result = new double[N * N];
            long after = 0;
            for (int i = 0; i < 2000; i++)
            {
                using (var context = new Context(Device.Cpu))
                using (Matrix a = context.Upload(Lower, host), c = context.Multiply(a, a))
                {
                    if (i % 500 == 0)
                    {
                        c.Download(result);
                        CollectionAssert.AreEqual(right, result);
                    }
                }
                if (i == 500) after = ResidentBytes();
            }
            Assert.Less(ResidentBytes(), after + (64L << 20));
        }

        private static long ResidentBytes()
        {
            string line = File.ReadAllLines("/proc/self/status").Single(one => one.StartsWith("VmRSS:"));
            return long.Parse(new string(line.Where(char.IsDigit).ToArray())) << 10;
        }
    }
}
