package org.tritri;

import java.math.BigInteger;
import java.util.Arrays;

/**
 * What a matrix holds and how its elements lie in memory. Immutable: each method that changes something gives a new layout.
 *
 * <pre>{@code
 * Layout lower = Layout.float64(n, n).fill(Fill.LOWER);
 * Layout columns = lower.order(Order.COLUMN).ld(n + 8);
 * }</pre>
 *
 * All sizes are 64 bits wide and count elements, not array entries: a complex element takes two entries. Wrong values are refused by the
 * call that uses the layout, with an {@link IllegalArgumentException} that names the field.
 */
public final class Layout {
  private final Dtype dtype;
  private final Fill fill;
  private final Diag diag;
  private final Order order;
  private final Storage storage;
  private final long rows, cols, ld, batchCount, batchStride;

  private Layout(Dtype dtype, Fill fill, Diag diag, Order order, Storage storage, long rows, long cols, long ld, long batchCount, long batchStride) {
    this.dtype = Check.notNull("Layout", "dtype", dtype);
    this.fill = Check.notNull("Layout", "fill", fill);
    this.diag = Check.notNull("Layout", "diag", diag);
    this.order = Check.notNull("Layout", "order", order);
    this.storage = Check.notNull("Layout", "storage", storage);
    this.rows = rows;
    this.cols = cols;
    this.ld = ld;
    this.batchCount = batchCount;
    this.batchStride = batchStride;
  }

  /** A full, row-major rows x cols matrix with tight lines. */
  public static Layout of(Dtype dtype, long rows, long cols) {
    return new Layout(dtype, Fill.FULL, Diag.NON_UNIT, Order.ROW, Storage.STRIDED, rows, cols, 0, 1, 0);
  }

  /** A full, row-major rows x cols matrix of floats. */
  public static Layout float32(long rows, long cols) {
    return of(Dtype.FLOAT32, rows, cols);
  }

  /** A full, row-major rows x cols matrix of doubles. */
  public static Layout float64(long rows, long cols) {
    return of(Dtype.FLOAT64, rows, cols);
  }

  /** A full, row-major rows x cols matrix of pairs of floats. */
  public static Layout complex64(long rows, long cols) {
    return of(Dtype.COMPLEX64, rows, cols);
  }

  /** A full, row-major rows x cols matrix of pairs of doubles. */
  public static Layout complex128(long rows, long cols) {
    return of(Dtype.COMPLEX128, rows, cols);
  }

  /** Which elements exist. */
  public Layout fill(Fill fill) {
    return new Layout(dtype, fill, diag, order, storage, rows, cols, ld, batchCount, batchStride);
  }

  /** Whether the diagonal is stored or counts as 1. */
  public Layout diag(Diag diag) {
    return new Layout(dtype, fill, diag, order, storage, rows, cols, ld, batchCount, batchStride);
  }

  /** Rows or columns are contiguous. */
  public Layout order(Order order) {
    return new Layout(dtype, fill, diag, order, storage, rows, cols, ld, batchCount, batchStride);
  }

  /** Lines with a stride, or only the triangle without gaps. */
  public Layout storage(Storage storage) {
    return new Layout(dtype, fill, diag, order, storage, rows, cols, ld, batchCount, batchStride);
  }

  /** Elements from one line (a row in row order, a column in column order) to the next; 0: the line's length. */
  public Layout ld(long ld) {
    return new Layout(dtype, fill, diag, order, storage, rows, cols, ld, batchCount, batchStride);
  }

  /** A batch of {@code count} matrices whose first elements lie {@code stride} elements apart; stride 0 on an input uses one matrix for all. */
  public Layout batch(long count, long stride) {
    return new Layout(dtype, fill, diag, order, storage, rows, cols, ld, count, stride);
  }

  /**
   * A batch of {@code count} matrices one directly behind the other, of the fill, storage and ld that this layout has now: those come first.
   *
   * @throws IllegalArgumentException if the matrices need more than 2^63 - 1 elements
   */
  public Layout batch(long count) {
    final BigInteger stride = new Layout(dtype, fill, diag, order, storage, rows, cols, ld, 1, 0).elements();
    if (stride.bitLength() > 63) throw Check.refuse("Layout.batch", "count", "must leave the stride below 2^63, got a matrix of " + stride + " elements");
    return batch(count, stride.longValue());
  }

  public Dtype dtype() {
    return dtype;
  }

  public Fill fill() {
    return fill;
  }

  public Diag diag() {
    return diag;
  }

  public Order order() {
    return order;
  }

  public Storage storage() {
    return storage;
  }

  public long rows() {
    return rows;
  }

  public long cols() {
    return cols;
  }

  /** As it was given; a layout that came from {@link Matrix#layout()} has the value that is in memory. */
  public long ld() {
    return ld;
  }

  public long batchCount() {
    return batchCount;
  }

  public long batchStride() {
    return batchStride;
  }

  /** The same matrix as the library lays it out by itself: tight lines, tight batches. */
  Layout tight() {
    final Layout one = ld(0).batch(1, 0);
    return batchCount > 1 ? one.batch(batchCount) : one;
  }

  /**
   * Elements from the first one to one past the last, as exact as the numbers may be large; 0 where the library will refuse the layout or
   * touch nothing.
   */
  BigInteger elements() {
    final long length = order == Order.ROW ? cols : rows, count = order == Order.ROW ? rows : cols;
    if (rows <= 0 || cols <= 0 || ld < 0) return BigInteger.ZERO;
    final BigInteger one = storage == Storage.PACKED ? packedElements() : big(count - 1).multiply(big(ld == 0 ? length : ld)).add(big(length));
    return batchCount > 1 ? big(batchCount - 1).multiply(big(batchStride).abs()).add(one) : one;
  }

  private BigInteger packedElements() {
    // A trapezoid: the triangle over the diagonal's length, and full lines for the rest where there are such.
    final BigInteger diagonal = big(Math.min(rows, cols)), triangle = diagonal.multiply(diagonal.add(BigInteger.ONE)).shiftRight(1);
    final boolean more = fill == Fill.LOWER ? rows > cols : cols > rows;
    return more ? triangle.add(diagonal.multiply(big(Math.abs(rows - cols)))) : triangle;
  }

  private static BigInteger big(long value) {
    return BigInteger.valueOf(value);
  }

  long[] values() {
    return new long[] {dtype.value, fill.value, diag.value, order.value, storage.value, rows, cols, ld, batchCount, batchStride};
  }

  static Layout of(long[] v) {
    return new Layout(Dtype.of(v[0]), Fill.of(v[1]), Diag.of(v[2]), Order.of(v[3]), Storage.of(v[4]), v[5], v[6], v[7], v[8], v[9]);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Layout && Arrays.equals(values(), ((Layout) other).values());
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(values());
  }

  @Override
  public String toString() {
    return dtype + " " + fill + (diag == Diag.UNIT ? " UNIT " : " ") + rows + " x " + cols + ", " + order + (storage == Storage.PACKED ? ", PACKED" : ", ld " + ld)
        + (batchCount > 1 ? ", batch " + batchCount + " by " + batchStride : "");
  }
}
