// The skeleton for 16-bit and TF32 products of middle size, and batches of them, on Hopper: a thread block a tile of C, or a cluster of blocks that share the tile's k.
//
// The last warp feeds a ring of stages of 128 bytes' k by bulk tensor copies, the warpgroups before it multiply a part of the tile each. Blocks of 64 lines that lie beyond a
// diagonal are not copied; those and what the diagonal cuts off become zeros in shared memory. Each block of a cluster stores some columns (TF32: rows) of
// the tile: the others send it their sums of these, out of registers, with which it is done as soon as they are there. Nothing is prepared before the launch, but that
// inputs whose lines begin anywhere are copied (cluster_unpack.cuh), nothing is kept in memory, and a multiprocessor runs several blocks, so that one multiplies while others
// begin or store.
//
// 16-bit operands are multiplied straight from shared memory, whichever way they lie. TF32 ones, which the copy engine rounds, must lie along k there; so C^T = B^T A^T is
// computed: B^T comes from registers, read from its tile in either direction, and A is turned in place where it does not lie along k.
#pragma once
#include <cuda.h>

#include <climits>

#include "cuda/heuristics.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/early_start.h"
#include "cuda/tile/element.h"
#include "cuda/tile/hopper.cuh"
#include "cuda/tile/tf32_fragment.cuh"

namespace tritri::cuda {

inline constexpr int cluster_edge = 64;   // rows of A, or columns of B, of a block of a stage
inline constexpr int cluster_line = 128;  // bytes: of a block's k and, where it lies across k, of a box's lines
inline constexpr int cluster_block_bytes = cluster_edge * cluster_line;
constexpr int cluster_stage_k(int64_t element) { return cluster_line / static_cast<int>(element); }
inline constexpr int cluster_most_stages = 16, cluster_barrier_bytes = 8 * (2 * cluster_most_stages + 2);
inline constexpr int cluster_consumer_barrier = 1;  // the named one of the warps that multiply

// An input as masks see it.
struct ClusterSide {
  Fill fill;
  bool unit, many;  // many: a matrix of its own for each one of the batch
};

struct ClusterArguments {
  CUtensorMap a_map, b_map;
  ClusterSide a, b;
  Fill c_fill;
  void *c;
  LineStarts c_rows;
  int64_t c_stride;
  int m, n, k;
  float alpha, beta;
  bool plain;    // C takes alpha times the sums: beta is 0, alpha makes no -0 and no NaN
  bool aligned;  // 16 bytes of C at a time; then its lines are not bent
  int stages, pieces_log2;
  int early;  // so many tiles at most begin before the kernel ahead ends
  int turn;   // where all begin at once: of so many tiles each second group begins with its last; else 0
  ProductArguments p;  // for sums that are looked at again
};

// What a product takes by the clock, beside its traffic with memory (seen on an H200).
struct ClusterCosts {
  double launch;  // with the first stage
  double tile;    // of a multiprocessor's time, beside its stages
  double step;    // each further stage of the longest piece
  double share;   // that blocks share a tile, and each doubling of them
};

// One instantiation of the skeleton, as the host sees it.
struct ClusterVariant {
  int tile_m, tile_n, resident, most_pieces;
  int vectors;  // of four elements of C, for a thread
  ClusterCosts costs;
  size_t (*shared_bytes)(int stages, int pieces);
  void (*load)(size_t most_shared_bytes);
  void (*launch)(const ClusterArguments &arguments, bool a_rows, bool b_rows, dim3 grid, cudaStream_t stream);
};
struct ClusterVariants { const ClusterVariant *first; int count; };
extern const ClusterVariants cluster_f16, cluster_bf16, cluster_tf32;

// Tr: T, the element; rows, cols of a tile in blocks; resident, the thread blocks that share a multiprocessor; costs.
template <class Tr>
struct ClusterShape {
  static constexpr int element = static_cast<int>(sizeof(typename Tr::T)), stage_k = cluster_stage_k(element);
  static constexpr bool tf32 = element == 4;
  static constexpr int tile_m = Tr::rows * cluster_edge, tile_n = Tr::cols * cluster_edge;
  // A warpgroup has 64 rows of the tile, of TF32 64 columns, and all there is across.
  static constexpr int consumers = 128 * (tf32 ? Tr::cols : Tr::rows), width = tf32 ? tile_m : tile_n, threads = consumers + 32;
  static constexpr int a_bytes = Tr::rows * cluster_block_bytes, stage_bytes = (Tr::rows + Tr::cols) * cluster_block_bytes;
  static constexpr int tile_bytes = tile_m * tile_n * static_cast<int>(sizeof(float));  // of sums
  static constexpr int most_pieces = tf32 ? 8 : tile_n / 16;                             // a thread stores vectors of eight columns; clusters of eight run on every card
  __host__ __device__ static constexpr int gathered_bytes(int pieces) { return tile_bytes / pieces * (pieces - 1); }
  static size_t shared_bytes(int stages, int pieces) { return static_cast<size_t>(stages * stage_bytes + gathered_bytes(pieces) + cluster_barrier_bytes); }
};

struct ClusterSpan {
  int begin, end;
  __device__ __forceinline__ bool meets(int k) const { return k >= begin && k < end; }
};
// The k at which a block of rows of A, or of columns of B, holds anything. `fill` is that of rows along k: B comes as its transpose.
__device__ __forceinline__ ClusterSpan span_held(Fill fill, int row) { return {fill == Fill::upper ? row : INT_MIN, fill == Fill::lower ? row + cluster_edge : INT_MAX}; }
// The k at which surely nothing of rows [row, row + rows) must be masked.
__device__ __forceinline__ ClusterSpan span_whole(Fill fill, bool unit, int row, int rows) {
  return {fill == Fill::upper ? row + rows : INT_MIN, fill == Fill::lower || (unit && fill == Fill::full) ? row : INT_MAX};
}

// A line of a block, eight vectors of 16 bytes. `diagonal`: which of its elements lies on the diagonal, if any; `fill` is that of its lines, `inside` whether k reaches to the
// diagonal element. Of a line that holds nothing all are zeros. Few warps wait for each of their instructions, so there are few.
template <class T>
__device__ __forceinline__ void mask_line(uint32_t block, int line, int diagonal, Fill fill, bool unit, bool inside) {
  constexpr int bits = 8 * static_cast<int>(sizeof(T)), elements = cluster_line / static_cast<int>(sizeof(T)), per_vector = elements / 8;
  const bool nothing = fill == Fill::lower ? diagonal < 0 : fill == Fill::upper && diagonal >= elements;
  if ((diagonal < 0 || diagonal >= elements) && !nothing) return;
  const int crossed = diagonal / per_vector, before = diagonal % per_vector * bits;  // bits of the crossed vector before the diagonal's
  const uint32_t zeros = nothing ? 0xffu : fill == Fill::lower ? 0xfeu << crossed : fill == Fill::upper ? (1u << crossed) - 1 : 0;
#pragma unroll
  for (int x = 0; x < 8; ++x)
    if (zeros >> x & 1) hopper::store4(block + hopper::swizzled(line, x), make_float4(0, 0, 0, 0));
  if (nothing) return;
  const uint32_t at = block + hopper::swizzled(line, crossed);
  const float4 old = hopper::load4(at);
  uint32_t word[4] = {__float_as_uint(old.x), __float_as_uint(old.y), __float_as_uint(old.z), __float_as_uint(old.w)};
  // The first `bits` bits of the vector, as far as they lie in word w.
  const auto first = [](int bits, int w) { return __funnelshift_lc(~0u, 0u, max(bits - 32 * w, 0)); };
  const int edge = fill == Fill::upper ? before : fill == Fill::lower ? before + bits : 128;
  const uint32_t side = fill == Fill::upper ? ~0u : 0;
#pragma unroll
  for (int w = 0; w < 4; ++w) word[w] &= first(edge, w) ^ side;
  if (unit) {
    const uint32_t ones = !inside ? 0 : std::is_same_v<T, float> ? 0x3f800000 : std::is_same_v<T, __nv_bfloat16> ? 0x3f803f80 : 0x3c003c00;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const uint32_t diagonal = first(before + bits, w) ^ first(before, w);
      word[w] = (word[w] & ~diagonal) | (ones & diagonal);
    }
  }
  hopper::store4(at, make_float4(__uint_as_float(word[0]), __uint_as_float(word[1]), __uint_as_float(word[2]), __uint_as_float(word[3])));
}

