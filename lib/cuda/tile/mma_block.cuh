// The mma skeleton's unit of work: blocks of 32 lines by 32 positions of an operand, as they lie in memory. A warp copies them to shared memory
// and masks them there; fragments are read from them in either direction, so nothing is ever transposed.
//
// An operand is indexed by x (a row of op(A), a column of op(B)) and k; B is its own transpose, so that one loader serves both. What is no element
// of a block counts as zero, and a unit diagonal as one: selected while it is copied or, where a copy takes more than that, when the copy is there,
// by the lane that made it.
#pragma once
#include <cstdint>

#include "cuda/tile/sm80_mma.cuh"
#include "cuda/tile/sm80_panel.cuh"

namespace tritri::cuda {

inline constexpr int block_edge = 32;

// An operand as its lines lie.
struct BlockOperand {
  const void *data;
  int64_t ld, batch_stride;
  int count, length;   // lines, and positions in each
  int8_t profile;      // Fill, of lines: lower means that line l holds positions up to l
  bool unit;
  bool along_k;        // lines are x, positions k; else the other way round
  int8_t aligned;      // every line begins on a boundary of 16 or 4 bytes; 2: on its elements' alone

  // Of op(A); for op(B) pass its transpose.
  BlockOperand(const View &v, int64_t element_size)
      : data(v.data), ld(v.ld), batch_stride(v.batch_stride), count(static_cast<int>(v.lines().count)), length(static_cast<int>(v.lines().length)),
        profile(static_cast<int8_t>(v.lines().profile)), unit(v.unit), along_k(v.row_lines) {
    const uint64_t bits = reinterpret_cast<uintptr_t>(v.data) | static_cast<uint64_t>(v.ld * element_size) | static_cast<uint64_t>(v.batch_stride * element_size);
    aligned = bits % 16 == 0 ? 16 : bits % 4 == 0 ? 4 : 2;
  }
};

// A block in shared memory: lines are padded so that the reads of a fragment meet no bank conflict.
template <class T>
struct BlockPlace {
  static constexpr int size = static_cast<int>(sizeof(T));
  // Rows of 16 bytes for ldmatrix want an odd number of those to a line; TF32 across the lines is read word by word, four lines at a time.
  static constexpr int line_along_k = block_edge * size + 16, line_across = block_edge * size + (size == 4 ? 32 : 16);
  static constexpr int bytes = block_edge * line_across;
};

// Loads `blocks` blocks side by side along x in a turn; turns lie turn_k apart.
template <class T, int blocks, int turn_k>
class BlockLoader {
  static constexpr int size = static_cast<int>(sizeof(T)), vector = 16 / size, per_line = block_edge / vector;
  static constexpr int passes = per_line, step = block_edge / passes;  // a lane's vectors of a block: one in every `step` lines
  using Bits = std::conditional_t<size == 2, uint16_t, uint32_t>;
  static constexpr Bits one = std::is_same_v<T, __half> ? 0x3c00 : std::is_same_v<T, __nv_bfloat16> ? 0x3f80 : static_cast<Bits>(0x3f800000);

  const BlockOperand &operand;
  const int x0, k0;      // of turn 0
  const Bits *next;      // this lane's first vector of the turn to be loaded next
  int whole_from, whole_to;  // k of the turns that hold nothing but elements, which whole vectors can take

 public:
  // Turn 0 begins at x0 and k0, both multiples of a block's edge.
  __device__ __forceinline__ BlockLoader(const BlockOperand &o, int64_t batch, int x0, int k0) : operand(o), x0(x0), k0(k0) {
    const int64_t line = (o.along_k ? x0 : k0) + lane_line(), position = (o.along_k ? k0 : x0) + lane_position();
    next = static_cast<const Bits *>(o.data) + batch * o.batch_stride + line * o.ld + position;
    // core/k_range.h's block_is_whole, solved for k on the grid of blocks.
    const int x_end = x0 + blocks * block_edge, x_count = o.along_k ? o.count : o.length, k_count = o.along_k ? o.length : o.count;
    const bool k_below = o.along_k == (o.profile == static_cast<int8_t>(Fill::lower));  // a triangle's k are those up to x
    whole_from = 0;
    whole_to = k_count - block_edge + 1;
    if (o.profile != static_cast<int8_t>(Fill::full)) {
      if (k_below) whole_to = min(whole_to, x0 - (block_edge - 2) - o.unit);
      else whole_from = x_end - 1 + o.unit;
    } else if (o.unit) {
      whole_from = x_end;  // what lies before the diagonal takes the other way, too
    }
    if (x_end > x_count || o.aligned != 16) whole_to = 0;
  }

