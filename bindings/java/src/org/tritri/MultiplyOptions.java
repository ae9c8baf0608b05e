package org.tritri;

/**
 * How a product {@code C := alpha op(A) op(B) + beta C} is to be computed. Immutable.
 *
 * <pre>{@code
 * MultiplyOptions options = MultiplyOptions.builder().opB(Op.TRANSPOSE).alpha(2).build();
 * }</pre>
 */
public final class MultiplyOptions {
  /** {@code C := A B}. */
  public static final MultiplyOptions DEFAULT = builder().build();

  private final Builder made;

  private MultiplyOptions(Builder made) {
    this.made = made;
  }

  /** Begins with {@link #DEFAULT}. */
  public static Builder builder() {
    return new Builder();
  }

  public Op opA() {
    return made.opA;
  }

  public Op opB() {
    return made.opB;
  }

  /** For calls that make C themselves. */
  void checkBetaIsZero(String function) {
    if (made.betaRe == 0 && made.betaIm == 0) return;
    throw Check.refuse(function, "options", "beta must be 0 for a new matrix, which holds nothing yet, got " + made.betaRe + (made.betaIm == 0 ? "" : " + " + made.betaIm + "i"));
  }

  long[] values() {
    return new long[] {made.opA.value, made.opB.value, Double.doubleToRawLongBits(made.alphaRe), Double.doubleToRawLongBits(made.alphaIm),
      Double.doubleToRawLongBits(made.betaRe), Double.doubleToRawLongBits(made.betaIm), made.compute.value, made.algorithm.value};
  }

  /** Collects what differs from {@link #DEFAULT}. */
  public static final class Builder {
    private Op opA = Op.NONE, opB = Op.NONE;
    private double alphaRe = 1, alphaIm, betaRe, betaIm;
    private Compute compute = Compute.DEFAULT;
    private Algorithm algorithm = Algorithm.AUTO;

    private Builder() {}

    /** What is done to A first. */
    public Builder opA(Op op) {
      opA = Check.notNull("MultiplyOptions", "opA", op);
      return this;
    }

    /** What is done to B first. */
    public Builder opB(Op op) {
      opB = Check.notNull("MultiplyOptions", "opB", op);
      return this;
    }

    /** The factor of the product; 1 to begin with. With 0, A and B are not read. */
    public Builder alpha(double alpha) {
      return alpha(alpha, 0);
    }

    /** A complex factor of the product; the imaginary part must be 0 for real types. */
    public Builder alpha(double real, double imaginary) {
      alphaRe = real;
      alphaIm = imaginary;
      return this;
    }

    /** The factor of what C held before; 0 to begin with, and then C is not read. */
    public Builder beta(double beta) {
      return beta(beta, 0);
    }

    /** A complex factor of what C held before; the imaginary part must be 0 for real types. */
    public Builder beta(double real, double imaginary) {
      betaRe = real;
      betaIm = imaginary;
      return this;
    }

    /** How float32 is computed. */
    public Builder compute(Compute compute) {
      this.compute = Check.notNull("MultiplyOptions", "compute", compute);
      return this;
    }

    /** Who computes. */
    public Builder algorithm(Algorithm algorithm) {
      this.algorithm = Check.notNull("MultiplyOptions", "algorithm", algorithm);
      return this;
    }

    /** The options as they stand; the builder may go on. */
    public MultiplyOptions build() {
      final Builder copy = new Builder();
      copy.opA = opA;
      copy.opB = opB;
      copy.alphaRe = alphaRe;
      copy.alphaIm = alphaIm;
      copy.betaRe = betaRe;
      copy.betaIm = betaIm;
      copy.compute = compute;
      copy.algorithm = algorithm;
      return new MultiplyOptions(copy);
    }
  }
}
