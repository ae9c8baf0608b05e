// What tells the Hopper kernels apart. A new number format is one more struct here, one more Kernel in hopper.cu and its line in table.cc.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "cuda/kernels/hopper_kernel.cuh"
#include "cuda/tile/element.h"
#include "cuda/tile/tf32_fragment.cuh"

namespace tritri::cuda::hopper {

// float32 through TF32 tensor cores. Those want both operands K-major, and a row-major B is not: so C^T = B^T A^T is what is computed.
// B^T is the operand in registers, read from B's tile in whichever direction it lies; A lies K-major in shared memory (a pre-pass turns an
// A that does not). A warpgroup has 64 columns of C.
// `Reorders`: where A's diagonal leaves few rows, those come first.
template <int BlockM, int Cluster, int StageK, bool Reorders>
struct Float {
  using Element = float;
  static constexpr int group_m = BlockM, group_n = 64, cluster = Cluster, tile_m = BlockM, tile_n = 128 * Cluster, stage_k = StageK;
  static constexpr int line = StageK * 4, steps = StageK / 8;  // bytes of a row of a K-major tile, which is what it is swizzled by; wgmmas a stage
  static constexpr int accumulators = BlockM / 2, a_bytes = BlockM * line, b_bytes = 128 * line, output_bytes = Reorders ? 28672 : 12288;
  static_assert(line == 128 || line == 64, "a row of a K-major tile is one line of a swizzle");
  static constexpr int a_box_rows = 64, b_box_cols = 64, blocks = BlockM / 64;
  static constexpr bool rows_together = true;
  __device__ static uint64_t a_descriptor(uint32_t tile) { return descriptor<line>(tile, 16, 8 * line); }

  __device__ static float widen(float x) { return x; }
  __device__ static float narrow(float x) { return x; }

  // Of a cluster one block has the outer and one the inner columns of a tile: so a diagonal of B leaves both as much to do.
  __device__ static int2 part(int rank, int group) { return make_int2(0, 64 * (Cluster == 1 ? group : rank == 0 ? 3 * group : 1 + group)); }

  // Accumulator rows g and g + 8 of a warp are the two columns column(p) and column(p) + 1 of C, which also makes a store of C whole 32-byte sectors.
  __device__ static int column(int warp, int g) { return Tf32Rows::place(warp, g); }
  // Which block of 64 rows of A is number x in shared memory and in accumulators.
  __device__ static int block(const Arguments &args, int x) { return Reorders && args.a.fill == Fill::lower ? blocks - 1 - x : x; }
  __device__ static int2 place(const Arguments &args, const Place &p, int x) {
    return make_int2(64 * block(args, x >> 5) + 8 * (x >> 2 & 7) + 2 * (p.lane & 3) + (x & 1), p.column + column(p.warp, p.lane >> 2) + (x >> 1 & 1));
  }

  // `barrier` tells when the stage is there.
  template <class Pipe>
  __device__ static void feed(const Arguments &args, const Pipe &pipe, uint32_t barrier, const Work &w, int s, int k, int rank) {
    barrier_expect(barrier, a_bytes + b_bytes);
    const int a_batch = args.a.batch_stride ? w.batch : 0, b_batch = args.b.batch_stride ? w.batch : 0;
    const int m = w.m0 - static_cast<int>(args.a.first_row);
    for (int x = rank * blocks / cluster; x < (rank + 1) * blocks / cluster; ++x) {
      const uint32_t a = pipe.a(s) + x * 64 * line;
      if constexpr (cluster > 1) copy_in_all(a, &args.a_map, barrier, k, m + 64 * block(args, x), a_batch, (1 << cluster) - 1);
      else copy_in(a, &args.a_map, barrier, k, m + 64 * block(args, x), a_batch);
    }
    for (int group = 0; group < 2; ++group) {
      const int n = w.n0 - static_cast<int>(args.b.first_col) + part(rank, group).y;
      const uint32_t b = pipe.b(s) + group * (b_bytes / 2);
      if (args.b.row_lines) {
        for (int x = 0; x < 2; ++x) copy_in(b + x * stage_k * 128, &args.b_map, barrier, n + x * 32, k, b_batch);
      } else {
        copy_in(b, &args.b_map, barrier, k, n, b_batch);
      }
    }
  }

  // Four elements of a row of A by selection, number `diagonal` of which would be on the diagonal; `inside`: k reaches there.
  __device__ static __forceinline__ float4 masked(float4 v, Fill fill, bool unit, int diagonal, bool inside) {
    if (fill == Fill::lower) v = make_float4(diagonal >= 0 ? v.x : 0, diagonal >= 1 ? v.y : 0, diagonal >= 2 ? v.z : 0, diagonal >= 3 ? v.w : 0);
    if (fill == Fill::upper) v = make_float4(diagonal <= 0 ? v.x : 0, diagonal <= 1 ? v.y : 0, diagonal <= 2 ? v.z : 0, diagonal <= 3 ? v.w : 0);
    if (unit) {
      const float one = inside ? 1.0f : 0.0f;
      v = make_float4(diagonal == 0 ? one : v.x, diagonal == 1 ? one : v.y, diagonal == 2 ? one : v.z, diagonal == 3 ? one : v.w);
    }
    return v;
  }

  // A thread's part of B: f[x] = B(k + 8 x + {q, q, q + 4, q + 4}, column + {0, 1, 0, 1}), q = lane % 4.
  struct Fragment {
    float f[steps][4];
    __device__ __forceinline__ void load(const Arguments &args, const Work &w, const Place &p, uint32_t tile, int k) {
      const int g = p.lane >> 2, q = p.lane & 3;
      if (args.b.row_lines) Tf32Rows::read_across(f, tile, p.group, p.warp, p.lane);
      else Tf32Rows::read_along(f, tile, p.group, p.warp, p.lane);
      if (!w.b_mask.meets(k, stage_k)) return;
      // Element [x][y] is `past` + 8 x + 4 (y / 2) - y % 2 rows below the diagonal.
      const int n = w.n0 + p.column + column(p.warp, g), past = k + q - n;
      const auto select = [&](auto keep) {
#pragma unroll
        for (int x = 0; x < steps; ++x)
#pragma unroll
          for (int y = 0; y < 4; ++y) f[x][y] = keep(past + 8 * x + 4 * (y >> 1) - (y & 1)) ? f[x][y] : 0.0f;
      };
      if (args.b.mask == Fill::lower) select([](int below) { return below >= 0; });
      if (args.b.mask == Fill::upper) select([](int below) { return below <= 0; });
      if (args.b.unit) {
        const int depth = static_cast<int>(args.tiling.k);
#pragma unroll
        for (int x = 0; x < steps; ++x)
#pragma unroll
          for (int y = 0; y < 4; ++y)
            if (past + 8 * x + 4 * (y >> 1) - (y & 1) == 0) f[x][y] = n + (y & 1) < depth ? 1.0f : 0.0f;
      }
    }
  };

