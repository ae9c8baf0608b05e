import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.tritri.Diag;
import org.tritri.Fill;
import org.tritri.Layout;
import org.tritri.MultiplyOptions;
import org.tritri.Tritri;

/**
 * Rebuilds a matrix from its LU factors. The matrix: how alike 300 handwritten digits are (an RBF kernel). The factors L (unit lower) and U (upper)
 * share one array, as LAPACK leaves them, and the product reads each from its own triangle: 2n^3/3 flops where a general product of
 * unpacked factors takes 2n^3. The answer is checked against the matrix itself.
 *
 * <p>java -cp build/release/java/tritri.jar bindings/java/examples/LuRebuild.java bindings/c/data/digits.txt
 */
public final class LuRebuild {
  private static final int N = 300;

  public static void main(String[] arguments) throws IOException {
    if (arguments.length != 1) {
      System.err.println("usage: LuRebuild DIGITS_FILE");
      System.exit(2);
    }
    final double[] matrix = kernel(Path.of(arguments[0]));
    final double[] factors = matrix.clone();
    final int[] rows = factorise(factors);

    final double[] rebuilt = new double[N * N];
    final Layout square = Layout.float64(N, N);
    Tritri.multiply(MultiplyOptions.DEFAULT, square.fill(Fill.LOWER).diag(Diag.UNIT), factors, square.fill(Fill.UPPER), factors, square, rebuilt);

    double worst = 0;
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < N; j++) worst = Math.max(worst, Math.abs(rebuilt[i * N + j] - matrix[rows[i] * N + j]));
    }
    final boolean right = worst < 1e-13;
    System.out.printf("kernel matrix of %d digits rebuilt from its LU factors: largest error %.1e, %s%n", N, worst, right ? "right" : "WRONG");
    System.exit(right ? 0 : 1);
  }

  /** K = exp(-|x_i - x_j|^2 / 1000) over images of 64 grey values. */
  private static double[] kernel(Path file) throws IOException {
    final List<String> images = Files.readAllLines(file).subList(0, N);
    final double[] k = new double[N * N];
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < N; j++) {
        double distance = 0;
        for (int p = 0; p < 64; p++) {
          final int difference = Character.digit(images.get(i).charAt(p), 17) - Character.digit(images.get(j).charAt(p), 17);
          distance += difference * difference;
        }
        k[i * N + j] = Math.exp(-distance / 1000);
      }
    }
    return k;
  }

  /** L below the diagonal and U on and above it, in place, with partial pivoting; gives which row of the matrix each row came from. */
  private static int[] factorise(double[] a) {
    final int[] rows = new int[N];
    for (int i = 0; i < N; i++) rows[i] = i;
    for (int k = 0; k < N; k++) {
      int pivot = k;
      for (int i = k + 1; i < N; i++) {
        if (Math.abs(a[i * N + k]) > Math.abs(a[pivot * N + k])) pivot = i;
      }
      for (int j = 0; j < N; j++) {
        final double held = a[k * N + j];
        a[k * N + j] = a[pivot * N + j];
        a[pivot * N + j] = held;
      }
      final int row = rows[k];
      rows[k] = rows[pivot];
      rows[pivot] = row;
      for (int i = k + 1; i < N; i++) {
        final double factor = a[i * N + k] /= a[k * N + k];
        for (int j = k + 1; j < N; j++) a[i * N + j] -= factor * a[k * N + j];
      }
    }
    return rows;
  }
}