// A block of floats that lies across k, two boxes of 32 x by 32 k, becomes one that lies along k, each box in its place: a thread of 128 turns 4 x 4 elements, a warp such as go
// to each other's places.
__device__ __forceinline__ void turn_block(uint32_t block, int thread) {
  const int x = thread & 7, k = x ^ (thread >> 3 & 7);  // vectors of four, so chosen that neither access meets a bank conflict
  const uint32_t box = block + (thread >> 6) * (cluster_block_bytes / 2);
  float4 line[4];
#pragma unroll
  for (int e = 0; e < 4; ++e) line[e] = hopper::load4(box + hopper::swizzled(4 * k + e, x));
  __syncwarp();
  hopper::store4(box + hopper::swizzled(4 * x, k), make_float4(line[0].x, line[1].x, line[2].x, line[3].x));
  hopper::store4(box + hopper::swizzled(4 * x + 1, k), make_float4(line[0].y, line[1].y, line[2].y, line[3].y));
  hopper::store4(box + hopper::swizzled(4 * x + 2, k), make_float4(line[0].z, line[1].z, line[2].z, line[3].z));
  hopper::store4(box + hopper::swizzled(4 * x + 3, k), make_float4(line[0].w, line[1].w, line[2].w, line[3].w));
}

// Sums of masked zeros beside an Inf are NaN: what they are over the k that exist.
template <class T>
__device__ __forceinline__ float look_again(const ClusterArguments &args, int64_t batch, int i, int j, float sum) {
  const bool masked = args.a.fill != Fill::full || args.b.fill != Fill::full;
  return masked && is_nan(sum) ? exact_sum<T>(args.p, batch, i, j, k_range(args.p.a.fill, args.p.b.fill, args.p.k, {i, i + 1}, {j, j + 1})) : sum;
}