  template <class T>
  __device__ static void store(const Arguments &args, const Pipe<T> &pipe, const Work &w, const Place &p, float (&sums)[accumulators], bool zeros) {
    const Tiling &t = args.tiling;
    const int n0 = w.n0 + p.column, n = n0 + column(p.warp, p.lane >> 2);
    float *const c = static_cast<float *>(args.c) + w.batch * args.c_batch_stride + n;
    const Bounds held_left = rows_held(t, n), held_right = rows_held(t, n + 1);
    const auto row = [&](int x) { return w.m0 + place(args, p, x).x; };
#pragma unroll
    for (int x = 0; x < accumulators; ++x) sums[x] *= args.alpha;
    if (zeros) {
      const Bounds left = rows_with_k(t, n), right = rows_with_k(t, n + 1);
#pragma unroll
      for (int x = 0; x < accumulators; ++x)
        if (!(x & 2 ? right : left).hold(row(x))) sums[x] = 0;
    }
    const auto line = [&](int x) { return c + row(x) * args.ldc; };
    const auto held = [&](int m, int rows) { return __shfl_sync(~0u, held_whole(t, m, rows, n0, group_n), 0); };
    const bool whole = held(w.m0 + p.row, group_m) && args.whole_lines;
    // C is read before the first store, which reading would have to wait for. Two columns of a row: x and x + 2.
    if (args.beta != 0.0f && whole) {
#pragma unroll
      for (int x = 0; x < accumulators; x += x % 4 ? 3 : 1) {
        const float2 old = *reinterpret_cast<const float2 *>(line(x));
        sums[x] = fmaf(args.beta, old.x, sums[x]);
        sums[x + 2] = fmaf(args.beta, old.y, sums[x + 2]);
      }
    } else if (args.beta != 0.0f) {
#pragma unroll
      for (int x = 0; x < accumulators; x += x % 4 ? 3 : 1) {
        const float *const from = c + args.c_rows.at(row(x));
        if (held_left.hold(row(x))) sums[x] = fmaf(args.beta, from[0], sums[x]);
        if (held_right.hold(row(x))) sums[x + 2] = fmaf(args.beta, from[1], sums[x + 2]);
      }
    }
    if (!args.whole_lines) return store_rows(args, pipe, w, p, sums);
    // Where tiles are large, by blocks of 64 rows: of those that the edge of C crosses there are few.
    constexpr int each = Reorders ? 32 : accumulators, rows = 2 * each;
#pragma unroll
    for (int y = 0; y < accumulators; y += each) {
      const int m = w.m0 + (Reorders ? 64 * block(args, y >> 5) : p.row);
      const bool all_held = held(m, rows);
      if (all_held) {
#pragma unroll
        for (int x = y; x < y + each; x += x % 4 ? 3 : 1) __stcs(reinterpret_cast<float2 *>(line(x)), make_float2(sums[x], sums[x + 2]));
      } else if (!Reorders || __shfl_sync(~0u, stored_partly(t, m, rows, n0, group_n), 0)) {
#pragma unroll
        for (int x = y; x < y + each; x += x % 4 ? 3 : 1) {
          float *const to = c + args.c_rows.at(row(x));
          if (held_left.hold(row(x))) to[0] = sums[x];
          if (held_right.hold(row(x))) to[1] = sums[x + 2];
        }
      }
    }
  }

  // Where lines of C begin anywhere: through shared memory, some rows of the warpgroup's 64 columns at a time, so that they leave in runs of 128 bytes. Vectors of 16 bytes lie swizzled by
  // pairs of rows. All four warps must come here.
  static constexpr int rows_at_once = Reorders ? 64 : 32;
  template <class T>
  __device__ static __forceinline__ void store_rows(const Arguments &args, const Pipe<T> &pipe, const Work &w, const Place &p, const float (&sums)[accumulators]) {
    constexpr int room_bytes = rows_at_once * 256, each = rows_at_once / 2, own = rows_at_once / 4;
    static_assert(Pipe<T>::zeros - Pipe<T>::output + kZeroBytes >= 2 * room_bytes, "there are no boxes of zeros where lines are not aligned");
    const Tiling &t = args.tiling;
    const uint32_t room = pipe.base + Pipe<T>::output + p.group * room_bytes;
    const int n = w.n0 + p.column, q = p.lane & 3, at = column(p.warp, p.lane >> 2);
    const uint32_t to = room + q * 512 + ((at >> 2 ^ q) << 4) + (at & 3) * 4, from = room + p.warp * own * 256 + q * 4;
    float *const c = static_cast<float *>(args.c) + w.batch * args.c_batch_stride + n + p.lane;
#pragma unroll 1
    for (int x = 0; x < accumulators / each; ++x) {
      const int first = x * rows_at_once, m = w.m0 + 64 * block(args, first / 64) + first % 64;
      if (!__shfl_sync(~0u, stored_partly(t, m, rows_at_once, n, group_n), 0)) continue;
      named_barrier(kConsumerBarrier + p.group, 128);
#pragma unroll
      for (int y = 0; y < accumulators / each; ++y) {  // which of the sums, the compiler must know
        if (x != y) continue;
#pragma unroll
        for (int z = 0; z < each; z += 4) {
          const float *const four = sums + y * each + z;
          store2(to + z * 512, four[0], four[2]);
          store2(to + z * 512 + 256, four[1], four[3]);
        }
      }
      named_barrier(kConsumerBarrier + p.group, 128);
      const int mine = m + own * p.warp;
      float *line = c + args.c_rows.at(mine);
      int64_t step = args.c_rows.step + args.c_rows.bend * int64_t{mine};
#pragma unroll
      for (int row = 0; row < own; ++row) {
        const Bounds held = columns_held(t, mine + row);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const uint32_t value = load1(from + row * 256 + half * 128 + ((p.lane >> 2 ^ (row >> 1 & 3)) << 4));
          if (held.hold(n + p.lane + 32 * half)) line[32 * half] = __uint_as_float(value);
        }
        line += step;
        step += args.c_rows.bend;
      }
    }
  }
};

