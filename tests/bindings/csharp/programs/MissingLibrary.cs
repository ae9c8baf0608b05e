using System;
using Tritri;

/// <summary>Run by the tests beside a copy of Tritri.dll: says what comes of it, twice.</summary>
internal static class MissingLibrary
{
    private static void Main()
    {
        for (int i = 0; i < 2; i++)
        {
            try
            {
                Console.WriteLine("version " + TriMath.Version + ", product " + TriMath.Multiply(1, new[] { 3.0 }, Fill.Lower, new[] { 2.0 }, Fill.Lower)[0]);
            }
            catch (DllNotFoundException error)
            {
                Console.WriteLine(error.Message);
            }
        }
    }
}