// Elements (i, j) and (i, j + 1) of C, whatever they need.
template <class T>
__device__ __noinline__ void store_carefully(const ClusterArguments &args, int64_t batch, int i, int j, float x, float y) {
  if (i >= args.m) return;
  const Fill a = args.a.fill, b = args.b.fill, c = args.c_fill;
  // Columns of this row that the product and that C has.
  const int first = a == Fill::upper && b == Fill::upper ? i : 0;
  const int behind = a == Fill::upper && i >= args.k ? 0 : b == Fill::lower ? min(a == Fill::lower ? i + 1 : args.k, args.k) : args.n;
  const int held_from = c == Fill::upper ? i : 0, held_to = c == Fill::lower ? min(i + 1, args.n) : args.n;
  T *const to = static_cast<T *>(args.c) + batch * args.c_stride + args.c_rows.at(i) + j;
#pragma unroll 1
  for (int e = 0; e < 2; ++e) {
    if (j + e < held_from || j + e >= held_to) continue;
    const float value = j + e >= first && j + e < behind ? args.alpha * look_again<T>(args, batch, i, j + e, e == 0 ? x : y) : 0.0f;
    to[e] = narrow<T>(args.beta != 0 ? value + args.beta * widen(to[e]) : value);
  }
}

// Which of a tile's elements C has: all of them, or each is to be looked at.
struct ClusterTile {
  int i0, j0;
  int64_t batch;
  int inside, looks;  // in registers: the compiler would keep a predicate for every use; looks: a sum that is NaN may be one of masked zeros
};

// Where row i of C begins; Anywhere: its lines may be bent.
template <bool Anywhere>
__device__ __forceinline__ int64_t row_of(const ClusterArguments &args, int i) { return Anywhere ? args.c_rows.at(i) : i * args.c_rows.step; }

// Elements (i, j) and on of C, as they are, if C has them.
template <class T, bool Anywhere>
__device__ __forceinline__ void store_within(const ClusterArguments &args, const ClusterTile &tile, int i, int j, uint4 values) {
  T *const to = static_cast<T *>(args.c) + tile.batch * args.c_stride + row_of<Anywhere>(args, i) + j;
  const int from = args.c_fill == Fill::upper ? i : 0, behind = i >= args.m ? 0 : args.c_fill == Fill::lower ? min(i + 1, args.n) : args.n;
  constexpr int elements = 16 / static_cast<int>(sizeof(T));
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>;
  if (!Anywhere && j >= from && j + elements <= behind) {
    *reinterpret_cast<uint4 *>(to) = values;
    return;
  }
  const uint32_t word[4] = {values.x, values.y, values.z, values.w};
#pragma unroll
  for (int e = 0; e < elements; ++e)
    if (j + e >= from && j + e < behind) reinterpret_cast<Bits *>(to)[e] = static_cast<Bits>(sizeof(T) == 4 ? word[e % 4] : word[e / 2] >> e % 2 * 16);
}

// Four threads hold a fourth of four vectors each; each gets one of the vectors.
__device__ __forceinline__ uint4 gather_vector(uint32_t (&part)[4]) {
  const bool odd = threadIdx.x & 1, high = threadIdx.x & 2;
#pragma unroll
  for (int x = 0; x < 4; x += 2) {
    const uint32_t got = __shfl_xor_sync(~0u, odd ? part[x] : part[x + 1], 1);
    part[x] = odd ? got : part[x];
    part[x + 1] = odd ? part[x + 1] : got;
  }
#pragma unroll
  for (int x = 0; x < 2; ++x) {
    const uint32_t got = __shfl_xor_sync(~0u, high ? part[x] : part[x + 2], 2);
    part[x] = high ? got : part[x];
    part[x + 2] = high ? part[x + 2] : got;
  }
  return make_uint4(part[0], part[1], part[2], part[3]);
}

template <int N>
__device__ __forceinline__ bool needs_care(const ClusterArguments &args, const ClusterTile &tile, const float (&sums)[N]) {
  bool careful = !args.plain;
  if (tile.looks) {
    float any[4] = {sums[0], sums[1], sums[2], sums[3]};
#pragma unroll
    for (int x = 4; x < N; ++x) any[x % 4] += sums[x];
    careful = careful || is_nan((any[0] + any[1]) + (any[2] + any[3]));
  }
  return careful;
}

// Two neighbours of a row, as C holds them.
template <class T>
__device__ __forceinline__ uint32_t pair_of(float x, float y) {
  const T pair[2] = {narrow<T>(x), narrow<T>(y)};
  return static_cast<uint32_t>(*reinterpret_cast<const uint16_t *>(pair)) | static_cast<uint32_t>(*reinterpret_cast<const uint16_t *>(pair + 1)) << 16;
}