// float32 at float32's accuracy from three TF32 products: x = high + low, and high * high + high * low + low * high. A's high part is what
// the tensor core makes of A by truncation, its low part is made by the helper warps. Tensor cores truncate their sums, so each stage
// starts afresh and is added to the total in registers, rounded to nearest.
struct Float32 : Float<128, 1, 32, false> {
  template <bool, bool> using Lying = Float32;
  static constexpr bool to_tf32 = false;
  static constexpr int stages = 5, low_stages = 3, helpers = 96, producer_registers = 72, consumer_registers = 216;
  __device__ static float exact(float x) { return x; }

  // Inf, NaN and what rounds to Inf make sums that are not finite, and every such sum is computed once more, exactly. Low parts of tiny
  // values would be lost: B is scaled up until none is (what overflows is recomputed like Inf), an A below 2^-100 becomes NaN on purpose.
  static constexpr float scale = 0x1p24f;
  static constexpr uint32_t kDropped = 0x1fff, kHalf = 0x1000, kNan = 0x7fc00000;
  static constexpr uint32_t kLeast = 2u * ((127 - 100) << 23) - 1;
  // Twice the bits less 1: the sign falls out, and 0 comes to lie above all else.
  __device__ static __forceinline__ uint32_t magnitude(float x) { return 2 * __float_as_uint(x) - 1; }

  // What truncation leaves of A. The tensor core truncates it once more; about half a unit in the last place goes on top, by a product,
  // since that keeps NaN.
  static constexpr float kOnTop = 1 + 0x1.8p-12f;
  __device__ static __forceinline__ float a_low(float x) { return (x - __uint_as_float(__float_as_uint(x) & ~kDropped)) * kOnTop; }
  __device__ static __forceinline__ float4 a_low(float4 v) { return make_float4(a_low(v.x), a_low(v.y), a_low(v.z), a_low(v.w)); }
  __device__ static __forceinline__ uint32_t magnitude(float4 v) {
    return min(min(magnitude(v.x), magnitude(v.y)), min(magnitude(v.z), magnitude(v.w)));
  }

  template <class Pipe>
  __device__ static void feed(const Arguments &args, const Pipe &pipe, const Work &w, int s, int k, int rank) {
    Float::feed(args, pipe, pipe.full(s), w, s, k, rank);
  }

  template <class Pipe>
  __device__ static void rework(const Arguments &args, const Pipe &pipe, const Work &w, Position<Float32> &place, int t, int) {
    constexpr int vectors = a_bytes / 16, block = vectors / 4;  // a block of rows is as high as a stage is wide
    constexpr int rounds = vectors / helpers, rest = vectors % helpers;
    static_assert(stage_k * 4 == group_m, "the diagonal crosses one block of rows in a stage");
    const int depth = static_cast<int>(args.tiling.k);
    for (int s = 0; s < w.stages; ++s, place.stage.next(), place.low.next()) {
      const int k = w.k0 + s * stage_k;
      const uint32_t raw = pipe.a(place.stage.slot) + t * 16, low = pipe.a_low(place.low.slot) + t * 16;
      uint32_t least = ~0u;  // magnitude of what this thread has seen
      int first = 0, last = 4;  // the blocks that hold anything
      barrier_wait(pipe.low_empty(place.low.slot), place.low.phase ^ 1);
      barrier_wait(pipe.full(place.stage.slot), place.stage.phase);
      if (w.a_mask.meets(k, stage_k)) {
        const int crossed = (k - w.m0) / stage_k;
        if (args.a.mask == Fill::lower) first = crossed;
        if (args.a.mask == Fill::upper) last = crossed + 1;
#pragma unroll 2
        for (int x = first * block + t; x < last * block; x += helpers) {
          float4 v = load4(raw + (x - t) * 16);
          if (x / block == crossed) {
            const int row = w.m0 + (x >> 3), col = k + 4 * ((x & 7) ^ (x >> 3 & 7));
            v = masked(v, args.a.mask, args.a.unit, row - col, row < depth);
            store4(raw + (x - t) * 16, v);
          }
          store4(low + (x - t) * 16, a_low(v));
          least = min(least, magnitude(v));
        }
      } else {
        // All loads at once, and no branch: a thread has few registers and little time.
        float4 v[rounds + 1];
#pragma unroll
        for (int x = 0; x < rounds; ++x) v[x] = load4(raw + x * helpers * 16);
        v[rounds] = load4_if(t < rest, raw + rounds * helpers * 16);
#pragma unroll
        for (int x = 0; x <= rounds; ++x) {
          if (x < rounds || t < rest) store4(low + x * helpers * 16, a_low(v[x]));
          least = min(least, magnitude(v[x]));
        }
      }
      if (least < kLeast)
        for (int x = first * block + t; x < last * block; x += helpers)
          if (magnitude(load4(raw + (x - t) * 16)) < kLeast) store4(low + (x - t) * 16, make_float4(__uint_as_float(kNan), 0, 0, 0));
      fence_async();
      __syncwarp();
      if ((t & 31) == 0) barrier_arrive(pipe.low_full(place.low.slot));
    }
  }

  // The tensor cores serve both warpgroups by turns when both ask, and then both add up at the same time and leave them idle. So the
  // warpgroups take turns by whole stages: one adds up and splits B while the other multiplies.
  template <class Pipe>
  __device__ static void pass_turn(const Pipe &pipe, const Place &p) {
    barrier_arrive_if(p.lane == 0, pipe.turn(p.group ^ 1));
  }

