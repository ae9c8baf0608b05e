using System;
using Tritri;

/// <summary>Run by the tests with mono --debug: says where a call was refused.</summary>
internal static class LineNumbers
{
    private static void Main()
    {
        try
        {
            TriMath.Multiply(3, new double[1], Fill.Lower, new double[1], Fill.Lower);
        }
        catch (ArgumentException refused)
        {
            Console.WriteLine(refused.StackTrace);
        }
    }
}