// Columns [j, j + 2 N) of a tile that is inside C, whose lines begin anywhere: through shared memory of the warp's own, from which whole rows go, a word a lane. Where a row
// begins on an odd element, each word of it has halves of two of those that wgmma leaves.
template <class T, int N>
__device__ __forceinline__ void store_rows(const ClusterArguments &args, const ClusterTile &tile, int j, const float (&sums)[N], uint32_t staging) {
  constexpr int pitch = N + 4, across = N < 32 ? N : 32, rows = 32 / across;  // words; lanes of a row, rows at a time
  static_assert(32 % across == 0 && N % across == 0, "a row's words are whole turns of its lanes");
  const int lane = static_cast<int>(threadIdx.x & 31), warp = static_cast<int>(threadIdx.x >> 5), first = lane / across, word = lane % across, i = tile.i0 + warp * 16 + first;
  staging += warp * 16 * pitch * 4;
#pragma unroll
  for (int x = 0; x < N; x += 2)
    hopper::store1(staging + (((lane >> 2) + (x & 2) * 4) * pitch + (x >> 2) * 4 + (lane & 3)) * 4, pair_of<T>(args.alpha * sums[x], args.alpha * sums[x + 1]));
  __syncwarp();
  T *row = static_cast<T *>(args.c) + tile.batch * args.c_stride + args.c_rows.at(i) + j + 2 * word;
  int64_t next = rows * args.c_rows.step + args.c_rows.bend * (rows * int64_t{i} + rows * (rows - 1) / 2);
  uint32_t from = staging + (first * pitch + word) * 4;
  const uint32_t before = word > 0 ? 4 : 0;
#pragma unroll (N > 32 ? 1 : 4)
  for (int r = 0; r < 16; r += rows, row += next, next += args.c_rows.bend * rows * rows, from += rows * pitch * 4) {
    const bool odd = reinterpret_cast<uintptr_t>(row) & 2;
#pragma unroll
    for (int w = 0; w < N; w += 32) {
      const uint32_t own = hopper::load1(from + 4 * w), left = hopper::load1(from + 4 * w - (w > 0 ? 4 : before));
      if (!odd) *reinterpret_cast<uint32_t *>(row + 2 * w) = own;
      else if (w > 0 || word > 0) *reinterpret_cast<uint32_t *>(row + 2 * w - 1) = __funnelshift_r(left, own, 16);
      else *reinterpret_cast<uint16_t *>(row) = static_cast<uint16_t>(own);
      if (odd && w + 32 >= N && word == across - 1) *reinterpret_cast<uint16_t *>(row + 2 * w + 1) = static_cast<uint16_t>(own >> 16);
    }
  }
}

// Columns [j, j + 2 N) of the tile, as wgmma leaves them: of each eight a thread has two neighbours, in its row and in that eight below.
// `staging` is memory that nobody reads once all of the block's products have ended.
template <class Tr, bool Anywhere, int N>
__device__ __forceinline__ void store_sums(const ClusterArguments &args, const ClusterTile &tile, int j, const float (&sums)[N], uint32_t staging) {
  using T = typename Tr::T;
  static_assert(N >= 8 && N % 8 == 0, "four vectors of eight for each four threads");
  const int lane = static_cast<int>(threadIdx.x & 31), i = tile.i0 + static_cast<int>(threadIdx.x >> 5) * 16 + (lane >> 2), quarter = lane & 3;
  if (Anywhere && tile.inside) hopper::named_barrier(cluster_consumer_barrier, ClusterShape<Tr>::consumers);
  if (__any_sync(~0u, needs_care(args, tile, sums))) {
#pragma unroll
    for (int x = 0; x < N; x += 2) store_carefully<T>(args, tile.batch, i + (x & 2) * 4, j + (x >> 2) * 8 + 2 * quarter, sums[x], sums[x + 1]);
    return;
  }
  if constexpr (Anywhere) {
    if (tile.inside) {
      store_rows<T>(args, tile, j, sums, staging);
      return;
    }
  }
  const auto packed = [&](int x) { return pair_of<T>(args.alpha * sums[x], args.alpha * sums[x + 1]); };
  constexpr int vectors = N / 8;
  uint4 vector[vectors];
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    // Of four groups of eight columns, or of two groups in both rows.
    const int x = N == 8 ? 0 : v / 2 * 16 + v % 2 * 2;
    uint32_t part[4] = {packed(x), packed(x + 4), packed(N == 8 ? 2 : x + 8), packed(N == 8 ? 6 : x + 12)};
    vector[v] = gather_vector(part);
  }
  const auto row = [&](int v) { return i + 8 * (N == 8 ? quarter / 2 : v % 2); };
  const auto column = [&](int v) { return j + (N == 8 ? quarter % 2 * 8 : v / 2 * 32 + quarter * 8); };
  if (!Anywhere && tile.inside) {
    T *const to = static_cast<T *>(args.c) + tile.batch * args.c_stride + column(0);
#pragma unroll
    for (int v = 0; v < vectors; ++v) *reinterpret_cast<uint4 *>(to + row(v) * args.c_rows.step + v / 2 * 32) = vector[v];
  } else {
#pragma unroll
    for (int v = 0; v < vectors; ++v) store_within<T, Anywhere>(args, tile, row(v), column(v), vector[v]);
  }
}