  template <class Pipe>
  __device__ static void sum(const Arguments &args, const Pipe &pipe, const Work &w, Position<Float32> &at, const Place &p, float (&total)[accumulators]) {
#pragma unroll
    for (int x = 0; x < accumulators; ++x) total[x] = 0;
    const int n = w.n0 + p.column;
    const Span useful = useful_stages(flipped(args.b.fill), n, n + 64, w.k0, w.stages, stage_k);
    const int first = __shfl_sync(~0u, useful.begin, 0), last = __shfl_sync(~0u, useful.end, 0), stages = __shfl_sync(~0u, w.stages, 0);
    // Group 0 finds its first turn free.
    const auto turn_phase = [&] { return (at.turn_phase ^= 1) ^ (p.group == 1); };
    const auto pass = [&] {
      barrier_wait(pipe.turn(p.group), turn_phase());
      pass_turn(pipe, p);
      barrier_wait(pipe.low_full(at.low.slot), at.low.phase);
      pipe.release(at.stage.slot, p.lane);
      pipe.release_low(at.low.slot, p.lane);
      at.stage.next();
      at.low.next();
    };
    int s = 0;
    for (; s < first; ++s) pass();
    Fragment b;
    if (s < last) {
      barrier_wait(pipe.low_full(at.low.slot), at.low.phase);
      b.load(args, w, p, pipe.b(at.stage.slot), w.k0 + s * stage_k);
    }
    // With rows [32 from, 32 to) of A.
    const auto multiply = [&](auto from, auto to) {
      constexpr int row = 32 * decltype(from)::value, rows = 32 * decltype(to)::value - row;
      const int stage = at.stage.slot, low_stage = at.low.slot;
      uint32_t high[steps][4], low[steps][4];
#pragma unroll
      for (int x = 0; x < steps; ++x)
#pragma unroll
        for (int y = 0; y < 4; ++y) {
          const float v = b.f[x][y] * scale;
          high[x][y] = (__float_as_uint(v) + kHalf) & ~kDropped;
          low[x][y] = __float_as_uint((v - __uint_as_float(high[x][y])) * kOnTop);
          asm volatile("" : "+r"(high[x][y]), "+r"(low[x][y]));
        }
      const uint64_t a_high = a_descriptor(pipe.a(stage) + row * line), a_low = a_descriptor(pipe.a_low(low_stage) + row * line);
      float part[rows / 2];
      barrier_wait_after(low, pipe.turn(p.group), turn_phase());
      wgmma_fence();
      mma_tf32<rows, false>(part, low[0], a_high);
      mma_tf32<rows, true>(part, high[0], a_low);
#pragma unroll
      for (int x = 1; x < steps; ++x) {  // 8 k are 32 bytes, 2 in a descriptor
        mma_tf32<rows, true>(part, low[x], a_high + 2 * x);
        mma_tf32<rows, true>(part, high[x], a_low + 2 * x);
      }
#pragma unroll
      for (int x = 0; x < steps; ++x) {
        if (x == steps - 2) pass_turn(pipe, p);  // early: until it has arrived, these two keep the tensor cores busy
        mma_tf32<rows, true>(part, high[x], a_high + 2 * x);
      }
      wgmma_commit();
      at.stage.next();
      at.low.next();
      if (++s < last) {
        barrier_wait(pipe.low_full(at.low.slot), at.low.phase);
        b.load(args, w, p, pipe.b(at.stage.slot), w.k0 + s * stage_k);
      }
      wgmma_wait<0>();
      pin(part);
      pipe.release(stage, p.lane);
      pipe.release_low(low_stage, p.lane);
#pragma unroll
      for (int x = 0; x < rows / 2; ++x) total[row / 2 + x] += part[x];
    };
    using std::integral_constant;
    // Where A's diagonal crosses the block, only the rows that it holds.
    const int across = __shfl_sync(~0u, (w.k0 - w.m0) / stage_k, 0);  // block of rows that it crosses at the first stage
    const bool lower = args.a.fill == Fill::lower, upper = args.a.fill == Fill::upper;
    if (upper && s < last && across + s == 0) multiply(integral_constant<int, 0>{}, integral_constant<int, 1>{});
    if (upper && s < last && across + s == 1) multiply(integral_constant<int, 0>{}, integral_constant<int, 2>{});
    if (upper && s < last && across + s == 2) multiply(integral_constant<int, 0>{}, integral_constant<int, 3>{});
    const int whole = lower ? min(last, 1 - across) : last;
    while (s < whole) multiply(integral_constant<int, 0>{}, integral_constant<int, 4>{});
    if (lower && s < last && across + s == 1) multiply(integral_constant<int, 1>{}, integral_constant<int, 4>{});
    if (lower && s < last && across + s == 2) multiply(integral_constant<int, 2>{}, integral_constant<int, 4>{});
    if (lower && s < last && across + s == 3) multiply(integral_constant<int, 3>{}, integral_constant<int, 4>{});
    for (; s < stages; ++s) pass();
  }
};

// One TF32 product. The copy engine rounds both inputs to nearest even on their way into shared memory. On stages that meet A's diagonal
// the helper warps mask there, and only the blocks of 64 rows that the diagonal leaves are multiplied. Small products have more use for
// single blocks of 128 x 128.
template <int BlockM, int Cluster>
struct Tf32 : Float<BlockM, Cluster, 32, true> {
  template <bool, bool> using Lying = Tf32;
  using Base = Float<BlockM, Cluster, 32, true>;
  using Base::accumulators, Base::a_descriptor, Base::block, Base::blocks, Base::line, Base::masked, Base::stage_k, Base::steps;
  static constexpr int stages = BlockM == 256 ? 4 : 6, low_stages = 0, helpers = 64, producer_registers = 40, consumer_registers = 232;
  static constexpr bool to_tf32 = true;
  static constexpr float scale = 1;
  __device__ static float exact(float x) { return round_tf32(x); }

  template <class Pipe>
  __device__ static void feed(const Arguments &args, const Pipe &pipe, const Work &w, int s, int k, int rank) {
    Base::feed(args, pipe, w.a_mask.meets(k, stage_k) ? pipe.raw(s) : pipe.full(s), w, s, k, rank);
  }

