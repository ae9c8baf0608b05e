// The kernels in GCC's vector types, for any width of register. Included only by the sources that are compiled for one instruction set each: all of it has
// internal linkage, and no other header may be used here, so that no inline function compiled for that set can replace the common one at link time.
#pragma once
#ifdef __AVX2__
#include <immintrin.h>  // its functions are always inlined
#endif

#include <utility>

#include "cpu/kernel.h"

namespace tritri::cpu {
namespace {

template <class R, int bytes>
struct Vector {
  typedef R type __attribute__((vector_size(bytes), may_alias));
};

// Whether any lane is not 0, NaN included.
template <class R, int bytes>
bool any(typename Vector<R, bytes>::type x) {
#ifdef __AVX512F__
  if constexpr (sizeof(R) == 4) return _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_NEQ_UQ) != 0;
  else return _mm512_cmp_pd_mask(x, _mm512_setzero_pd(), _CMP_NEQ_UQ) != 0;
#elif defined(__AVX2__)
  if constexpr (sizeof(R) == 4) return _mm256_movemask_ps(_mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_NEQ_UQ)) != 0;
  else return _mm256_movemask_pd(_mm256_cmp_pd(x, _mm256_setzero_pd(), _CMP_NEQ_UQ)) != 0;
#else
  bool found = false;
  for (int lane = 0; lane < bytes / static_cast<int>(sizeof(R)); ++lane) found |= x[lane] != 0;
  return found;
#endif
}

// Whether all of `count` vectors are finite: x * 0 is 0 for these alone. Four sums, so that they need not wait for each other.
template <class R, int bytes, int count>
[[gnu::always_inline]] inline bool all_finite(const typename Vector<R, bytes>::type *x) {
  typename Vector<R, bytes>::type zeros[4] = {};
#pragma GCC unroll 32
  for (int i = 0; i < count; ++i) zeros[i % 4] += x[i] * 0;
  return !any<R, bytes>((zeros[0] + zeros[1]) + (zeros[2] + zeros[3]));
}

// mr rows of nv vectors stay in registers over the whole k loop.
template <class R, int bytes, int mr, int nv>
bool real_tile(int64_t k, int64_t edge, const R *a, const R *b, R *tile, int64_t step, bool add) {
  using V = typename Vector<R, bytes>::type;
  typedef typename Vector<R, bytes>::type Unaligned __attribute__((aligned(sizeof(R))));
  constexpr int lanes = bytes / static_cast<int>(sizeof(R));
  // C's lines, by the time the sums are there.
#pragma GCC unroll 16
  for (int i = 0; i < mr; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < nv; ++j) __builtin_prefetch(tile + i * step + j * lanes, 1);
  }
  V sum[mr][nv] = {};
  static_assert(nv == 2, "an edge leaves one of two vectors");
  const auto one_vector = [&](int64_t count, int j) __attribute__((always_inline)) {
    for (int64_t l = 0; l < count; ++l, a += mr, b += nv * lanes) {
      const V row = reinterpret_cast<const V *>(b)[j];
#pragma GCC unroll 16
      for (int i = 0; i < mr; ++i) sum[i][j] += a[i] * row;
    }
  };
  one_vector(edge, 0);
  for (int64_t l = 0; l < k - (edge < 0 ? -edge : edge); ++l, a += mr, b += nv * lanes) {
    const V *row = reinterpret_cast<const V *>(b);
#pragma GCC unroll 16
    for (int i = 0; i < mr; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < nv; ++j) sum[i][j] += a[i] * row[j];
    }
  }
  one_vector(-edge, 1);
#pragma GCC unroll 16
  for (int i = 0; i < mr; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < nv; ++j) {
      Unaligned &out = *reinterpret_cast<Unaligned *>(tile + i * step + j * lanes);
      if (add) sum[i][j] = out + sum[i][j];
      out = sum[i][j];
    }
  }
  return all_finite<R, bytes, mr * nv>(&sum[0][0]);
}

