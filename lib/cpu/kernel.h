// The innermost loops: a small tile of C from one packed panel of A and one of B. Everything around them is written once, for any kernel.
#pragma once
#include <complex>
#include <cstdint>
#include <type_traits>

namespace tritri::cpu {

template <class W> struct RealOf { using type = W; };
template <class R> struct RealOf<std::complex<R>> { using type = R; };

// Tiles of mr x nr elements of W (float, double or complex of them). A panel holds, for one k after the other, mr numbers of A, respectively nr of
// B; complex numbers as mr real parts, then mr imaginary parts. The tile lies row by row, complex ones as all real parts, then all imaginary ones.
template <class W>
struct Kernel {
  using R = typename RealOf<W>::type;
  static constexpr int planes = std::is_same_v<W, R> ? 1 : 2;  // numbers per element

  int mr, nr;
  // tile (+)= sum over k of a's column times b's row; says whether all of the tile is finite. B's panel is aligned to 64 bytes. Rows of the tile are `step` apart,
  // of a complex one nr. In the first `edge` k B holds nothing in the second half of its columns, or, where it is negative, in the last -edge k nothing in the first half: those are
  // left out.
  bool (*run)(int64_t k, int64_t edge, const R *a, const R *b, R *tile, int64_t step, bool add);

  constexpr int64_t tile_numbers() const { return int64_t{mr} * nr * planes; }
};

// Rows of numbers with zeros beside them: row r holds positions [begin + r begin_step, end + r end_step), cut to [0, limit). Only these are read, respectively written.
// All within 2^30 of 0.
struct Band {
  int64_t begin, begin_step, end, end_step, limit;
};

// Moves the band of some rows between the caller's memory and rows of `width` numbers of ours. Loading writes zeros beside the band, storing nothing. When loading, ours are
// parts of rows, in as many panels; `width` is a multiple of theirs.
template <class R>
struct BandCopy {
  Band band;
  const R *from;
  R *to;
  int64_t from_step, to_step;    // to the next row
  int64_t growth, longest_step;  // the caller's step grows with every row, as in packed storage, up to the longest
  int64_t rows, width;
  int64_t panel, panel_step;     // numbers of a row that go together, and from there to the next ones
  bool far;                      // loading from beyond the near caches: ask for rows ahead
};

// C's tile of some rows and a vector of columns = A's rows times B's panel, for products that fit the first-level cache.
template <class R>
struct SmallTile {
  int64_t k, rows;
  const R *a, *b;
  int64_t b_step;            // from k to k
  int64_t a_step, diagonal;  // where A lies as the caller has it: between rows (columns if transposed), and the k at which its diagonal enters the tile, counted from the first
  R *c;
  int64_t c_step;
  bool whole;                // all of the tile is written, otherwise the band
  Band band;
};

// Tiles of A where the caller has it.
template <class R>
struct SmallInPlace {
  bool (*run[2][2])(const SmallTile<R> &);  // [transposed][upper]; a full A is taken as a lower one
};

// From 16 bits to numbers and back, rounding to nearest even: [0] float16, [1] bfloat16. NULL where nothing is faster than one by one.
template <class R>
struct HalfKernel {
  void (*widen[2])(const uint16_t *from, R *to, int64_t count);
  void (*narrow[2])(const R *from, uint16_t *to, int64_t count);
};

// What small products take: tiles of up to mr rows x nr numbers (a vector).
template <class W>
struct SmallKernel {
  using R = typename RealOf<W>::type;
  static constexpr int64_t row_step = 256 + 64 / int64_t{sizeof(R)};  // between packed rows: an odd number of cache lines, so that they do not evict each other

  int mr, nr;
  // Each says whether all of the tile is finite. in_place: mr rows of A where the caller has them, or packed likewise; by_row[rows - 1]: fewer, packed in rows, row_step apart. Complex
  // numbers, in place alone, lie as the caller has them, A and B and C: real and imaginary parts in turn, nr / 2 columns in a tile.
  bool (*by_row[7])(const SmallTile<R> &);
  SmallInPlace<R> in_place;
  void (*load)(const BandCopy<R> &);
  void (*load_across)(const BandCopy<R> &);
  void (*store)(const BandCopy<R> &);
  // Copies numbers past the caches, where the processor can; other threads may look for them after a `settle`.
  void (*stream)(const R *from, R *to, int64_t count);
  void (*settle)();
  HalfKernel<R> half;
};

struct KernelSet {
  const char *name;
  Kernel<float> f32;
  Kernel<double> f64;
  Kernel<std::complex<float>> c64;
  Kernel<std::complex<double>> c128;
  SmallKernel<float> small_f32;
  SmallKernel<double> small_f64;
  SmallKernel<std::complex<float>> small_c64;
  SmallKernel<std::complex<double>> small_c128;

  template <class W>
  const Kernel<W> &of() const {
    if constexpr (std::is_same_v<W, float>) return f32;
    else if constexpr (std::is_same_v<W, double>) return f64;
    else if constexpr (std::is_same_v<W, std::complex<float>>) return c64;
    else return c128;
  }
  template <class W>
  const SmallKernel<W> &small() const {
    if constexpr (std::is_same_v<W, float>) return small_f32;
    else if constexpr (std::is_same_v<W, double>) return small_f64;
    else if constexpr (std::is_same_v<W, std::complex<float>>) return small_c64;
    else return small_c128;
  }
};

// Each is NULL where this processor or this build lacks it.
const KernelSet *avx512_kernels();
const KernelSet *avx2_kernels();
const KernelSet *generic_kernels();  // never NULL

// The fastest of them here. Depends on nothing but the processor, so that results do not change within a machine.
const KernelSet &best_kernels();

}  // namespace tritri::cpu