  // The diagonal crosses half a block; where the other half lies beyond it, that becomes zero. Whole blocks beyond it are not multiplied.
  template <class Pipe>
  __device__ static void rework(const Arguments &args, const Pipe &pipe, const Work &w, Position<Tf32> &at, int t, int) {
    constexpr int half_bytes = 32 * line, vectors = half_bytes / 16;
    static_assert(stage_k == 32, "the diagonal crosses half a block of rows");
    const int depth = static_cast<int>(args.tiling.k);
    for (int s = 0; s < w.stages; ++s, at.stage.next()) {
      const int k = w.k0 + s * stage_k, slot = at.stage.slot, crossed = (k - w.m0) / stage_k;
      if (!w.a_mask.meets(k, stage_k)) continue;
      barrier_wait(pipe.raw(slot), at.raw_phases >> slot & 1);
      at.raw_phases ^= 1u << slot;
      const uint32_t half = pipe.a(slot) + (2 * block(args, crossed / 2) + crossed % 2) * half_bytes;
      const bool beyond_above = args.a.mask == Fill::lower && crossed % 2 == 1, beyond_below = args.a.mask == Fill::upper && crossed % 2 == 0;
#pragma unroll
      for (int x = t; x < vectors; x += helpers) {
        const int row = x >> 3, col = 4 * ((x & 7) ^ (row & 7));
        store4(half + x * 16, masked(load4(half + x * 16), args.a.mask, args.a.unit, row - col, k + row < depth));
        if (beyond_above) store4(half - half_bytes + x * 16, make_float4(0, 0, 0, 0));
        if (beyond_below) store4(half + half_bytes + x * 16, make_float4(0, 0, 0, 0));
      }
      fence_async();
      named_barrier(kHelperBarrier, helpers);
      if (t == 0) barrier_arrive(pipe.full(slot));
    }
  }

  template <class Pipe>
  __device__ static void sum(const Arguments &args, const Pipe &pipe, const Work &w, Position<Tf32> &at, const Place &p, float (&sums)[accumulators]) {
#pragma unroll
    for (int x = 0; x < accumulators; ++x) sums[x] = 0;
    pin(sums);
    const int n = w.n0 + p.column;
    const Span useful = useful_stages(flipped(args.b.fill), n, n + 64, w.k0, w.stages, stage_k);
    const int first = __shfl_sync(~0u, useful.begin, 0), last = __shfl_sync(~0u, useful.end, 0), stages = __shfl_sync(~0u, w.stages, 0);
    const int across = __shfl_sync(~0u, (w.k0 - w.m0) / stage_k, 0);  // block of 32 rows that A's diagonal crosses at the first stage
    const bool lower = args.a.fill == Fill::lower, upper = args.a.fill == Fill::upper;
    const auto pass = [&] {
      barrier_wait(pipe.full(at.stage.slot), at.stage.phase);
      pipe.release(at.stage.slot, p.lane);
      at.stage.next();
    };
    int s = 0, multiplied = -1;  // the stage whose product may still run
    uint32_t even[steps][4], odd[steps][4];  // taken in turns: a product in flight still reads the other
    // With the first so many blocks of A.
    const auto multiply = [&](uint32_t (&b)[steps][4], auto some) {
      const int stage = at.stage.slot;
      barrier_wait(pipe.full(stage), at.stage.phase);
      at.stage.next();
      typename Base::Fragment fragment;
      fragment.load(args, w, p, pipe.b(stage), w.k0 + s * stage_k);
#pragma unroll
      for (int x = 0; x < steps; ++x)
#pragma unroll
        for (int y = 0; y < 4; ++y) {
          b[x][y] = __float_as_uint(fragment.f[x][y]);
          asm volatile("" : "+r"(b[x][y]));
        }
      const uint64_t a = a_descriptor(pipe.a(stage));
      wgmma_fence();
#pragma unroll
      for (int x = 0; x < steps; ++x) mma_tf32<64 * decltype(some)::value, true>(sums, b[x], a + 2 * x);
      wgmma_commit();
      wgmma_wait<1>();
      if (multiplied >= 0) pipe.release(multiplied, p.lane);
      multiplied = stage;
      ++s;
    };
    const auto drain = [&] {
      wgmma_wait<0>();
      pin(sums);
      if (multiplied >= 0) pipe.release(multiplied, p.lane);
      multiplied = -1;
    };
    // The stages up to `end`. Products of different shapes are not ordered among themselves, so one ends before the next begins.
    const auto narrow = [&](int end, auto some) {
      while (s < end) {
        multiply(even, some);
        drain();
      }
    };
    const auto reach = [&](int rows) { return min(last, rows / stage_k - across); };  // the stage at which A's diagonal has come so far
    using std::integral_constant;
    for (; s < first; ++s) pass();
    if (upper) {
      narrow(reach(64), integral_constant<int, 1>{});
      if constexpr (blocks == 4) {
        narrow(reach(128), integral_constant<int, 2>{});
        narrow(reach(192), integral_constant<int, 3>{});
      }
    }
    const int whole = lower ? reach(64) : last;
    if (s < whole && (whole - s) % 2 == 1) multiply(odd, integral_constant<int, blocks>{});
    while (s < whole) {
      multiply(even, integral_constant<int, blocks>{});
      multiply(odd, integral_constant<int, blocks>{});
    }
    drain();
    if (lower) {
      if constexpr (blocks == 4) {
        narrow(reach(128), integral_constant<int, 3>{});
        narrow(reach(192), integral_constant<int, 2>{});
      }
      narrow(reach(BlockM), integral_constant<int, 1>{});
    }
    for (; s < stages; ++s) pass();
  }
};

// float16 and bfloat16: C = A B, both straight from shared memory in whichever direction their lines run: along rows or not. The two blocks of a cluster lie one above
// the other and share B; small products have more use for single blocks of 128 x 128. On stages that meet a diagonal the helper warps mask in shared memory first.
template <bool Bfloat, int BlockN, int Cluster, bool ARows = true, bool BRows = true>
struct Half {
  template <bool A, bool B> using Lying = Half<Bfloat, BlockN, Cluster, A, B>;
  using Element = std::conditional_t<Bfloat, __nv_bfloat16, __half>;
  static constexpr int group_m = 64, group_n = BlockN, a_box_rows = 64, b_box_cols = 64, cluster = Cluster, tile_m = 128 * Cluster, tile_n = BlockN;
  static constexpr int blocks = BlockN / 64;  // of 64 columns
  static constexpr int stage_k = 64, stages = blocks == 4 ? 4 : 6, low_stages = 0, accumulators = BlockN / 2, producer_registers = 56, consumer_registers = 224;
  static constexpr int a_bytes = 128 * 128, b_bytes = BlockN * 128, output_bytes = blocks == 4 ? 28672 : 8 * 2048;
  static constexpr bool rows_together = false;
  static constexpr int helpers = 64;
  static constexpr bool to_tf32 = false;
  static constexpr float scale = 1;
  static constexpr uint16_t one = Bfloat ? 0x3f80 : 0x3c00;
  static_assert(stage_k * sizeof(Element) == 128, "a row of a tile is one 128-byte swizzle line");

