import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.tritri.Fill;
import org.tritri.Layout;
import org.tritri.MultiplyOptions;
import org.tritri.Op;
import org.tritri.Storage;
import org.tritri.Tritri;

/**
 * 10,000 small covariance matrices from their Cholesky factors, in one call. The matrices: how the 16 pixels of a 4 x 4 patch of handwritten digits vary together,
 * for each of 25 places of the patch and 400 random draws of 180 images (a bootstrap). The factors are kept packed, a triangle without gaps each, and so are
 * the products L L^T, of which only the lower triangle is computed. The answer is checked against the covariances themselves.
 *
 * <p>java -cp build/release/java/tritri.jar bindings/java/examples/CovarianceFactors.java bindings/c/data/digits.txt
 */
public final class CovarianceFactors {
  private static final int N = 16, PACKED = N * (N + 1) / 2, PLACES = 25, DRAWS = 400, COUNT = PLACES * DRAWS, IMAGES = 180;

  public static void main(String[] arguments) throws IOException {
    if (arguments.length != 1) {
      System.err.println("usage: CovarianceFactors DIGITS_FILE");
      System.exit(2);
    }
    final double[] covariances = covariances(Files.readAllLines(Path.of(arguments[0])));
    final double[] factors = covariances.clone();
    for (int matrix = 0; matrix < COUNT; matrix++) factorise(factors, matrix * PACKED);

    final double[] rebuilt = new double[COUNT * PACKED];
    final Layout triangles = Layout.float64(N, N).fill(Fill.LOWER).storage(Storage.PACKED).batch(COUNT);
    Tritri.multiply(MultiplyOptions.builder().opB(Op.TRANSPOSE).build(), triangles, factors, triangles, factors, triangles, rebuilt);

    double worst = 0;
    for (int i = 0; i < rebuilt.length; i++) worst = Math.max(worst, Math.abs(rebuilt[i] - covariances[i]));
    final boolean right = worst < 1e-12;  // the largest variance of a pixel is about 40
    System.out.printf("%d covariance matrices of %d pixels rebuilt from their packed Cholesky factors: largest error %.1e, %s%n", COUNT, N, worst,
        right ? "right" : "WRONG");
    System.exit(right ? 0 : 1);
  }

  /** The lower triangles, row after row; a variance of 1e-3 is added to each pixel, so that pixels that are always white do no harm. */
  private static double[] covariances(List<String> images) {
    final Random random = new Random(1797);
    final double[] all = new double[COUNT * PACKED];
    for (int matrix = 0; matrix < COUNT; matrix++) {
      final int place = matrix % PLACES, first = place / 5 * 8 + place % 5;
      final double[] mean = new double[N];
      final double[][] patches = new double[IMAGES][N];
      for (double[] patch : patches) {
        final String image = images.get(random.nextInt(images.size()));
        for (int p = 0; p < N; p++) {
          patch[p] = Character.digit(image.charAt(first + p / 4 * 8 + p % 4), 17);
          mean[p] += patch[p] / IMAGES;
        }
      }
      for (int i = 0, at = matrix * PACKED; i < N; i++) {
        for (int j = 0; j <= i; j++, at++) {
          for (double[] patch : patches) all[at] += (patch[i] - mean[i]) * (patch[j] - mean[j]) / (IMAGES - 1);
          if (i == j) all[at] += 1e-3;
        }
      }
    }
    return all;
  }

  /** Cholesky's factor in the place of a packed lower triangle that begins at {@code first}. */
  private static void factorise(double[] a, int first) {
    for (int i = 0; i < N; i++) {
      final int row = first + i * (i + 1) / 2;
      for (int j = 0; j <= i; j++) {
        final int other = first + j * (j + 1) / 2;
        double sum = a[row + j];
        for (int k = 0; k < j; k++) sum -= a[row + k] * a[other + k];
        a[row + j] = i == j ? Math.sqrt(sum) : sum / a[other + j];
      }
    }
  }
}