  // The next turn, whose first k is `k`, to shared address `stage`; to be waited for and masked.
  __device__ __forceinline__ void load(unsigned stage, int k) {
    const unsigned target = stage + lane_offset();
    const int64_t step_from = step * operand.ld;
    if (is_whole(k)) {
      const unsigned step_to = step * line_bytes();
      const int64_t block_from = operand.along_k ? block_edge * operand.ld : block_edge;
#pragma unroll
      for (int block = 0; block < blocks; ++block)
#pragma unroll
        for (int pass = 0; pass < passes; ++pass)
          copy<16>(target + block * BlockPlace<T>::bytes + pass * step_to, next + block * block_from + pass * step_from, true);
    } else {
#pragma unroll 1
      for (int block = 0; block < blocks; ++block) load_partly(target + block * BlockPlace<T>::bytes, block, k);
    }
    next += operand.along_k ? turn_k : turn_k * operand.ld;
  }

  // Once this lane's copies of the turn are there.
  __device__ __forceinline__ void mask(unsigned stage, int k) const {
    if (is_whole(k) || (operand.profile == static_cast<int8_t>(Fill::full) && !operand.unit)) return;
#pragma unroll 1
    for (int block = 0; block < blocks; ++block)
      if (x0 + block * block_edge == k) mask_diagonal(stage + block * BlockPlace<T>::bytes + lane_offset(), k);
  }

 private:
  struct Held { int begin, end; };

  static __device__ __forceinline__ int lane_line() { return threadIdx.x % 32 / per_line; }
  static __device__ __forceinline__ int lane_position() { return threadIdx.x % per_line * vector; }
  __device__ __forceinline__ int line_bytes() const { return operand.along_k ? BlockPlace<T>::line_along_k : BlockPlace<T>::line_across; }
  __device__ __forceinline__ unsigned lane_offset() const { return lane_line() * line_bytes() + lane_position() * size; }
  __device__ __forceinline__ bool is_whole(int k) const { return k >= whole_from && k < whole_to; }

  // A block that a diagonal or an end cuts, or whose lines are not aligned.
  __device__ __forceinline__ void load_partly(unsigned target, int block, int k) const {
    const int x = x0 + block * block_edge, line = (operand.along_k ? x : k) + lane_line(), position0 = operand.along_k ? k : x, position = position0 + lane_position();
    const Bits *source = next + block * block_edge * (operand.along_k ? operand.ld : 1);
    const unsigned step_to = step * line_bytes();
    const int64_t step_from = step * operand.ld;
    const bool inside = size == 4 || position0 + block_edge <= operand.length;  // so is whatever a copy takes
    if (operand.aligned == 16 && inside) {
#pragma unroll
      for (int pass = 0; pass < passes; ++pass) {
        const Held held = held_of(line + pass * step, position);
        if (size == 2 || position + vector <= operand.length) {
          copy<16>(target + pass * step_to, source + pass * step_from, held.end > 0 && held.begin < vector);
        } else {  // the last vector may lie beyond the allocation
#pragma unroll
          for (int e = 0; e < vector; ++e) copy<4>(target + pass * step_to + e * size, source + pass * step_from + e, e >= held.begin && e < held.end);
        }
      }
    } else if (operand.aligned >= 4 && inside) {
#pragma unroll
      for (int pass = 0; pass < passes; ++pass) {
        const Held held = held_of(line + pass * step, position);
#pragma unroll
        for (int e = 0; e < vector; e += 4 / size)
          copy<4>(target + pass * step_to + e * size, source + pass * step_from + e, e + 4 / size > held.begin && e < held.end);
      }
    } else if constexpr (size == 2) {
      // Elements that no copy can take: one by one through registers, all loads at once.
      Bits elements[passes][vector];
#pragma unroll
      for (int pass = 0; pass < passes; ++pass) {
        const Held held = held_of(line + pass * step, position);
#pragma unroll
        for (int e = 0; e < vector; ++e) {
          elements[pass][e] = 0;
          if (e >= held.begin && e < held.end) elements[pass][e] = source[pass * step_from + e];
        }
      }
#pragma unroll
      for (int pass = 0; pass < passes; ++pass)
#pragma unroll
        for (int e = 0; e < vector; e += 2)
          asm volatile("st.shared.b32 [%0], %1;" ::"r"(target + pass * step_to + e * size), "r"(elements[pass][e] | static_cast<uint32_t>(elements[pass][e + 1]) << 16)
                       : "memory");
    }
  }