  // The two blocks of a cluster have the outer and the inner rows of a tile: so a diagonal of A leaves both as much to do.
  __device__ static int2 part(int rank, int group) { return make_int2(64 * (cluster == 1 ? group : rank == 0 ? 3 * group : 1 + group), 0); }

  __device__ static float exact(Element x) { return widen(x); }
  __device__ static float widen(Element x) { return static_cast<float>(x); }
  __device__ static Element narrow(float x) {
    if constexpr (Bfloat) return __float2bfloat16_rn(x);
    else return __float2half_rn(x);
  }
  __device__ static uint32_t narrow(float low, float high) {
    uint32_t both;
    if constexpr (Bfloat) asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    else asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
  }
  __device__ static float2 widen(uint32_t both) {
    if constexpr (Bfloat) return make_float2(__uint_as_float(both << 16), __uint_as_float(both & 0xffff0000u));
    else return __half22float2(__halves2half2(__ushort_as_half(both & 0xffff), __ushort_as_half(both >> 16)));
  }
  __device__ static int2 place(const Arguments &args, const Place &p, int x) {
    return make_int2(p.row + p.warp * 16 + (p.lane >> 2) + 8 * (x >> 1 & 1), 64 * block(args, x >> 5) + 8 * (x >> 2 & 7) + 2 * (p.lane & 3) + (x & 1));
  }
  // Blocks of 64 columns, in memory and in accumulators, are in such an order that those which B's diagonal leaves come first.
  __device__ static int block(const Arguments &args, int x) { return args.b.fill == Fill::upper ? blocks - 1 - x : x; }
  __device__ static bool meets_diagonal(const Work &w, int k) { return w.a_mask.meets(k, stage_k) || w.b_mask.meets(k, stage_k); }

  template <class Pipe>
  __device__ static void feed(const Arguments &args, const Pipe &pipe, const Work &w, int s, int k, int rank) {
    const uint32_t barrier = meets_diagonal(w, k) ? pipe.raw(s) : pipe.full(s);
    barrier_expect(barrier, a_bytes + b_bytes);
    const int a_batch = args.a.batch_stride ? w.batch : 0, b_batch = args.b.batch_stride ? w.batch : 0;
    const int m = w.m0 - static_cast<int>(args.a.first_row);
    for (int group = 0; group < 2; ++group) {
      const int row = m + part(rank, group).x;
      copy_in(pipe.a(s) + group * 8192, &args.a_map, barrier, ARows ? k : row, ARows ? row : k, a_batch);
    }
    for (int x = rank * blocks / cluster; x < (rank + 1) * blocks / cluster; ++x) {
      const int n = w.n0 - static_cast<int>(args.b.first_col) + block(args, x) * 64;
      if constexpr (cluster > 1) copy_in_all(pipe.b(s) + x * 8192, &args.b_map, barrier, BRows ? n : k, BRows ? k : n, b_batch, (1 << cluster) - 1);
      else copy_in(pipe.b(s) + x * 8192, &args.b_map, barrier, BRows ? n : k, BRows ? k : n, b_batch);
    }
  }

