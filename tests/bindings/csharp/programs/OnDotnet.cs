using System;
using System.Numerics;
using Tritri;
using Tritri.Tests;

/// <summary>
/// The shared vectors and the life of handles with the assembly for netstandard2.0, on .NET itself, where NUnit 2 does not run. Prints what failed, then
/// "N passed, N failed".
/// </summary>
internal static class OnDotnet
{
    private static int passed, failed;

    private static int Main()
    {
        using (var context = new Context(Device.Cpu))
        {
            foreach (VectorCase one in VectorCase.Read()) Try(one.Name, () => Vector(context, one));
        }
        Try("two-dimensional arrays", TwoDimensional);
        Try("collector during calls", Collector);
        Try("use after Dispose", UseAfterDispose);
        Try("status", Status);
        Try("line numbers", LineNumbers);
        Console.WriteLine(passed + " passed, " + failed + " failed");
        return failed == 0 && passed > 0 ? 0 : 1;
    }

    private static void Try(string name, Action test)
    {
        try
        {
            test();
            passed++;
        }
        catch (Exception failure)
        {
            Console.WriteLine("failed " + name + ": " + failure);
            failed++;
        }
    }

    private static void LineNumbers()
    {
        try
        {
            TriMath.Multiply(3, new double[1], Fill.Lower, new double[1], Fill.Lower);
        }
        catch (ArgumentException refused)
        {
            Require(refused.StackTrace.Contains("in /_/bindings/csharp/src/Check.cs:line "), refused.StackTrace);
            return;
        }
        Require(false, "accepted");
    }

    private static void Vector(Context context, VectorCase one)
    {
        double[] a = one.Data["a"], b = one.Data["b"], c = (double[])one.Data["c"].Clone();
        string refusal = null;
        try
        {
            Layout x = one.Layouts["a"], y = one.Layouts["b"], z = one.Layouts["c"];
            if (one.Dtype == Dtype.Float32 || one.Dtype == Dtype.Complex64)
            {
                Span<float> result = Floats(c);
                context.Multiply<float>(one.Options, x, Floats(a), y, Floats(b), z, result);
                c = Array.ConvertAll(result.ToArray(), value => (double)value);
            }
            else
            {
                context.Multiply(one.Options, x, a, y, b, z, c);
            }
        }
        catch (ArgumentException failure)
        {
            refusal = failure.Message;
        }
        if (one.Refused != null) Require(refusal != null && refusal.Contains(one.Refused), "must be refused with '" + one.Refused + "', got '" + refusal + "'");
        else Require(refusal == null, refusal);
        double[] expected = one.Expected ?? one.Data["c"];
        for (int i = 0; i < c.Length; i++)
        {
            bool same = double.IsNaN(expected[i]) ? double.IsNaN(c[i]) : expected[i] == c[i] || Math.Abs(expected[i] - c[i]) <= one.Tolerance;
            Require(same, "entry " + i + ": expected " + expected[i] + ", got " + c[i]);
        }
    }

    private static float[] Floats(double[] values) { return Array.ConvertAll(values, value => (float)value); }

    private static void TwoDimensional()
    {
        Complex[,] c = TriMath.Multiply(new[,] { { new Complex(1, 2) } }, Fill.Full, new[,] { { new Complex(1, 1) } }, Fill.Full, new MultiplyOptions { OpB = Op.ConjTranspose });
        Require(c[0, 0] == new Complex(3, 1), "got " + c[0, 0]);
    }

    private static void Collector()
    {
        for (int i = 0; i < 200; i++)
        {
            var c = new double[1];
            new Context(Device.Cpu).Upload(new double[,] { { 3 } }).Download(c);
            if (i % 10 == 0) GC.Collect();
            Require(c[0] == 3, "got " + c[0]);
        }
        GC.Collect();
        GC.WaitForPendingFinalizers();
    }

    private static void UseAfterDispose()
    {
        var context = new Context(Device.Cpu);
        context.Dispose();
        context.Dispose();
        try
        {
            context.Synchronize();
        }
        catch (ObjectDisposedException)
        {
            return;
        }
        throw new Exception("must throw ObjectDisposedException");
    }

    private static void Status()
    {
        using (var context = new Context(Device.Cpu))
        {
            try
            {
                context.Create(Layout.Float64(1L << 40, 4));
            }
            catch (TritriException failure)
            {
                Require(failure.StatusName == "TRITRI_OUT_OF_MEMORY", failure.StatusName);
                return;
            }
        }
        throw new Exception("must throw TritriException");
    }

    private static void Require(bool fact, string message)
    {
        if (!fact) throw new Exception(message);
    }
}