  // In a block on the diagonal every lane has one vector that the diagonal cuts. All others came whole or as zeros.
  __device__ __forceinline__ void mask_diagonal(unsigned target, int line0) const {
    static_assert(step == vector, "the pass whose lines cross a lane's positions on the diagonal is the same in every block");
    const int pass = threadIdx.x % per_line, diagonal = lane_line();
    const unsigned cut = target + pass * step * line_bytes();
    if (operand.profile != static_cast<int8_t>(Fill::full)) {
      const int begin = operand.profile == static_cast<int8_t>(Fill::upper) ? diagonal : 0, end = operand.profile == static_cast<int8_t>(Fill::lower) ? diagonal + 1 : vector;
      uint32_t words[4];
      asm volatile("ld.shared.v4.b32 {%0,%1,%2,%3}, [%4];" : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3]) : "r"(cut) : "memory");
#pragma unroll
      for (int w = 0; w < 4; ++w) words[w] &= bits_from(begin * 8 * size - 32 * w) & ~bits_from(end * 8 * size - 32 * w);
      asm volatile("st.shared.v4.b32 [%0], {%1,%2,%3,%4};" ::"r"(cut), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
    }
    if (operand.unit && line0 + diagonal + pass * step < min(operand.count, operand.length)) {
      if constexpr (size == 2) asm volatile("st.shared.b16 [%0], %1;" ::"r"(cut + diagonal * size), "h"(one) : "memory");
      else asm volatile("st.shared.b32 [%0], %1;" ::"r"(cut + diagonal * size), "r"(one) : "memory");
    }
  }

  // Which elements of a vector exist: `begin` may be negative, `end` beyond it.
  __device__ __forceinline__ Held held_of(int line, int position) const {
    const int begin = operand.profile == static_cast<int8_t>(Fill::upper) ? line : 0;
    const int end = operand.profile == static_cast<int8_t>(Fill::lower) ? min(line + 1, operand.length) : operand.length;
    return {begin - position, line < operand.count ? end - position : 0};
  }

  // A word's bits from `bit` on, which may lie before the word or behind it.
  static __device__ __forceinline__ uint32_t bits_from(int bit) { return __funnelshift_lc(0, ~0u, max(bit, 0)); }

  // `bytes` bytes or, reading nothing, as many zeros.
  template <int bytes>
  static __device__ __forceinline__ void copy(unsigned target, const Bits *source, bool any) {
    if constexpr (bytes == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(source), "r"(any ? 16 : 0) : "memory");
    else asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(target), "l"(source), "r"(any ? 4 : 0) : "memory");
  }
};

