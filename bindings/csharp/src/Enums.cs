using Tritri.Internal;

namespace Tritri
{
    /// <summary>The type of a matrix's elements, and which C# type holds them.</summary>
    public enum Dtype
    {
        /// <summary>IEEE binary32: <c>float</c>.</summary>
        Float32 = TritriNative.TRITRI_FLOAT32,
        /// <summary>IEEE binary64: <c>double</c>.</summary>
        Float64 = TritriNative.TRITRI_FLOAT64,
        /// <summary>Two <c>float</c>s an element, real part first.</summary>
        Complex64 = TritriNative.TRITRI_COMPLEX64,
        /// <summary><see cref="System.Numerics.Complex"/>, or two <c>double</c>s an element, real part first.</summary>
        Complex128 = TritriNative.TRITRI_COMPLEX128,
        /// <summary>IEEE binary16 as bits: <c>ushort</c>. Products accumulate in float32.</summary>
        Float16 = TritriNative.TRITRI_FLOAT16,
        /// <summary>The upper half of a float's bits: <c>ushort</c>. Products accumulate in float32.</summary>
        BFloat16 = TritriNative.TRITRI_BFLOAT16
    }

    /// <summary>Which elements of a matrix exist, as it is stored, before any <see cref="Op"/>. No other element is read, written or computed with.</summary>
    public enum Fill
    {
        /// <summary>All of them.</summary>
        Full = TritriNative.TRITRI_FILL_FULL,
        /// <summary>Element (i, j) where i &gt;= j.</summary>
        Lower = TritriNative.TRITRI_FILL_LOWER,
        /// <summary>Element (i, j) where i &lt;= j.</summary>
        Upper = TritriNative.TRITRI_FILL_UPPER
    }

    /// <summary>Whether a matrix stores its diagonal.</summary>
    public enum Diag
    {
        /// <summary>The diagonal is stored.</summary>
        NonUnit = TritriNative.TRITRI_DIAG_NON_UNIT,
        /// <summary>The stored diagonal is never read and counts as 1; for inputs only.</summary>
        Unit = TritriNative.TRITRI_DIAG_UNIT
    }

    /// <summary>What the product does to an operand, after its <see cref="Fill"/> has been applied.</summary>
    public enum Op
    {
        /// <summary>Nothing.</summary>
        None = TritriNative.TRITRI_OP_NONE,
        /// <summary>Transposes.</summary>
        Transpose = TritriNative.TRITRI_OP_TRANSPOSE,
        /// <summary>Transposes and conjugates.</summary>
        ConjTranspose = TritriNative.TRITRI_OP_CONJ_TRANSPOSE,
        /// <summary>Conjugates without transposing.</summary>
        Conj = TritriNative.TRITRI_OP_CONJ
    }

    /// <summary>Which elements lie next to each other in memory.</summary>
    public enum Order
    {
        /// <summary>Those of a row: element (i, j) is at i * ld + j. The order of C#'s own arrays.</summary>
        Row = TritriNative.TRITRI_ORDER_ROW,
        /// <summary>Those of a column: element (i, j) is at i + j * ld.</summary>
        Column = TritriNative.TRITRI_ORDER_COLUMN
    }

    /// <summary>How the lines of a matrix stand in memory.</summary>
    public enum Storage
    {
        /// <summary>Lines are ld elements apart.</summary>
        Strided = TritriNative.TRITRI_STORAGE_STRIDED,
        /// <summary>Only the triangle is stored, line after line without gaps; needs fill Lower or Upper.</summary>
        Packed = TritriNative.TRITRI_STORAGE_PACKED
    }

    /// <summary>How float32 products are computed; the other types accept <see cref="Default"/> only.</summary>
    public enum Compute
    {
        /// <summary>As accurate as IEEE float32 FMA accumulation, by whatever route is fastest.</summary>
        Default = TritriNative.TRITRI_COMPUTE_DEFAULT,
        /// <summary>IEEE float32 FMA and nothing else.</summary>
        Pedantic = TritriNative.TRITRI_COMPUTE_PEDANTIC,
        /// <summary>Both inputs rounded to TF32, float32 accumulation.</summary>
        Tf32 = TritriNative.TRITRI_COMPUTE_TF32
    }

    /// <summary>Who computes a product.</summary>
    public enum Algorithm
    {
        /// <summary>The fastest.</summary>
        Auto = TritriNative.TRITRI_ALGORITHM_AUTO,
        /// <summary>This library's own kernels.</summary>
        Kernel = TritriNative.TRITRI_ALGORITHM_KERNEL,
        /// <summary>cuBLAS; contexts on CUDA only.</summary>
        Cublas = TritriNative.TRITRI_ALGORITHM_CUBLAS
    }

    /// <summary>Where a context computes.</summary>
    public enum Device
    {
        /// <summary>What the environment variable TRITRI_DEVICE says, else the first CUDA device, else the CPU.</summary>
        Auto = TritriNative.TRITRI_DEVICE_AUTO,
        /// <summary>The processor.</summary>
        Cpu = TritriNative.TRITRI_DEVICE_CPU,
        /// <summary>An NVIDIA GPU.</summary>
        Cuda = TritriNative.TRITRI_DEVICE_CUDA
    }
}