template <class R, int bytes, int mr, int nv>
bool complex_tile(int64_t k, int64_t edge, const R *a, const R *b, R *tile, int64_t, bool add) {
  using V = typename Vector<R, bytes>::type;
  constexpr int lanes = bytes / static_cast<int>(sizeof(R));
  V re[mr][nv] = {}, im[mr][nv] = {};
  static_assert(nv == 2, "an edge leaves one of two vectors");
  const auto steps = [&](int64_t count, bool first, bool second) __attribute__((always_inline)) {
    for (int64_t l = 0; l < count; ++l, a += 2 * mr, b += 2 * nv * lanes) {
      const V *row = reinterpret_cast<const V *>(b);
      const auto multiply = [&](int i, int j) __attribute__((always_inline)) {
        re[i][j] += a[i] * row[j];
        im[i][j] += a[i] * row[nv + j];
        re[i][j] -= a[mr + i] * row[nv + j];
        im[i][j] += a[mr + i] * row[j];
      };
#pragma GCC unroll 16
      for (int i = 0; i < mr; ++i) {
        if (first) multiply(i, 0);
        if (second) multiply(i, 1);
      }
    }
  };
  steps(edge, true, false);
  steps(k - (edge < 0 ? -edge : edge), true, true);
  steps(-edge, false, true);
  V *out = reinterpret_cast<V *>(tile);
#pragma GCC unroll 16
  for (int i = 0; i < mr; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < nv; ++j) {
      V &r = out[i * nv + j], &m = out[(mr + i) * nv + j];
      r = add ? r + re[i][j] : re[i][j];
      m = add ? m + im[i][j] : im[i][j];
    }
  }
  return all_finite<R, bytes, 2 * mr * nv>(out);
}

// Some lanes of a vector; memory beside them is not touched.
template <class R, int bytes>
struct Part {
  using V = typename Vector<R, bytes>::type;
#ifdef __AVX512F__
  std::conditional_t<sizeof(R) == 4, __mmask16, __mmask8> mask;
  V load(const R *from) const {
    if constexpr (sizeof(R) == 4) return _mm512_maskz_loadu_ps(mask, from);
    else return _mm512_maskz_loadu_pd(mask, from);
  }
  void store(R *to, V x) const {
    if constexpr (sizeof(R) == 4) _mm512_mask_storeu_ps(to, mask, x);
    else _mm512_mask_storeu_pd(to, mask, x);
  }
#elif defined(__AVX2__)
  __m256i mask;
  V load(const R *from) const {
    if constexpr (sizeof(R) == 4) return _mm256_maskload_ps(from, mask);
    else return _mm256_maskload_pd(from, mask);
  }
  void store(R *to, V x) const {
    if constexpr (sizeof(R) == 4) _mm256_maskstore_ps(to, mask, x);
    else _mm256_maskstore_pd(to, mask, x);
  }
#else
  int begin, end;
  V load(const R *from) const {
    V x = {};
    for (int lane = begin; lane < end; ++lane) x[lane] = from[lane];
    return x;
  }
  void store(R *to, V x) const {
    for (int lane = begin; lane < end; ++lane) to[lane] = x[lane];
  }
#endif
};

// Which lanes of a row's vectors a band holds. They are compared with its ends all at once: no branches, nothing to mispredict.
template <class R, int bytes>
class Window {
 public:
  explicit Window(const Band &band)
      : begin_(all(band.begin)), begin_step_(all(band.begin_step)), end_(all(band.end)), end_step_(all(band.end_step)), limit_(all(band.limit)) {}

  // The row's next vector, of which so many lanes count.
  Part<R, bytes> next(int64_t count = lanes) {
    const Part<R, bytes> part = held(begin_, end_ < limit_ ? end_ : limit_);
    at_ += static_cast<Int>(count);
    return part;
  }

