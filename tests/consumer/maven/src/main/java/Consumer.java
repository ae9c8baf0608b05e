import java.util.Arrays;
import org.tritri.Fill;
import org.tritri.Tritri;

/** [2 .; 1 3] [4 .; 5 6] = [8 0; 19 18], and a wrong argument is an exception with a sentence. */
public final class Consumer {
  public static void main(String[] arguments) {
    final double[] a = {2, Double.NaN, 1, 3}, b = {4, Double.NaN, 5, 6};
    final double[] c = Tritri.multiply(2, a, Fill.LOWER, b, Fill.LOWER);
    if (!Arrays.equals(c, new double[] {8, 0, 19, 18})) throw new AssertionError(Arrays.toString(c));
    try {
      Tritri.multiply(-1, a, Fill.LOWER, b, Fill.LOWER);
    } catch (IllegalArgumentException expected) {
      System.out.println(Arrays.toString(c) + "; " + expected.getMessage());
      return;
    }
    throw new AssertionError("n = -1 was accepted");
  }
}