// Rows [i, i + 2 N) of the tile, as wgmma leaves C^T: of each eight a thread has two neighbours, in two neighbouring columns.
template <bool Anywhere, int N>
__device__ __forceinline__ void store_turned(const ClusterArguments &args, const ClusterTile &tile, int i, const float (&sums)[N]) {
  static_assert(N % 4 == 0, "two rows by two columns");
  const int lane = static_cast<int>(threadIdx.x & 31), warp = static_cast<int>(threadIdx.x >> 5);
  const int j = tile.j0 + warp / 4 * cluster_edge + hopper::Tf32Rows::place(warp & 3, lane >> 2);
  const auto row = [&](int x) { return i + 2 * x + 2 * (lane & 3); };
  if (__any_sync(~0u, needs_care(args, tile, sums))) {
#pragma unroll
    for (int x = 0; x < N; x += 4)
#pragma unroll
      for (int y = 0; y < 2; ++y) store_carefully<float>(args, tile.batch, row(x) + y, j, sums[x + y], sums[x + y + 2]);
    return;
  }
  float *const matrix = static_cast<float *>(args.c) + tile.batch * args.c_stride + j;
  if (!Anywhere && tile.inside) {
    float *to = matrix + row(0) * args.c_rows.step;
#pragma unroll
    for (int x = 0; x < N; x += 4, to += 8 * args.c_rows.step)
#pragma unroll
      for (int y = 0; y < 2; ++y) *reinterpret_cast<float2 *>(to + y * args.c_rows.step) = make_float2(args.alpha * sums[x + y], args.alpha * sums[x + y + 2]);
    return;
  }
  if (Anywhere && tile.inside) {
    float *to = matrix + args.c_rows.at(row(0));
    int64_t next = args.c_rows.step + args.c_rows.bend * row(0);  // from a row to the one below
#pragma unroll
    for (int x = 0; x < N; x += 4) {
#pragma unroll
      for (int y = 0; y < 2; ++y) (to + y * next)[0] = args.alpha * sums[x + y], (to + y * next)[1] = args.alpha * sums[x + y + 2];
      to += 8 * next + 28 * args.c_rows.bend;
      next += 8 * args.c_rows.bend;
    }
    return;
  }
#pragma unroll
  for (int x = 0; x < N; x += 4)
#pragma unroll
    for (int y = 0; y < 2; ++y) {
      const int own = row(x) + y, from = args.c_fill == Fill::upper ? own : 0, behind = own >= args.m ? 0 : args.c_fill == Fill::lower ? min(own + 1, args.n) : args.n;
      float *const to = matrix + row_of<Anywhere>(args, own);
      if (j >= from && j < behind) to[0] = args.alpha * sums[x + y];
      if (j + 1 >= from && j + 1 < behind) to[1] = args.alpha * sums[x + y + 2];
    }
}

// Sends the sums of other blocks' columns there, adds what they send to those of its own, in the order of the blocks, and stores them. `gathered` is where what they send
// arrives, `there` the barrier that knows when, and `staging` as above.
template <class Tr, bool Anywhere, int Pieces>
__device__ __forceinline__ void gather_and_store(const ClusterArguments &args, const ClusterTile &tile, const float (&sums)[ClusterShape<Tr>::width / 2], int piece,
                                                 uint32_t gathered, uint32_t there, uint32_t staging) {
  using Shape = ClusterShape<Tr>;
  constexpr int own = Shape::width / 2 / Pieces, step = Shape::consumers * 16, each = own / 4 * step;
  const uint32_t at = gathered + threadIdx.x * 16;
  float mine[own];
#pragma unroll
  for (int s = 0; s < Pieces; ++s)
    if (s == piece) {
#pragma unroll
      for (int x = 0; x < own; ++x) mine[x] = sums[s * own + x];
    } else {
      const uint32_t to = hopper::address_in(at + (piece - (piece > s)) * each, s), barrier = hopper::address_in(there, s);
#pragma unroll
      for (int x = 0; x < own; x += 4) hopper::send4(to + x / 4 * step, barrier, sums[s * own + x], sums[s * own + x + 1], sums[s * own + x + 2], sums[s * own + x + 3]);
    }
  hopper::barrier_wait_for_cluster(there, 0);
#pragma unroll
  for (int s = 0; s + 1 < Pieces; ++s)
#pragma unroll
    for (int x = 0; x < own; x += 4) {
      const float4 sent = hopper::load4(at + s * each + x / 4 * step);
      mine[x] += sent.x, mine[x + 1] += sent.y, mine[x + 2] += sent.z, mine[x + 3] += sent.w;
    }
  if constexpr (Shape::tf32) store_turned<Anywhere>(args, tile, tile.i0 + piece * 2 * own, mine);
  else store_sums<Tr, Anywhere>(args, tile, tile.j0 + piece * 2 * own, mine, staging);
}