  void next_row() {
    at_ = first();
    begin_ += begin_step_;
    end_ += end_step_;
  }

 private:
  using Int = std::conditional_t<sizeof(R) == 4, int32_t, int64_t>;
  static constexpr int lanes = bytes / static_cast<int>(sizeof(R));
#ifdef __AVX2__
  typedef Int Ints __attribute__((vector_size(bytes)));
  static Ints all(int64_t x) { return Ints{} + static_cast<Int>(x); }
  static Ints first() {
    Ints x;
    for (int i = 0; i < lanes; ++i) x[i] = i;
    return x;
  }
#ifdef __AVX512F__
  Part<R, bytes> held(Ints begin, Ints end) const {
    const __m512i x = reinterpret_cast<__m512i>(at_), from = reinterpret_cast<__m512i>(begin), to = reinterpret_cast<__m512i>(end);
    if constexpr (sizeof(R) == 4) return {_mm512_mask_cmplt_epi32_mask(_mm512_cmpge_epi32_mask(x, from), x, to)};
    else return {_mm512_mask_cmplt_epi64_mask(_mm512_cmpge_epi64_mask(x, from), x, to)};
  }
#else
  Part<R, bytes> held(Ints begin, Ints end) const { return {reinterpret_cast<__m256i>((at_ >= begin) & (at_ < end))}; }
#endif
  Ints at_ = first(), begin_, begin_step_, end_, end_step_, limit_;
#else
  static int64_t all(int64_t x) { return x; }
  static int64_t first() { return 0; }
  Part<R, bytes> held(int64_t begin, int64_t end) const {
    const int64_t from = begin < at_ ? 0 : begin > at_ + lanes ? lanes : begin - at_;
    return {static_cast<int>(from), static_cast<int>(end < at_ + from ? from : end > at_ + lanes ? lanes : end - at_)};
  }
  int64_t at_ = 0, begin_, begin_step_, end_, end_step_, limit_;
#endif
};

template <class R, int bytes>
void load_band(const BandCopy<R> &given) {
  typedef typename Vector<R, bytes>::type Unaligned __attribute__((aligned(sizeof(R))));
  constexpr int64_t lanes = bytes / static_cast<int64_t>(sizeof(R)), per_cache_line = 64 / static_cast<int64_t>(sizeof(R)), ahead = 16;
  const BandCopy<R> x = given;  // where no store can change it
  Window<R, bytes> window(x.band);
  const int64_t whole = x.panel / lanes * lanes, rest = x.panel - whole;
  const Part<R, bytes> room = Window<R, bytes>({0, 0, rest, 0, rest}).next();
  const R *from = x.from;
  R *to = x.to;
  int64_t step = x.from_step;
  for (int64_t row = 0; row < x.rows; ++row) {
    if (x.far) {
      for (int64_t at = 0; at < x.width; at += per_cache_line) __builtin_prefetch(from + ahead * step + at);
    }
    R *panel = to;
    for (int64_t at = 0; at < x.width; at += x.panel, panel += x.panel_step) {
      for (int64_t i = 0; i < whole; i += lanes) *reinterpret_cast<Unaligned *>(panel + i) = window.next().load(from + at + i);
      if (rest > 0) room.store(panel + whole, window.next(rest).load(from + at + whole));
    }
    window.next_row();
    from += step;
    to += x.to_step;
    step = step + x.growth < x.longest_step ? step + x.growth : x.longest_step;
  }
}

// Lanes of two vectors in turn: the first halves of both, or the second ones.
template <class R, int bytes, bool second, int... lane>
[[gnu::always_inline]] inline typename Vector<R, bytes>::type interleaved(typename Vector<R, bytes>::type x, typename Vector<R, bytes>::type y, std::integer_sequence<int, lane...>) {
  typedef std::conditional_t<sizeof(R) == 4, int32_t, int64_t> Lanes __attribute__((vector_size(bytes)));
  constexpr int lanes = sizeof...(lane);
  return __builtin_shuffle(x, y, Lanes{(lane % 2 * lanes + lane / 2 + (second ? lanes / 2 : 0))...});
}