// 16 x by one instruction's k of a block, as mma wants them of op(A); of op(B): two times 8 x, one after the other.
template <class T, bool along_k, bool of_b>
struct FragmentReader {
  static constexpr int line = along_k ? BlockPlace<T>::line_along_k : BlockPlace<T>::line_across;
  static constexpr bool by_words = sizeof(T) == 4 && !along_k;
  static constexpr int k = 32 / static_cast<int>(sizeof(T));
  unsigned at;

  __device__ __forceinline__ explicit FragmentReader(unsigned blocks) {
    const int lane = threadIdx.x % 32;
    if constexpr (by_words) at = blocks + lane % 4 * line + lane / 4 * 4;
    else if constexpr (along_k != of_b) at = blocks + lane % 16 * line + lane / 16 * 16;
    else at = blocks + (lane / 16 * 8 + lane % 8) * line + lane / 8 % 2 * 16;
  }

  __device__ __forceinline__ void read(uint32_t (&f)[4], int x, int step) const {
    const unsigned from = at + x / block_edge * BlockPlace<T>::bytes + (along_k ? x % block_edge * line + step * 32 : step * k * line + x % block_edge * static_cast<int>(sizeof(T)));
    if constexpr (by_words) {
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const int high_k = of_b ? q % 2 : q / 2, high_x = of_b ? q / 2 : q % 2;
        asm volatile("ld.shared.b32 %0, [%1];" : "=r"(f[q]) : "r"(from + high_k * 4 * line + high_x * 32) : "memory");
      }
    } else if constexpr (along_k) {
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3]) : "r"(from) : "memory");
    } else {
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3]) : "r"(from) : "memory");
    }
    if constexpr (sizeof(T) == 4) {
#pragma unroll
      for (uint32_t &x_k : f) x_k = to_tf32(x_k);
    }
  }

 private:
  static __device__ __forceinline__ uint32_t to_tf32(uint32_t bits) {
#if __CUDA_ARCH__ >= 900
    uint32_t rounded;
    asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(__uint_as_float(bits)));
    return rounded;
#else
    return __float_as_uint(round_tf32(__uint_as_float(bits)));
#endif
  }
};

// A warp's part of C, in blocks.
template <class T, int rows, int cols>
struct BlockSums {
  float sum[2 * rows][4 * cols][4] = {};  // rows by 16, columns by 8, as mma keeps them

  template <bool a_along_k, bool b_along_k>
  __device__ __forceinline__ void multiply(unsigned a, unsigned b) {
    const FragmentReader<T, a_along_k, false> reader_a(a);
    const FragmentReader<T, b_along_k, true> reader_b(b);
#pragma unroll
    for (int step = 0; step < block_edge / reader_a.k; ++step) {
      uint32_t left[2 * rows][4], right[2 * cols][4];
#pragma unroll
      for (int h = 0; h < 2 * rows; ++h) reader_a.read(left[h], 16 * h, step);
#pragma unroll
      for (int h = 0; h < 2 * cols; ++h) reader_b.read(right[h], 16 * h, step);
#pragma unroll
      for (int c = 0; c < 4 * cols; ++c)
#pragma unroll
        for (int r = 0; r < 2 * rows; ++r) {
          const uint32_t b0 = right[c / 2][c % 2 * 2], b1 = right[c / 2][c % 2 * 2 + 1];
          if constexpr (sizeof(T) == 4) mma_tf32(sum[r][c], left[r][0], left[r][1], left[r][2], left[r][3], b0, b1);
          else mma_half<T>(sum[r][c], left[r][0], left[r][1], left[r][2], left[r][3], b0, b1);
        }
    }
  }

  // To shared memory, lines of `line` floats.
  template <int line>
  __device__ __forceinline__ void put(float *to) const {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < 2 * rows; ++r)
#pragma unroll
      for (int c = 0; c < 4 * cols; ++c)
#pragma unroll
        for (int h = 0; h < 2; ++h)
          *reinterpret_cast<float2 *>(to + (16 * r + 8 * h + lane / 4) * line + 8 * c + lane % 4 * 2) = make_float2(sum[r][c][2 * h], sum[r][c][2 * h + 1]);
  }
};

}  // namespace tritri::cuda
