using System;
using System.Numerics;
using Tritri;

/// <summary>
/// The square root of a complex upper triangular matrix, as every function of a matrix is computed from its Schur form T: R with R R = T, by the
/// recurrence of Björck and Hammarling. The answer is checked by squaring it: upper times upper, cut to the upper triangle, a sixth of a full
/// product's work. What lies below the diagonals holds NaN, to show that nothing there is read.
/// </summary>
public static class TriangularSquareRoot
{
    public static int Main()
    {
        const int n = 300;
        Complex[,] t = SchurFactor(n), r = SquareRoot(t, n);

        Complex[,] square = TriMath.Multiply(r, Fill.Upper, r, Fill.Upper, null, Fill.Upper);

        double difference = 0, size = 0;
        bool zeros = true;
        for (int i = 0; i < n; i++)
        {
            for (int j = 0; j < i; j++) zeros &= square[i, j] == Complex.Zero;
            for (int j = i; j < n; j++)
            {
                difference += Math.Pow(Complex.Abs(square[i, j] - t[i, j]), 2);
                size += Math.Pow(Complex.Abs(t[i, j]), 2);
            }
        }
        double residual = Math.Sqrt(difference / size);
        bool right = residual < 1e-12 && zeros;
        Console.WriteLine("square root of a {0} x {0} Schur factor and its square: relative residual {1:0.0e+00}, {2}", n, residual,
            right ? "right" : "WRONG");
        return right ? 0 : 1;
    }

    // Eigenvalues on an arc away from zero, and couplings above them.
    private static Complex[,] SchurFactor(int n)
    {
        var random = new Random(11);
        var t = new Complex[n, n];
        for (int i = 0; i < n; i++)
        {
            for (int j = 0; j < i; j++) t[i, j] = new Complex(double.NaN, double.NaN);
            t[i, i] = Complex.FromPolarCoordinates(1 + i / (double)n, 2.0 * i / n - 1);
            for (int j = i + 1; j < n; j++) t[i, j] = new Complex(random.NextDouble() - .5, random.NextDouble() - .5) / n;
        }
        return t;
    }

    private static Complex[,] SquareRoot(Complex[,] t, int n)
    {
        var r = new Complex[n, n];
        for (int j = 0; j < n; j++)
        {
            for (int i = n - 1; i > j; i--) r[i, j] = new Complex(double.NaN, double.NaN);
            r[j, j] = Complex.Sqrt(t[j, j]);
            for (int i = j - 1; i >= 0; i--)
            {
                Complex sum = t[i, j];
                for (int k = i + 1; k < j; k++) sum -= r[i, k] * r[k, j];
                r[i, j] = sum / (r[i, i] + r[j, j]);
            }
        }
        return r;
    }
}