// Assumes: a grid of pieces by column tiles, row tiles and matrices, the pieces of a tile a cluster; m, n, k < 2^30; no input packed, C apart from A and B, its
// lines as LineStarts has them, and Anywhere unless they are whole vectors; maps of boxes that hold a line of 128 bytes of a block, of TF32 across k of half a block.
template <class Tr, bool ARows, bool BRows, bool Anywhere>
__global__ void __launch_bounds__(ClusterShape<Tr>::threads, Tr::resident) cluster_product(const __grid_constant__ ClusterArguments args) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using namespace hopper;
  using Shape = ClusterShape<Tr>;
  using T = typename Tr::T;
  constexpr int edge = cluster_edge, stage_k = Shape::stage_k;
  extern __shared__ __align__(1024) unsigned char shared_bytes[];

  const int batch = static_cast<int>(blockIdx.z), pieces_log2 = args.pieces_log2, piece = static_cast<int>(blockIdx.x) & ((1 << pieces_log2) - 1);
  // The longest sums come first; where all begin at once a multiprocessor that has a long one gets a short one with it.
  const int tiles_n = static_cast<int>(gridDim.x) >> pieces_log2;
  int tile_i = static_cast<int>(blockIdx.y), tile_j = static_cast<int>(blockIdx.x) >> pieces_log2;
  if (args.turn > 0) {
    const int place = tile_i * tiles_n + tile_j, begin = place / args.turn * args.turn;
    if (place / args.turn & 1) {
      const int turned = begin + min(begin + args.turn, tiles_n * static_cast<int>(gridDim.y)) - 1 - place;
      tile_i = turned / tiles_n;
      tile_j = turned - tile_i * tiles_n;
    }
  }
  const int i0 = static_cast<int>(args.a.fill == Fill::lower ? gridDim.y - 1 - tile_i : tile_i) * Shape::tile_m;
  const int j0 = (args.b.fill == Fill::upper ? tiles_n - 1 - tile_j : tile_j) * Shape::tile_n;
  const int64_t tile_index = (batch * int64_t{gridDim.y} + tile_i) * tiles_n + tile_j;
  const int i_end = min(i0 + Shape::tile_m, args.m), j_end = min(j0 + Shape::tile_n, args.n);
  if (args.c_fill == Fill::lower && i_end - 1 < j0) return;
  if (args.c_fill == Fill::upper && i0 > j_end - 1) return;
  const Range range = k_range(args.a.fill, args.b.fill, args.k, {i0, i_end}, {j0, j_end});
  const int first = static_cast<int>(range.begin) / stage_k, length = range.empty() ? 0 : (static_cast<int>(range.end) + stage_k - 1) / stage_k - first;
  const int k0 = (first + (length * piece >> pieces_log2)) * stage_k, k_end = (first + (length * (piece + 1) >> pieces_log2)) * stage_k;
  const bool masked = args.a.fill != Fill::full || args.b.fill != Fill::full;
  const bool whole_c = args.c_fill == Fill::full || (args.c_fill == Fill::lower ? i0 >= j_end - 1 : i_end - 1 <= j0);
  ClusterTile tile{i0, j0, batch, whole_c && i0 + Shape::tile_m <= args.m && j0 + Shape::tile_n <= args.n, masked};
  asm volatile("" : "+r"(tile.inside), "+r"(tile.looks));

  launch_dependents();
  if (length == 0) {  // zeros, and what C held
    wait_for_primary();
    if (threadIdx.x >= Shape::consumers) return;
    constexpr int elements = 16 / Shape::element, per_row = Shape::tile_n / elements;
    const int index = piece * Shape::consumers + static_cast<int>(threadIdx.x), column = j0 + index % per_row * elements;
#pragma unroll 4
    for (int i = i0 + index / per_row; i < i0 + Shape::tile_m; i += (Shape::consumers << pieces_log2) / per_row) {
      if (args.plain) store_within<T, Anywhere>(args, tile, i, column, make_uint4(0, 0, 0, 0));
      else
        for (int x = 0; x < elements; x += 2) store_carefully<T>(args, batch, i, column + x, 0, 0);
    }
    return;
  }

  const uint32_t base = shared_address(shared_bytes), gathered = base + static_cast<uint32_t>(args.stages) * Shape::stage_bytes;
  const uint32_t barriers = gathered + Shape::gathered_bytes(1 << pieces_log2), sums_there = barriers + 8 * 2 * cluster_most_stages;
  const auto full = [&](int s) { return barriers + 8 * s; };
  const auto empty = [&](int s) { return barriers + 8 * (cluster_most_stages + s); };
  const auto a_block = [&](int s, int x) { return base + s * Shape::stage_bytes + x * cluster_block_bytes; };
  const auto b_block = [&](int s, int x) { return a_block(s, Tr::rows + x); };

  const Fill a_fill = args.a.fill, b_fill = flipped(args.b.fill);
  // The last warp feeds, each lane its block of a stage.
  const bool feeds = threadIdx.x >= Shape::consumers;
  const int lane = static_cast<int>(threadIdx.x & 31);
  const bool of_a = lane < Tr::rows, along_k = of_a ? ARows : !BRows;
  const int own_row = of_a ? i0 + lane * edge : j0 + (lane - Tr::rows) * edge, own_batch = (of_a ? args.a.many : args.b.many) ? batch : 0;
  const ClusterSpan own_span = span_held(of_a ? a_fill : b_fill, own_row);
  const auto held = [&](int k) { return lane < Tr::rows + Tr::cols && own_span.meets(k); };
  const CUtensorMap *const own_map = of_a ? &args.a_map : &args.b_map;
  const auto feed = [&](int s, int k) {
    const int blocks = __popc(__ballot_sync(~0u, held(k)));
    if (lane == 0) barrier_expect(full(s), blocks * cluster_block_bytes);
    __syncwarp();
    if (held(k)) copy_in(a_block(s, lane), own_map, full(s), along_k ? k : own_row, along_k ? own_row : k, own_batch);
    if (Shape::tf32 && !along_k && held(k)) copy_in(a_block(s, lane) + cluster_block_bytes / 2, own_map, full(s), own_row + edge / 2, k, own_batch);
  };
  if (feeds) {  // a lane a stage
    if (lane < args.stages) {
      barrier_init(full(lane), 1);
      barrier_init(empty(lane), Shape::consumers / 32);
    }
    if (lane == 0) barrier_init(sums_there, 1);
    publish_barriers();
    fence_async();
  }
  __syncthreads();
  if (pieces_log2 > 0) cluster_arrive();
  int fed = k0;
  if (feeds) {
    if (lane < 2) prefetch_map(lane == 0 ? &args.a_map : &args.b_map);
    if (lane == 0) barrier_expect(sums_there, Shape::gathered_bytes(1 << pieces_log2));
    // While the kernel before still runs the blocks that wait fetch what they all read to the L2 cache, each what its tile's place in C is in A and in B.
    if (tile_index < args.early && piece == (of_a ? 0 : (1 << pieces_log2) - 1)) {
      const int begin = of_a ? j0 : i0, end = min(begin + (of_a ? Shape::tile_n : Shape::tile_m), args.k);
      for (int k = begin; k < end; k += stage_k) {
        if (held(k)) prefetch_box(own_map, along_k ? k : own_row, along_k ? own_row : k, own_batch);
        if (Shape::tf32 && !along_k && held(k)) prefetch_box(own_map, own_row + edge / 2, k, own_batch);
      }
    }
    __syncwarp();
    wait_for_primary();
    for (int s = 0; s < args.stages && fed < k_end; ++s, fed += stage_k) feed(s, fed);
  }
  wait_for_primary();

  if (threadIdx.x < Shape::consumers) {
    float sums[Shape::width / 2];
#pragma unroll
    for (float &sum : sums) sum = 0;
    if (k0 < k_end) {  // else there are more pieces than stages
      const int group = Shape::consumers == 128 ? 0 : __shfl_sync(~0u, static_cast<int>(threadIdx.x / 128), 0);
      pin(sums);
      const ClusterSpan a_whole = span_whole(a_fill, args.a.unit, i0, Shape::tile_m), b_whole = span_whole(b_fill, args.b.unit, j0, Shape::tile_n);
      ClusterSpan whole{max(a_whole.begin, b_whole.begin), min(a_whole.end, b_whole.end)};
      // Of descriptors only the low halves change, and those do not overflow: the compiler cannot know. What a step needs runs along, in registers: with four warps each
      // instruction of a step takes as long as a sixteenth of its products.
      const uint64_t block = descriptor(base, cluster_block_bytes, 1024);
      uint32_t ready = full(0), low = static_cast<uint32_t>(block), phase = 0, before = 0;  // before: `ready` of the stage whose product may still run
      uint32_t last = full(args.stages), first = low;
      asm volatile("" : "+r"(whole.begin), "+r"(whole.end), "+r"(ready), "+r"(low), "+r"(last), "+r"(first));
      const auto prepare = [&](int k) {
        barrier_wait(ready, phase);
        if (whole.meets(k)) return;
        const int line = static_cast<int>(threadIdx.x) & 63;  // 64 threads a block
#pragma unroll 1
        for (int x = static_cast<int>(threadIdx.x) >> 6; x < Tr::rows + Tr::cols; x += Shape::consumers / 64) {
          const bool in_a = x < Tr::rows, along = in_a ? ARows : !BRows;
          const Fill fill = in_a ? a_fill : b_fill;
          const int past = k - (in_a ? i0 + x * edge : j0 + (x - Tr::rows) * edge);  // where the block begins along k, from its first row
          const int box = Shape::tf32 && !along ? line & 32 : 0, diagonal = along ? line - past : line + past - 2 * box;
          mask_line<T>(base + (low - first) * 16 + x * cluster_block_bytes, line, diagonal, along ? fill : flipped(fill), in_a ? args.a.unit : args.b.unit,
                       k + (along ? diagonal : line - box) < args.k);
        }
        fence_async();
        named_barrier(cluster_consumer_barrier, Shape::consumers);
      };
      const auto advance = [&] {
        wgmma_commit();
        wgmma_wait<1>();
        barrier_arrive_if(before != 0 && lane == 0, before + 8 * cluster_most_stages);
        before = ready;
        ready += 8;
        low += Shape::stage_bytes / 16;
        if (ready == last) {
          ready = full(0);
          low = first;
          phase ^= 1;
        }
      };
      const auto from = [&](uint32_t bytes) { return block >> 32 << 32 | (low + bytes / 16); };
      if constexpr (Shape::tf32) {
        constexpr int steps = stage_k / 8;
        const int warp = static_cast<int>(threadIdx.x >> 5) & 3;
        const auto multiply = [&](uint32_t (&operand)[steps][4], int k) {
          prepare(k);
          const uint32_t stage = base + (low - first) * 16;
          if constexpr (!ARows) {
            for (int x = group; x < Tr::rows; x += Tr::cols) turn_block(stage + x * cluster_block_bytes, static_cast<int>(threadIdx.x) & 127);
            fence_async();
            named_barrier(cluster_consumer_barrier, Shape::consumers);
          }
          float columns[steps][4];
          if constexpr (BRows) Tf32Rows::read_across(columns, stage + Shape::a_bytes + group * cluster_block_bytes, 0, warp, lane);
          else Tf32Rows::read_along(columns, stage + Shape::a_bytes + group * cluster_block_bytes, 0, warp, lane);
#pragma unroll
          for (int x = 0; x < steps; ++x)
#pragma unroll
            for (int y = 0; y < 4; ++y) {
              operand[x][y] = __float_as_uint(columns[x][y]);
              asm volatile("" : "+r"(operand[x][y]));
            }
          wgmma_fence();
#pragma unroll
          for (int x = 0; x < steps; ++x) mma_tf32<Shape::width, true>(sums, operand[x], from(32 * x));  // 8 k: 32 bytes of a line
          advance();
        };
        uint32_t even[steps][4], odd[steps][4];  // taken in turns: a product in flight still reads the other
        int k = k0;
#pragma unroll 1
        for (; k + stage_k < k_end; k += 2 * stage_k) {
          multiply(even, k);
          multiply(odd, k + stage_k);
        }
        if (k < k_end) multiply(even, k);
      } else {
#pragma unroll 1
        for (int k = k0; k < k_end; k += stage_k) {
          prepare(k);
          wgmma_fence();
#pragma unroll
          for (int x = 0; x < stage_k / 16; ++x)  // 16 k: 32 bytes of a line along k, or 16 lines of 128 bytes
            mma_16<Shape::tile_n, std::is_same_v<T, __nv_bfloat16>, ARows, !BRows>(sums, from(group * cluster_block_bytes + (ARows ? 32 : 2048) * x),
                                                                                   from(Shape::a_bytes + (BRows ? 2048 : 32) * x));
          advance();
        }
      }
      wgmma_wait<0>();
      pin(sums);
    }
    if (pieces_log2 == 0) {
      if constexpr (Shape::tf32) store_turned<Anywhere>(args, tile, i0, sums);
      else store_sums<Tr, Anywhere>(args, tile, j0, sums, base);
    } else {
      cluster_wait();  // the others have begun
      if (pieces_log2 == 1) gather_and_store<Tr, Anywhere, 2>(args, tile, sums, piece, gathered, sums_there, base);
      else if (pieces_log2 == 2) gather_and_store<Tr, Anywhere, 4>(args, tile, sums, piece, gathered, sums_there, base);
      else if constexpr (Shape::most_pieces == 8) gather_and_store<Tr, Anywhere, 8>(args, tile, sums, piece, gathered, sums_there, base);
    }
  } else if (feeds) {
    int s = 0;
    uint32_t phase = 0;
    for (; fed < k_end; fed += stage_k) {
      barrier_wait(empty(s), phase);
      feed(s, fed);
      if (++s == args.stages) {
        s = 0;
        phase ^= 1;
      }
    }
  }
