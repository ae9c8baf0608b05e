using System;
using System.Linq;
using Tritri;

// [2 .; 1 3] [4 .; 5 6] = [8 0; 19 18], and a wrong argument is an exception with a sentence.
internal static class Consumer
{
    private static int Main()
    {
        double[] a = { 2, double.NaN, 1, 3 }, b = { 4, double.NaN, 5, 6 };
        double[] c = TriMath.Multiply(2, a, Fill.Lower, b, Fill.Lower);
        if (!c.SequenceEqual(new double[] { 8, 0, 19, 18 })) return 1;
        try
        {
            TriMath.Multiply(-1, a, Fill.Lower, b, Fill.Lower);
        }
        catch (ArgumentException expected)
        {
            Console.WriteLine(string.Join(", ", c) + "; " + expected.Message);
            return 0;
        }
        return 1;
    }
}