// As many vectors as each has lanes, transposed: a perfect shuffle for every bit of their number.
template <class R, int bytes, int stages = bytes / static_cast<int>(sizeof(R))>
[[gnu::always_inline]] inline void transpose(typename Vector<R, bytes>::type *x) {
  if constexpr (stages > 1) {
    using V = typename Vector<R, bytes>::type;
    constexpr int lanes = bytes / static_cast<int>(sizeof(R));
    constexpr std::make_integer_sequence<int, lanes> all;
    V y[lanes];
#pragma GCC unroll 16
    for (int i = 0; i < lanes / 2; ++i) {
      y[2 * i] = interleaved<R, bytes, false>(x[i], x[i + lanes / 2], all);
      y[2 * i + 1] = interleaved<R, bytes, true>(x[i], x[i + lanes / 2], all);
    }
    transpose<R, bytes, stages / 2>(y);
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) x[i] = y[i];
  }
}

// Up to a vector's number of rows, as many positions at a time: their columns go `to_step` apart, the first `room` numbers of each.
template <class R, int bytes>
[[gnu::always_inline]] inline void load_block_across(const R *const *row, int64_t live, int64_t at, int64_t positions, const Band *band, int64_t room, R *to, int64_t to_step) {
  typedef typename Vector<R, bytes>::type Unaligned __attribute__((aligned(sizeof(R))));
  constexpr int lanes = bytes / static_cast<int>(sizeof(R));
  typename Vector<R, bytes>::type x[lanes] = {};
  if (!band) {
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) {
      if (i < live) x[i] = *reinterpret_cast<const Unaligned *>(row[i] + at);
    }
  } else {
    Window<R, bytes> window(*band);
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i, window.next_row()) {
      if (i < live) x[i] = window.next().load(row[i] + at);
    }
  }
  transpose<R, bytes>(x);
  if (room >= lanes) {
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) {
      if (i < positions) *reinterpret_cast<Unaligned *>(to + i * to_step) = x[i];
    }
  } else {
    const Part<R, bytes> part = Window<R, bytes>({0, 0, room, 0, room}).next();
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) {
      if (i < positions) part.store(to + i * to_step, x[i]);
    }
  }
}

// The band of some rows as columns: position p of row r becomes number r of to[p to_step], of which all to_step are written. `width` positions.
template <class R, int bytes>
void load_across(const BandCopy<R> &given) {
  constexpr int64_t lanes = bytes / static_cast<int64_t>(sizeof(R)), most = 4 * lanes;
  const BandCopy<R> x = given;
  const R *row[most];
  const R *from = x.from;
  int64_t step = x.from_step;
  for (int64_t i = 0; i < x.rows; ++i) {
    row[i] = from;
    from += step;
    step = step + x.growth < x.longest_step ? step + x.growth : x.longest_step;
  }
  const auto least = [](int64_t u, int64_t v) { return u < v ? u : v; };
  for (int64_t at = 0; at < x.width; at += lanes) {
    for (int64_t i = 0; i < x.to_step; i += lanes) {
      const int64_t live = least(lanes, x.rows - i), last = i + (live > 0 ? live - 1 : 0);
      const Band band{x.band.begin + i * x.band.begin_step - at, x.band.begin_step, x.band.end + i * x.band.end_step - at, x.band.end_step, x.band.limit - at};
      const bool whole = x.band.begin + last * x.band.begin_step <= at && least(band.end, band.limit) >= lanes;
      load_block_across<R, bytes>(row + i, live, at, x.width - at, whole ? nullptr : &band, x.to_step - i, x.to + at * x.to_step + i, x.to_step);
    }
  }
}