  // Line `row` of a block of 64 x 64 on the diagonal, whose lines have this fill: eight vectors of 16 bytes, one of which the diagonal crosses. Blocks beyond the
  // diagonal are never multiplied. `inside`: k reaches to this row's diagonal element.
  static_assert(helpers == 64, "a helper thread has one row of a block");
  __device__ static void mask_row(uint32_t block, int row, Fill fill, bool unit, bool inside) {
    const int crossed = row >> 3, diagonal = row & 7;
#pragma unroll
    for (int x = 0; x < 8; ++x)
      if (fill == Fill::lower ? x > crossed : fill == Fill::upper && x < crossed) store4(block + swizzled(row, x), make_float4(0, 0, 0, 0));
    const uint32_t kept = fill == Fill::lower ? (2u << diagonal) - 1 : fill == Fill::upper ? ~0u << diagonal : ~0u;
    const float4 old = load4(block + swizzled(row, crossed));
    uint32_t word[4] = {__float_as_uint(old.x), __float_as_uint(old.y), __float_as_uint(old.z), __float_as_uint(old.w)};
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      word[x] &= (kept >> 2 * x & 1 ? 0xffffu : 0) | (kept >> (2 * x + 1) & 1 ? 0xffff0000u : 0);
      if (unit && diagonal >> 1 == x) {
        const uint32_t value = inside ? one : 0;
        word[x] = diagonal & 1 ? (word[x] & 0xffffu) | value << 16 : (word[x] & 0xffff0000u) | value;
      }
    }
    store4(block + swizzled(row, crossed), make_float4(__uint_as_float(word[0]), __uint_as_float(word[1]), __uint_as_float(word[2]), __uint_as_float(word[3])));
  }
  template <class Pipe>
  __device__ static void rework(const Arguments &args, const Pipe &pipe, const Work &w, Position<Half> &at, int t, int rank) {
    const int depth = static_cast<int>(args.tiling.k);
    for (int s = 0; s < w.stages; ++s, at.stage.next()) {
      const int k = w.k0 + s * stage_k, slot = at.stage.slot, b_block = (k - w.n0) >> 6;
      if (!meets_diagonal(w, k)) continue;
      barrier_wait(pipe.raw(slot), at.raw_phases >> slot & 1);
      at.raw_phases ^= 1u << slot;
      if (w.a_mask.meets(k, stage_k))
        for (int group = 0; group < 2; ++group)
          if (k == w.m0 + part(rank, group).x) mask_row(pipe.a(slot) + group * 8192, t, ARows ? args.a.mask : flipped(args.a.mask), args.a.unit, k + t < depth);
      if (w.b_mask.meets(k, stage_k) && b_block >= 0 && b_block < blocks)
        mask_row(pipe.b(slot) + block(args, b_block) * 8192, t, BRows ? args.b.mask : flipped(args.b.mask), args.b.unit, k + t < depth);
      fence_async();
      named_barrier(kHelperBarrier, helpers);
      if (t == 0) barrier_arrive(pipe.full(slot));
    }
  }

  template <class Pipe>
  __device__ static void sum(const Arguments &args, const Pipe &pipe, const Work &w, Position<Half> &at, const Place &p, float (&sums)[accumulators]) {
#pragma unroll
    for (int x = 0; x < accumulators; ++x) sums[x] = 0;
    pin(sums);
    const int m = w.m0 + p.row;
    const Span useful = useful_stages(args.a.fill, m, m + 64, w.k0, w.stages, stage_k);
    const int first = __shfl_sync(~0u, useful.begin, 0), last = __shfl_sync(~0u, useful.end, 0), stages = __shfl_sync(~0u, w.stages, 0);
    const int across = __shfl_sync(~0u, (w.k0 - w.n0) >> 6, 0);  // block of 64 columns that B's diagonal crosses at the first stage
    const bool lower = args.b.fill == Fill::lower, upper = args.b.fill == Fill::upper;
    const auto pass = [&] {
      barrier_wait(pipe.full(at.stage.slot), at.stage.phase);
      pipe.release(at.stage.slot, p.lane);
      at.stage.next();
    };
    int s = 0;
    const auto begin = [&](auto columns) {  // starts a stage's product
      const int stage = at.stage.slot;
      barrier_wait(pipe.full(stage), at.stage.phase);
      at.stage.next();
      ++s;
      const uint64_t a = descriptor(pipe.a(stage) + p.group * 8192, 8192, 1024), b = descriptor(pipe.b(stage), 8192, 1024);
      wgmma_fence();
#pragma unroll
      for (int x = 0; x < 4; ++x)  // 16 k: 32 bytes of a line along k, or 16 lines of 128 bytes
        mma_16<decltype(columns)::value, Bfloat, ARows, !BRows>(sums, a + (ARows ? 2 : 128) * x, b + (BRows ? 128 : 2) * x);
      wgmma_commit();
      return stage;
    };
    // Products of different shapes are not ordered among themselves: a narrow one runs alone.
    const auto narrow = [&](auto columns) {
      const int stage = begin(columns);
      wgmma_wait<0>();
      pin(sums);
      pipe.release(stage, p.lane);
    };
    using std::integral_constant;
    for (; s < first; ++s) pass();
    // Where B's diagonal crosses the tile, only the blocks of 64 columns that it holds.
    if (lower && s < last && across + s == 0) narrow(integral_constant<int, 64>{});
    if constexpr (blocks == 4) {
      if (lower && s < last && across + s == 1) narrow(integral_constant<int, 128>{});
      if (lower && s < last && across + s == 2) narrow(integral_constant<int, 192>{});
    }
    const int whole = upper ? min(last, 1 - across) : last;
    int multiplied = -1;  // the stage whose product may still run
    while (s < whole) {
      const int stage = begin(integral_constant<int, BlockN>{});
      wgmma_wait<1>();
      if (multiplied >= 0) pipe.release(multiplied, p.lane);
      multiplied = stage;
    }
    wgmma_wait<0>();
    pin(sums);
    if (multiplied >= 0) pipe.release(multiplied, p.lane);
    if constexpr (blocks == 4) {
      if (upper && s < last && across + s == 1) narrow(integral_constant<int, 192>{});
      if (upper && s < last && across + s == 2) narrow(integral_constant<int, 128>{});
    }
    if (upper && s < last && across + s == blocks - 1) narrow(integral_constant<int, 64>{});
    for (; s < stages; ++s) pass();
  }

  // 16 rows and 64 columns of C between memory and a warp's room in shared memory, whole in 128-byte runs. Otherwise a row at a time, two elements a thread.
  struct Window {
    const Arguments &args;
    uint16_t *c;  // of this batch, as bits
    uint32_t room;
    int m, n, lane;
    bool whole;

    __device__ uint32_t vector(int x) const { return room + swizzled(4 * x + (lane >> 3), lane & 7); }
    __device__ uint16_t *vector_in_c(int x) const { return c + (m + 4 * x + (lane >> 3)) * args.ldc + n + (lane & 7) * 8; }
    __device__ uint32_t pair(int row) const { return room + swizzled(row, lane >> 2) + (lane & 3) * 4; }

    __device__ void load() const {
      if (whole) {
#pragma unroll
        for (int x = 0; x < 4; ++x) store4(vector(x), __ldcs(reinterpret_cast<const float4 *>(vector_in_c(x))));
      } else {
#pragma unroll 1
        for (int rows = 0; rows < 16; rows += 8) {  // eight reads in flight
          uint32_t both[8];
#pragma unroll
          for (int x = 0; x < 8; ++x) {
            const Bounds held = columns_held(args.tiling, m + rows + x);
            const int j = n + 2 * lane;
            const uint16_t *const from = c + args.c_rows.at(m + rows + x) + j;
            both[x] = (held.hold(j) ? from[0] : 0u) | (held.hold(j + 1) ? from[1] : 0u) << 16;
          }
#pragma unroll
          for (int x = 0; x < 8; ++x) store1(pair(rows + x), both[x]);
        }
      }
    }
    __device__ void store() const {
      if (whole) {
#pragma unroll
        for (int x = 0; x < 4; ++x) __stcs(reinterpret_cast<float4 *>(vector_in_c(x)), load4(vector(x)));
      } else {
#pragma unroll 4
        for (int row = 0; row < 16; ++row) {
          const Bounds held = columns_held(args.tiling, m + row);
          const int j = n + 2 * lane;
          uint16_t *const to = c + args.c_rows.at(m + row) + j;
          const uint32_t both = load1(pair(row));
          if (held.hold(j)) to[0] = static_cast<uint16_t>(both);
          if (held.hold(j + 1)) to[1] = static_cast<uint16_t>(both >> 16);
        }
      }
    }
    // Adds beta times what the room holds to these 64 columns of the sums. Lane l names row l % 16 of two matrices of 8 columns.
    __device__ __forceinline__ void add(int columns, float (&sums)[accumulators]) const {
      __syncwarp();
#pragma unroll
      for (int pair = 0; pair < 8; pair += 2) {
        float old[4];
        load_matrices(room + swizzled(lane & 15, pair + (lane >> 4)), old);
#pragma unroll
        for (int x = 0; x < 4; ++x) {
          const float2 both = widen(__float_as_uint(old[x]));
          float *const sum = sums + (columns * 8 + pair) * 4 + 2 * x;
          sum[0] = fmaf(args.beta, both.x, sum[0]);
          sum[1] = fmaf(args.beta, both.y, sum[1]);
        }
      }
      __syncwarp();
    }
  };

  // Through shared memory, a warp for itself, so that lines of C leave in 128-byte runs.
  template <class Pipe>
  __device__ static void store(const Arguments &args, const Pipe &pipe, const Work &w, const Place &p, float (&sums)[accumulators], bool zeros) {
    const Tiling &t = args.tiling;
    const int m = w.m0 + p.row + p.warp * 16, g = p.lane >> 2;
#pragma unroll
    for (int x = 0; x < accumulators; ++x) sums[x] *= args.alpha;
    if (zeros) {
      const Bounds top = columns_with_k(t, m + g), bottom = columns_with_k(t, m + g + 8);
#pragma unroll
      for (int x = 0; x < accumulators; ++x)
        if (!(x & 2 ? bottom : top).hold(w.n0 + place(args, p, x).y)) sums[x] = 0;
    }
    const uint32_t rooms = pipe.base + Pipe::output;
    Window window{args, static_cast<uint16_t *>(args.c) + w.batch * args.c_batch_stride, 0, m, 0, p.lane, false};
    if (args.whole_lines) {
      window.room = rooms + (p.group * 4 + p.warp) * 2048;
      store_blocks(args, window, w, sums);
    } else {
      static_assert(Pipe::zeros - Pipe::output + kZeroBytes >= 8 * line_room, "there are no boxes of zeros where lines are not aligned");
      window.room = rooms + (p.group * 4 + p.warp) * line_room;
      store_lines(args, window, w, sums);
    }
  }
  __device__ static __forceinline__ void store_blocks(const Arguments &args, Window &window, const Work &w, float (&sums)[accumulators]) {
    const Tiling &t = args.tiling;
#pragma unroll
    for (int columns = 0; columns < blocks; ++columns) {
      window.n = w.n0 + block(args, columns) * 64;
      if (!stored_partly(t, window.m, 16, window.n, 64)) continue;
      window.whole = held_whole(t, window.m, 16, window.n, 64);
      const auto matrices = [&](int pair) { return window.room + swizzled(window.lane & 15, pair + (window.lane >> 4)); };  // of 8 columns each
      __syncwarp();
      if (args.beta != 0.0f) {
        window.load();
        window.add(columns, sums);
      }
#pragma unroll
      for (int pair = 0; pair < 8; pair += 2) {
        const int x = (columns * 8 + pair) * 4;
        store_matrices(matrices(pair), narrow(sums[x], sums[x + 1]), narrow(sums[x + 2], sums[x + 3]), narrow(sums[x + 4], sums[x + 5]), narrow(sums[x + 6], sums[x + 7]));
      }
      __syncwarp();
      window.store();
    }
  }

  // Where lines of C begin anywhere: eight rows of the tile at a time, so that of a row no more than its two ends are not whole vectors on boundaries of memory. A vector there comes from two in
  // shared memory; the ends are stored an element a thread.
  static constexpr uint32_t line_room = 8 * 2 * BlockN;
  __device__ static __forceinline__ void store_lines(const Arguments &args, Window &window, const Work &w, float (&sums)[accumulators]) {
    const Tiling &t = args.tiling;
    if (!stored_partly(t, window.m, 16, w.n0, BlockN)) return;
    if (args.beta != 0.0f) {
#pragma unroll
      for (int columns = 0; columns < blocks; ++columns) {
        window.n = w.n0 + block(args, columns) * 64;
        window.load();
        window.add(columns, sums);
      }
    }
    const int lane = window.lane;
    const auto vector = [&](int row, int x) { return window.room + row * 2 * BlockN + ((x ^ row) << 4); };
    const auto stage = [&](int half) {
#pragma unroll
      for (int x = 0; x < accumulators / 4; x += 4) {  // four matrices of 8 columns
        const auto both = [&](int y) { return narrow(sums[(x + y) * 4 + 2 * half], sums[(x + y) * 4 + 2 * half + 1]); };
        store_matrices(vector(lane & 7, 8 * block(args, x / 8) + x % 8 + (lane >> 3)), both(0), both(1), both(2), both(3));
      }
    };
    const auto held = [&](int m) {
      const Bounds columns = columns_held(t, m);
      return Bounds{max(columns.begin - w.n0, 0), min(columns.end - w.n0, BlockN)};
    };
    const auto line = [&](int m) { return window.c + args.c_rows.at(m) + w.n0; };
    const auto before = [](const uint16_t *line) { return static_cast<int>((0 - reinterpret_cast<uintptr_t>(line) / 2) & 7); };  // the first boundary
    constexpr int vectors = BlockN / 8, rows = 32 / vectors;
    const int x = lane % vectors, across = lane / vectors;
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
      const int m = window.m + 8 * half;
      __syncwarp();
      if (half == 0) stage(0);
      else stage(1);
      __syncwarp();
      uint16_t *to = line(m + across);
      int64_t step = rows * args.c_rows.step + args.c_rows.bend * (rows * int64_t{m + across} + rows * (rows - 1) / 2);  // of so many rows
#pragma unroll
      for (int row = 0; row < 8; row += rows) {
        const Bounds columns = held(m + row + across);
        const int first = before(to);
        const float4 v = shifted(load4(vector(row + across, x)), load4(vector(row + across, min(x + 1, vectors - 1))), 2 * first);
        if (first + 8 * x >= columns.begin && first + 8 * x + 8 <= columns.end) __stcs(reinterpret_cast<float4 *>(to + first + 8 * x), v);
        to += step;
        step += rows * rows * args.c_rows.bend;
      }
#pragma unroll
      for (int pair = 0; pair < 8; pair += 2) {
        const int row = pair + (lane >> 4);
        uint16_t *const ends = line(m + row);
        const Bounds columns = held(m + row);
        const int first = before(ends), begin = columns.begin + ((first - columns.begin) & 7), end = columns.end - ((columns.end - first) & 7);
        const int at = lane & 8 ? end + (lane & 7) : columns.begin + (lane & 7);
        if (lane & 8 ? at >= begin && at < columns.end : at < min(begin, columns.end)) ends[at] = static_cast<uint16_t>(load1(vector(row, at >> 3) + (at & 6) * 2) >> 16 * (at & 1));
      }
    }
  }
};

}  // namespace tritri::cuda::hopper