#endif
}

// By whether A's and B's lines run along rows, and whether C's begin anywhere.
template <class Tr>
constexpr void (*cluster_kernels[2][2][2])(ClusterArguments) = {
    {{cluster_product<Tr, false, false, false>, cluster_product<Tr, false, false, true>}, {cluster_product<Tr, false, true, false>, cluster_product<Tr, false, true, true>}},
    {{cluster_product<Tr, true, false, false>, cluster_product<Tr, true, false, true>}, {cluster_product<Tr, true, true, false>, cluster_product<Tr, true, true, true>}}};

template <class Tr>
constexpr ClusterVariant cluster_variant() {
  using Shape = ClusterShape<Tr>;
  const auto load = [](size_t most) {
    for (const auto &by_a : cluster_kernels<Tr>)
      for (const auto &by_b : by_a)
        for (const auto kernel : by_b) TRITRI_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(most)));
  };
  const auto launch = [](const ClusterArguments &arguments, bool a_rows, bool b_rows, dim3 grid, cudaStream_t stream) {
    cudaLaunchAttribute attributes[2] = {};
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim = {1u << arguments.pieces_log2, 1, 1};
    attributes[1] = early_start();
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = dim3(Shape::threads);
    config.dynamicSmemBytes = Shape::shared_bytes(arguments.stages, 1 << arguments.pieces_log2);
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = 2;
    TRITRI_CUDA_CHECK(cudaLaunchKernelEx(&config, cluster_kernels<Tr>[a_rows][b_rows][!arguments.aligned], arguments));
  };
  return {Shape::tile_m, Shape::tile_n, Tr::resident, Shape::most_pieces, Shape::tile_m * Shape::tile_n / (4 * Shape::consumers), Tr::costs, Shape::shared_bytes, load, launch};
}

}  // namespace tritri::cuda