template <class R, int bytes>
void store_band(const BandCopy<R> &given) {
  typedef typename Vector<R, bytes>::type Unaligned __attribute__((aligned(sizeof(R))));
  constexpr int64_t lanes = bytes / static_cast<int64_t>(sizeof(R));
  const BandCopy<R> x = given;
  Window<R, bytes> window(x.band);
  const R *from = x.from;
  R *to = x.to;
  int64_t step = x.to_step;
  for (int64_t row = 0; row < x.rows; ++row) {
    for (int64_t at = 0; at < x.width; at += lanes) window.next().store(to + at, *reinterpret_cast<const Unaligned *>(from + at));
    window.next_row();
    from += x.from_step;
    to += step;
    step = step + x.growth < x.longest_step ? step + x.growth : x.longest_step;
  }
}

// Loops that the compiler makes vectors of.
inline void widen_bfloat16(const uint16_t *from, float *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t bits = static_cast<uint32_t>(from[i]) << 16;
    __builtin_memcpy(to + i, &bits, sizeof bits);
  }
}

inline void narrow_bfloat16(const float *from, uint16_t *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    uint32_t bits;
    __builtin_memcpy(&bits, from + i, sizeof bits);
    const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16, quiet = (bits >> 16) | 0x40u;
    to[i] = static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
  }
}

#ifdef __AVX512F__
// By the processor, which keeps subnormal numbers whatever the caller's modes are. Masks of all lanes: without, GCC 12 warns of its own header.
constexpr __mmask16 every = 0xffff;
inline void widen_float16(const uint16_t *from, float *to, int64_t count) {
  for (; count >= 16; from += 16, to += 16, count -= 16) _mm512_storeu_ps(to, _mm512_maskz_cvtph_ps(every, _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from))));
  if (count == 0) return;
  alignas(32) uint16_t rest[16] = {};
  __builtin_memcpy(rest, from, static_cast<size_t>(count) * sizeof *rest);
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1), _mm512_maskz_cvtph_ps(every, _mm256_load_si256(reinterpret_cast<const __m256i *>(rest))));
}

inline void narrow_float16(const float *from, uint16_t *to, int64_t count) {
  constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  for (; count >= 16; from += 16, to += 16, count -= 16) _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), _mm512_maskz_cvtps_ph(every, _mm512_loadu_ps(from), nearest));
  if (count == 0) return;
  alignas(32) uint16_t rest[16];
  _mm256_store_si256(reinterpret_cast<__m256i *>(rest), _mm512_maskz_cvtps_ph(every, _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), from), nearest));
  __builtin_memcpy(to, rest, static_cast<size_t>(count) * sizeof *rest);
}
#else
constexpr void (*widen_float16)(const uint16_t *, float *, int64_t) = nullptr;
constexpr void (*narrow_float16)(const float *, uint16_t *, int64_t) = nullptr;
#endif

template <class R>
constexpr HalfKernel<R> half_kernel() {
  if constexpr (sizeof(R) == 4) return {{widen_float16, widen_bfloat16}, {narrow_float16, narrow_bfloat16}};
  else return {};
}

template <class R, int bytes>
void stream(const R *from, R *to, int64_t count) {
  int64_t at = 0;
#ifdef __AVX2__
  constexpr int64_t line = 64 / static_cast<int64_t>(sizeof(R)), lanes = bytes / static_cast<int64_t>(sizeof(R));
  for (; at < count && reinterpret_cast<uintptr_t>(to + at) % 64 != 0; ++at) to[at] = from[at];
  for (; at + line <= count; at += line) {
    for (int64_t i = at; i < at + line; i += lanes) {
#ifdef __AVX512F__
      _mm512_stream_si512(reinterpret_cast<__m512i *>(to + i), _mm512_loadu_si512(from + i));
#else
      _mm256_stream_si256(reinterpret_cast<__m256i *>(to + i), _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + i)));
#endif
    }
  }
