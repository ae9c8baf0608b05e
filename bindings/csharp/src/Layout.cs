using System;
using System.Numerics;

namespace Tritri
{
    /// <summary>
    /// What a matrix holds and how its elements lie in memory. Immutable: each method that changes something gives a new layout.
    /// All sizes are 64 bits wide and count elements. Wrong values are refused by the call that uses the layout.
    /// </summary>
    /// <example><code>Layout lower = Layout.Float64(n, n).WithFill(Fill.Lower);</code></example>
    public sealed class Layout : IEquatable<Layout>
    {
        private readonly long[] values;

        internal Layout(long[] values)
        {
            this.values = values;
        }

        /// <summary>A full, row-major matrix with tight lines.</summary>
        public Layout(Dtype dtype, long rows, long cols)
            : this(new long[] { (long)dtype, (long)Fill.Full, (long)Diag.NonUnit, (long)Order.Row, (long)Storage.Strided, rows, cols, 0, 1, 0 })
        {
        }

        /// <summary>A full, row-major matrix of <c>float</c>.</summary>
        public static Layout Float32(long rows, long cols) { return new Layout(Dtype.Float32, rows, cols); }

        /// <summary>A full, row-major matrix of <c>double</c>.</summary>
        public static Layout Float64(long rows, long cols) { return new Layout(Dtype.Float64, rows, cols); }

        /// <summary>A full, row-major matrix of pairs of <c>float</c>.</summary>
        public static Layout Complex64(long rows, long cols) { return new Layout(Dtype.Complex64, rows, cols); }

        /// <summary>A full, row-major matrix of <see cref="Complex"/>.</summary>
        public static Layout Complex128(long rows, long cols) { return new Layout(Dtype.Complex128, rows, cols); }

        /// <summary>Which elements exist.</summary>
        public Layout WithFill(Fill fill) { return With(1, (long)fill); }

        /// <summary>Whether the diagonal is stored or counts as 1.</summary>
        public Layout WithDiag(Diag diag) { return With(2, (long)diag); }

        /// <summary>Rows or columns are contiguous.</summary>
        public Layout WithOrder(Order order) { return With(3, (long)order); }

        /// <summary>Lines with a stride, or only the triangle without gaps.</summary>
        public Layout WithStorage(Storage storage) { return With(4, (long)storage); }

        /// <summary>Elements from one line to the next; 0: the line's length.</summary>
        public Layout WithLd(long ld) { return With(7, ld); }

        /// <summary>A batch whose matrices begin <paramref name="stride"/> elements apart; stride 0 on an input uses one matrix for all.</summary>
        public Layout WithBatch(long count, long stride) { return With(8, count).With(9, stride); }

        /// <summary>
        /// A batch of <paramref name="count"/> matrices one directly behind the other, of the fill, storage and ld that this layout has now: those come first.
        /// </summary>
        public Layout WithBatch(long count)
        {
            BigInteger stride = WithBatch(1, 0).Elements();
            if (stride > long.MaxValue) throw Check.Refuse("Layout.WithBatch", "count", "must leave the stride below 2^63, got a matrix of " + stride + " elements");
            return WithBatch(count, (long)stride);
        }

        /// <summary>The type of the elements.</summary>
        public Dtype Dtype { get { return (Dtype)values[0]; } }

        /// <summary>Which elements exist.</summary>
        public Fill Fill { get { return (Fill)values[1]; } }

        /// <summary>Whether the diagonal is stored.</summary>
        public Diag Diag { get { return (Diag)values[2]; } }

        /// <summary>Rows or columns are contiguous.</summary>
        public Order Order { get { return (Order)values[3]; } }

        /// <summary>Strided or packed.</summary>
        public Storage Storage { get { return (Storage)values[4]; } }

        /// <summary>Rows.</summary>
        public long Rows { get { return values[5]; } }

        /// <summary>Columns.</summary>
        public long Cols { get { return values[6]; } }

        /// <summary>As it was given; the layout of a <see cref="Matrix"/> has the value that is in memory.</summary>
        public long Ld { get { return values[7]; } }

        /// <summary>Matrices in the batch.</summary>
        public long BatchCount { get { return values[8]; } }

        /// <summary>Elements from one matrix of the batch to the next.</summary>
        public long BatchStride { get { return values[9]; } }

        internal long[] Values { get { return values; } }

        /// <summary>The same matrix with tight lines and, for a batch, tight matrices.</summary>
        internal Layout Tight()
        {
            Layout one = WithLd(0).WithBatch(1, 0);
            return BatchCount > 1 ? one.WithBatch(BatchCount) : one;
        }

        /// <summary>Elements from the first to one past the last; 0 where the library will refuse the layout or touch nothing.</summary>
        internal BigInteger Elements()
        {
            long length = Order == Order.Row ? Cols : Rows, count = Order == Order.Row ? Rows : Cols;
            if (Rows <= 0 || Cols <= 0 || Ld < 0) return BigInteger.Zero;
            BigInteger one = Storage == Storage.Packed ? PackedElements() : new BigInteger(count - 1) * (Ld == 0 ? length : Ld) + length;
            return BatchCount > 1 ? new BigInteger(BatchCount - 1) * BigInteger.Abs(BatchStride) + one : one;
        }

        // A trapezoid: the triangle over the diagonal's length, and full lines for the rest where there are such.
        private BigInteger PackedElements()
        {
            BigInteger diagonal = Math.Min(Rows, Cols), triangle = diagonal * (diagonal + 1) / 2;
            bool more = Fill == Fill.Lower ? Rows > Cols : Cols > Rows;
            return more ? triangle + diagonal * Math.Abs(Rows - Cols) : triangle;
        }

        private Layout With(int field, long value)
        {
            long[] changed = (long[])values.Clone();
            changed[field] = value;
            return new Layout(changed);
        }

        /// <inheritdoc/>
        public bool Equals(Layout other)
        {
            if (other == null) return false;
            for (int i = 0; i < values.Length; i++)
            {
                if (values[i] != other.values[i]) return false;
            }
            return true;
        }

        /// <inheritdoc/>
        public override bool Equals(object other) { return Equals(other as Layout); }

        /// <inheritdoc/>
        public override int GetHashCode()
        {
            int hash = 17;
            foreach (long value in values) hash = unchecked(hash * 31 + value.GetHashCode());
            return hash;
        }

        /// <inheritdoc/>
        public override string ToString()
        {
            return Dtype + " " + Fill + (Diag == Diag.Unit ? " Unit " : " ") + Rows + " x " + Cols + ", " + Order +
                (Storage == Storage.Packed ? ", Packed" : ", ld " + Ld) + (BatchCount > 1 ? ", batch " + BatchCount + " by " + BatchStride : "");
        }
    }
}
