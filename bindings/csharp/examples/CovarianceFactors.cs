using System;
using System.IO;
using Tritri;

/// <summary>
/// 10,000 small covariance matrices from their Cholesky factors, in one call. The matrices: how the 16 pixels of a 4 x 4 patch of handwritten digits vary together,
/// for each of 25 places of the patch and 400 random draws of 180 images (a bootstrap). The factors are kept packed, a triangle without gaps each, and so are the
/// products L L^T, of which only the lower triangle is computed. The answer is checked against the covariances themselves.
/// </summary>
/// <remarks>mono CovarianceFactors.exe bindings/c/data/digits.txt</remarks>
public static class CovarianceFactors
{
    private const int N = 16, Packed = N * (N + 1) / 2, Places = 25, Count = Places * 400, Images = 180;

    public static int Main(string[] arguments)
    {
        if (arguments.Length != 1)
        {
            Console.Error.WriteLine("usage: CovarianceFactors DIGITS_FILE");
            return 2;
        }
        double[] covariances = Covariances(File.ReadAllLines(arguments[0])), factors = (double[])covariances.Clone(), rebuilt = new double[Count * Packed];
        for (int matrix = 0; matrix < Count; matrix++) Factorise(new Span<double>(factors, matrix * Packed, Packed));

        Layout triangles = Layout.Float64(N, N).WithFill(Fill.Lower).WithStorage(Storage.Packed).WithBatch(Count);
        TriMath.Multiply(new MultiplyOptions { OpB = Op.Transpose }, triangles, factors, triangles, factors, triangles, rebuilt);

        double worst = 0;
        for (int i = 0; i < rebuilt.Length; i++) worst = Math.Max(worst, Math.Abs(rebuilt[i] - covariances[i]));
        bool right = worst < 1e-12;  // the largest variance of a pixel is about 40
        Console.WriteLine("{0} covariance matrices of {1} pixels rebuilt from their packed Cholesky factors: largest error {2:0.0e+00}, {3}", Count, N, worst,
            right ? "right" : "WRONG");
        return right ? 0 : 1;
    }

    // The lower triangles, row after row; a variance of 1e-3 is added to each pixel, so that pixels that are always white do no harm.
    private static double[] Covariances(string[] images)
    {
        var random = new Random(1797);
        var all = new double[Count * Packed];
        var patches = new double[Images, N];
        for (int matrix = 0; matrix < Count; matrix++)
        {
            int place = matrix % Places, first = place / 5 * 8 + place % 5;
            var mean = new double[N];
            for (int s = 0; s < Images; s++)
            {
                string image = images[random.Next(images.Length)];
                for (int p = 0; p < N; p++)
                {
                    char grey = image[first + p / 4 * 8 + p % 4];
                    patches[s, p] = grey <= '9' ? grey - '0' : grey - 'a' + 10;
                    mean[p] += patches[s, p] / Images;
                }
            }
            for (int i = 0, at = matrix * Packed; i < N; i++)
            {
                for (int j = 0; j <= i; j++, at++)
                {
                    for (int s = 0; s < Images; s++) all[at] += (patches[s, i] - mean[i]) * (patches[s, j] - mean[j]) / (Images - 1);
                    if (i == j) all[at] += 1e-3;
                }
            }
        }
        return all;
    }

    // Cholesky's factor in the place of a packed lower triangle.
    private static void Factorise(Span<double> a)
    {
        for (int i = 0; i < N; i++)
        {
            int row = i * (i + 1) / 2;
            for (int j = 0; j <= i; j++)
            {
                int other = j * (j + 1) / 2;
                double sum = a[row + j];
                for (int k = 0; k < j; k++) sum -= a[row + k] * a[other + k];
                a[row + j] = i == j ? Math.Sqrt(sum) : sum / a[other + j];
            }
        }
    }
}