#endif
  for (; at < count; ++at) to[at] = from[at];
}

inline void settle() {
#ifdef __AVX2__
  _mm_sfence();
#endif
}

// Writes the sums; says whether all are finite.
template <class R, int bytes, int rows>
[[gnu::always_inline]] inline bool small_store(const SmallTile<R> &x, const typename Vector<R, bytes>::type *sum) {
  typedef typename Vector<R, bytes>::type Unaligned __attribute__((aligned(sizeof(R))));
  R *c = x.c;
  const int64_t step = x.c_step, live = x.rows;
  if (x.whole && live == rows) {
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i, c += step) *reinterpret_cast<Unaligned *>(c) = sum[i];
  } else {
    Window<R, bytes> window(x.band);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i, c += step, window.next_row()) {
      const Part<R, bytes> part = window.next();
      if (i < live) part.store(c, sum[i]);
    }
  }
  return all_finite<R, bytes, rows>(sum);
}

// Packed rows; a vector of columns.
template <class R, int bytes, int rows>
bool small_tile(const SmallTile<R> &x) {
  using V = typename Vector<R, bytes>::type;
  V sum[rows] = {};
  const R *a = x.a, *b = x.b;
  const int64_t b_step = x.b_step;
  for (int64_t l = 0; l < x.k; ++l, ++a, b += b_step) {
    const V row = *reinterpret_cast<const V *>(b);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) sum[i] += a[i * SmallKernel<R>::row_step] * row;
  }
  return small_store<R, bytes, rows>(x, sum);
}

// Sums of a row: of A's numbers times B's rows; where elements are complex, of their real parts and of their imaginary parts, times B's rows as they lie.
template <class R, int bytes, int rows, int planes>
struct RowSums {
  using V = typename Vector<R, bytes>::type;
  V sum[planes][rows] = {};

  [[gnu::always_inline]] inline void add(int i, const R *a, V row) {
    sum[0][i] += a[0] * row;
    if constexpr (planes == 2) sum[1][i] += a[1] * row;
  }

  // Into sum[0]: (u + iv) times rows of x + iy, where u and v were multiplied apart.
  [[gnu::always_inline]] inline void join() {
    if constexpr (planes == 2) {
      constexpr int lanes = bytes / static_cast<int>(sizeof(R));
      typedef std::conditional_t<sizeof(R) == 4, int32_t, int64_t> Lanes __attribute__((vector_size(bytes)));
      V sign = {};
      Lanes other = {};
      for (int lane = 0; lane < lanes; ++lane) sign[lane] = lane % 2 ? R(1) : R(-1), other[lane] = lane ^ 1;
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i) sum[0][i] += sign * __builtin_shuffle(sum[1][i], other);
    }
  }
};

// A where the caller has it, complex numbers as two each: rows of it, or columns where it is transposed.
template <class R, int planes, bool transposed>
struct InPlace {
  const R *data;
  int64_t step;  // from row to row, or from column to column

  [[gnu::always_inline]] inline const R *at(int i, int64_t k) const { return transposed ? data + i * planes + k * step : data + i * step + k * planes; }
};

// Steps `d` to rows - 1 through A's diagonal, in which only the rows up to (upper) or from (lower) the step's hold something; those in [begin, end) exist.
template <class R, int bytes, bool upper, int rows, int planes, int d, class A>
[[gnu::always_inline]] inline void diagonal_steps(RowSums<R, bytes, rows, planes> &sums, const A &a, const R *b, int64_t b_step, int64_t begin, int64_t end) {
  using V = typename Vector<R, bytes>::type;
  if (begin <= d && d < end) {
    const V row = *reinterpret_cast<const V *>(b + d * b_step);
#pragma GCC unroll 16
    for (int i = upper ? 0 : d; i < (upper ? d + 1 : rows); ++i) sums.add(i, a.at(i, d), row);
  }
  if constexpr (d < rows - 1) diagonal_steps<R, bytes, upper, rows, planes, d + 1>(sums, a, b, b_step, begin, end);
}

template <class R, int bytes, bool upper, int rows, int planes, bool transposed>
bool small_in_place(const SmallTile<R> &x) {
  using V = typename Vector<R, bytes>::type;
  const int64_t b_step = x.b_step, k = x.k, diagonal = x.diagonal;
  const int64_t begin = !upper ? 0 : diagonal + rows < 0 ? 0 : diagonal + rows, end = upper || k < diagonal ? k : diagonal;  // of the steps in which all rows hold something
  const InPlace<R, planes, transposed> first{x.a, x.a_step};
  RowSums<R, bytes, rows, planes> sums;
  const auto through_diagonal = [&]() __attribute__((always_inline)) {
    diagonal_steps<R, bytes, upper, rows, planes, 0>(sums, InPlace<R, planes, transposed>{first.at(0, diagonal), first.step}, x.b + diagonal * b_step, b_step, -diagonal, k - diagonal);
  };
  if (upper) through_diagonal();
  InPlace<R, planes, transposed> a{first.at(0, begin), first.step};
  const R *b = x.b + begin * b_step;
  for (int64_t l = begin; l < end; ++l, a.data = a.at(0, 1), b += b_step) {
    const V row = *reinterpret_cast<const V *>(b);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) sums.add(i, a.at(i, 0), row);
  }
  if (!upper) through_diagonal();
  sums.join();
  return small_store<R, bytes, rows>(x, sums.sum[0]);
}

template <class R, int bytes, int mr, int planes>
constexpr SmallInPlace<R> in_place() {
  return {{{small_in_place<R, bytes, false, mr, planes, false>, small_in_place<R, bytes, true, mr, planes, false>},
           {small_in_place<R, bytes, false, mr, planes, true>, small_in_place<R, bytes, true, mr, planes, true>}}};
}

template <class R, int bytes>
constexpr SmallKernel<R> small_kernel() {
  return {8, bytes / static_cast<int>(sizeof(R)),
          {small_tile<R, bytes, 1>, small_tile<R, bytes, 2>, small_tile<R, bytes, 3>, small_tile<R, bytes, 4>, small_tile<R, bytes, 5>, small_tile<R, bytes, 6>, small_tile<R, bytes, 7>},
          in_place<R, bytes, 8, 1>(), load_band<R, bytes>, load_across<R, bytes>, store_band<R, bytes>, stream<R, bytes>, settle, half_kernel<R>()};
}

template <class R, int bytes, int mr>
constexpr SmallKernel<std::complex<R>> small_complex_kernel() {
  return {mr, bytes / static_cast<int>(sizeof(R)), {}, in_place<R, bytes, mr, 2>(), load_band<R, bytes>, load_across<R, bytes>, store_band<R, bytes>, stream<R, bytes>, settle, half_kernel<R>()};
}

// A set for registers of `bytes`: tiles of mr x 2 registers of reals, cr x 2 of complex numbers; small ones of 8 x 1 and 2 cr x 1.
template <int bytes, int mr, int cr>
constexpr KernelSet vector_kernels(const char *name) {
  constexpr int f = bytes / static_cast<int>(sizeof(float)), d = bytes / static_cast<int>(sizeof(double)), sr = cr < 4 ? 2 * cr : 8;
  return {name,
          {mr, 2 * f, real_tile<float, bytes, mr, 2>},
          {mr, 2 * d, real_tile<double, bytes, mr, 2>},
          {cr, 2 * f, complex_tile<float, bytes, cr, 2>},
          {cr, 2 * d, complex_tile<double, bytes, cr, 2>},
          small_kernel<float, bytes>(),
          small_kernel<double, bytes>(),
          small_complex_kernel<float, bytes, sr>(),
          small_complex_kernel<double, bytes, sr>()};
}

}  // namespace
}  // namespace tritri::cpu
