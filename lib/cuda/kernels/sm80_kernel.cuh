// The skeleton for cards from sm_80 on: one thread block per tile of C, a ring of shared-memory stages filled by cp.async, register blocks
// that multiply them. A traits struct says what is multiplied and how; fill, unit diagonal, op, order, alignment and batch are data.
//
// Three places know an element type: its core in tile/, its traits in kernels/sm80_<type>.cu, and its line in sm80_variants().
#pragma once
#include "cuda/heuristics.h"
#include "cuda/runtime/check.h"
#include "cuda/schedule/cut_sums.h"
#include "cuda/tile/element.h"
#include "cuda/tile/sm80_order.h"
#include "cuda/tile/sm80_panel.cuh"
#include "cuda/tile/sm80_pieces.cuh"

namespace tritri::cuda {

struct Sm80Arguments {
  ProductArguments p;
  Panel a, b;         // b is B transposed
  GroupedOrder order;
  unsigned batch;
  bool conj_b, conj_c;  // conj(A) B = conj(A conj(B)): only B is conjugated on its way into the products
  bool mirrors;         // a tile beside the diagonal clears its mirror image, where C is structurally zero, while it multiplies

  Sm80Arguments(const Problem &problem, const GroupedOrder &order, bool mirrors)
      : p(problem), a(problem.a, element_bytes(problem.dtype)), b(transposed(problem.b), element_bytes(problem.dtype)), order(order),
        batch(static_cast<unsigned>(problem.batch)), conj_b(problem.a.conj != problem.b.conj), conj_c(problem.a.conj), mirrors(mirrors) {}
};

// For shapes that cut sums. No runs: none is cut.
struct Sm80CutArguments : Sm80Arguments {
  CutSums cut;
  void *partials;                // a tile for each slot
  unsigned long long *counters;  // one for each slot, of which a tile uses the first
  unsigned long long nonce;      // what "arrived" looks like; no earlier content of the workspace looks like that

  Sm80CutArguments(const Problem &problem, const GroupedOrder &order, bool mirrors, const CutSums &cut, void *partials, unsigned long long *counters, unsigned long long nonce)
      : Sm80Arguments(problem, order, mirrors), cut(cut), partials(partials), counters(counters), nonce(nonce) {}
};

// One instantiation of the skeleton, as the host sees it.
struct Sm80Variant {
  int tile_m, tile_n, tile_k, threads;
  int resident;         // thread blocks that share a multiprocessor
  size_t shared_bytes;
  size_t piece_bytes;   // of workspace for each piece of a sum that is cut; 0 where none is
  bool mirrors;
  double rate;          // real multiply-adds relative to the card's float32 FMA rate once the card is full
  double alone;         // the same for a block that has its multiprocessor to itself
  void (*load)();
  void (*launch)(const Sm80CutArguments &arguments, unsigned blocks, cudaStream_t stream);
};
struct Sm80Variants { const Sm80Variant *first; int count; };
// The longest sum comes in `pieces`, which meet in `workspace`.
size_t sm80_workspace(const Problem &problem, const Sm80Variant &variant, int64_t pieces);
void sm80_launch(const Problem &problem, const Sm80Variant &variant, int64_t pieces, void *workspace, cudaStream_t stream);
extern const Sm80Variants sm80_f32, sm80_f64, sm80_c64, sm80_c128;

// Tr: Core (see tile/sm80_ffma.cuh), tile_m, tile_n, tile_k, slices, stages, resident, cuts (long sums on demand), mirrors; rate and alone for the cost model. Copies
// between the products are for lines that are even (see Panel) or for any.
// The warps of one slice cover the tile; slices take turns at the steps along k and add up at the end. So a small tile can have enough warps
// to keep its multiprocessor busy: a tile's sum takes as long as its tile is large, and the longest one bounds small products.
template <class Tr, bool even = true>
struct Sm80Shape {
  using Core = typename Tr::Core;
  using T = typename Core::T;
  static constexpr int warps_n = Tr::tile_n / Core::warp_n, slice_warps = Tr::tile_m / Core::warp_m * warps_n, threads = 32 * slice_warps * Tr::slices;
  static constexpr int slice_k = Tr::tile_k / Tr::slices;
  static constexpr int ahead = Tr::stages - 2, pending = ahead - 2;  // turns that stages are filled ahead; copies that a turn's end leaves under way
  static constexpr bool lines_a = Core::lines_a;  // A's stages lie line by line
  static constexpr int row_a = lines_a ? Tr::tile_k + vector_elements<T> : Tr::tile_m + Core::pad, row_b = Tr::tile_n + Core::pad, row_c = Tr::tile_n + vector_elements<T>;
  static constexpr int stage_a = (lines_a ? Tr::tile_m : Tr::tile_k) * row_a, stage_b = Tr::tile_k * row_b;
  static constexpr size_t loop_bytes = sizeof(T) * Tr::stages * (stage_a + stage_b);
  static constexpr size_t tile_bytes = sizeof(T) * Tr::tile_m * row_c;  // the sums pass through the same memory on their way to C
  static constexpr size_t work_bytes = loop_bytes > tile_bytes ? loop_bytes : tile_bytes;
  static constexpr size_t barrier_bytes = 2 * sizeof(uint64_t);
  static constexpr size_t shared_bytes = work_bytes + barrier_bytes + (Tr::cuts ? sizeof(SumPiece) : 0);
  using Arguments = std::conditional_t<Tr::cuts, Sm80CutArguments, Sm80Arguments>;
  static_assert(Tr::tile_m % Core::warp_m == 0 && Tr::tile_n % Core::warp_n == 0, "warps must cover the tile");
  static_assert(Tr::tile_k == slice_k * Tr::slices && slice_k % Core::step == 0, "a stage holds as many whole steps for every slice");
  static_assert(!Tr::cuts || Tr::tile_k <= CutSums::least_piece, "every piece has a turn");
  static_assert(Tr::stages >= 4, "warps may be a turn apart: two stages are multiplied, one is complete, one fills");
  // Copies between the products, a few per round; they end late, which takes one stage more.
  static constexpr bool copies_beside = Core::rounds > 0 && slice_k == Core::step && Tr::stages > 4;
  using LoaderA = std::conditional_t<lines_a, LineLoader<T, Tr::tile_m, Tr::tile_k, row_a, threads, even>, PanelLoader<T, Tr::tile_m, Tr::tile_k, row_a, threads, even, Core::pairs_a>>;
  using LoaderB = PanelLoader<T, Tr::tile_n, Tr::tile_k, row_b, threads, even, false>;
};

// Neither NaN nor zero: what the sum of an element that exists comes out as, nearly always.
__device__ __forceinline__ bool is_plain(float x) { return fabsf(x) > 0; }
__device__ __forceinline__ bool is_plain(double x) { return fabs(x) > 0; }
template <class R> __device__ __forceinline__ bool is_plain(Complex<R> x) { return !is_nan(x) && !is_zero(x); }

// Assumes: batch * tiles fits gridDim.x; m, n, k < 2^30; packed inputs have no whole lines beside their triangle; C apart from A and B.
template <class Tr, bool even = true>
__global__ void __launch_bounds__(Sm80Shape<Tr>::threads, Tr::resident) sm80(const __grid_constant__ typename Sm80Shape<Tr>::Arguments args) {
  using Shape = Sm80Shape<Tr, even>;
  using Core = typename Shape::Core;
  using T = typename Shape::T;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  // As a number that came from another lane: the compiler would work out where shared memory begins anew at every use.
  const unsigned shared_begin = __shfl_sync(~0u, static_cast<unsigned>(__cvta_generic_to_shared(shared_bytes)), 0);
  T *const shared = static_cast<T *>(__cvta_shared_to_generic(shared_begin)), *const stages_a = shared, *const stages_b = shared + Tr::stages * Shape::stage_a;

  const ProductArguments &p = args.p;
  const int64_t batch = blockIdx.x % args.batch;
  SumPiece part{static_cast<int>(blockIdx.x / args.batch), 0, 1, 0};
  if constexpr (Tr::cuts) {
    if (args.cut.runs > 0) part = args.cut.at(part.tile);
  }
  const GridPlace place = args.order.tile(part.tile);
  const int i0 = static_cast<int>(place.u) * Tr::tile_m, j0 = static_cast<int>(place.v) * Tr::tile_n;
  const int m = static_cast<int>(p.m), n = static_cast<int>(p.n);
  if (i0 >= m || j0 >= n) return;
  const Range rows{i0, min(i0 + Tr::tile_m, m)}, cols{j0, min(j0 + Tr::tile_n, n)};
  if (!holds_tile(p.c.fill, rows, cols)) return;

  constexpr int vector = vector_elements<T>;
  T *const target = static_cast<T *>(const_cast<void *>(p.c.data)) + batch * p.c.batch_stride;
  // Most tiles leave as they are; a sum that is zero or NaN, and then its tile, goes through shared memory and is settled.
  const bool replaces = p.beta_re == 0 && p.beta_im == 0, plain = replaces && p.alpha_re == 1 && p.alpha_im == 0;
  const auto corner = [&] { return target + i0 * p.c.ld + j0; };
  const auto is_sums = [&] { return plain && !args.conj_c; };  // where no sum is zero or NaN
  const auto is_simple = [&] {
    return is_sums() && !p.c.packed && i0 + Tr::tile_m <= m && j0 + Tr::tile_n <= n && block_is_whole(p.c.fill, false, rows, cols) &&
           (reinterpret_cast<uintptr_t>(corner()) | static_cast<uint64_t>(p.c.ld) * sizeof(T)) % 16 == 0;
  };
  // The mirror image is cleared a vector per thread and turn: at once, zeros wait for memory.
  constexpr int mirror_row = Tr::tile_m / vector, mirror_step = Shape::threads / mirror_row;
  int mirror_left = 0;
  T *mirror = nullptr;
  const auto clear_some = [&] {
    __stcs(reinterpret_cast<int4 *>(mirror), int4{});
    mirror += mirror_step * p.c.ld;
    --mirror_left;
  };
  const auto clear_rest = [&] {
    while (Tr::mirrors && mirror_left > 0) clear_some();
  };
  if constexpr (Tr::mirrors) {
    static_assert(Tr::tile_m == Tr::tile_n && Shape::threads % mirror_row == 0 && Tr::tile_n % mirror_step == 0, "mirror images are tiles, of whole vectors for every thread");
    if (args.mirrors && i0 != j0 && max(i0, j0) + Tr::tile_m <= m) {
      if ((i0 < j0) == (p.a.fill == Fill::lower)) return;
      mirror = target + (j0 + threadIdx.x / mirror_row) * p.c.ld + i0 + threadIdx.x % mirror_row * vector;
      mirror_left = Tr::tile_n / mirror_step;
    }
  }

  const Range range = k_range(p.a.fill, p.b.fill, p.k, rows, cols);
  int k_begin = static_cast<int>(range.begin), turns = (static_cast<int>(range.size()) + Tr::tile_k - 1) / Tr::tile_k;
  SumPiece *const kept_part = reinterpret_cast<SumPiece *>(shared_bytes + Shape::work_bytes + Shape::barrier_bytes);  // not in registers
  if constexpr (Tr::cuts) {
    const int first = turns * part.piece / part.pieces;
    turns = turns * (part.piece + 1) / part.pieces - first;
    k_begin += first * Tr::tile_k;
    if (threadIdx.x == 0) *kept_part = part;
  }
  if (turns > 0) {
    typename Shape::LoaderA loader_a(args.a, matrix_of<T>(p.a, batch), i0, k_begin);
    typename Shape::LoaderB loader_b(args.b, matrix_of<T>(p.b, batch), j0, k_begin);

    // A warp multiplies only the k that its own rows and columns have, rounded to steps. Warps of one scheduler (every fourth) get rows of different
    // halves and columns of different halves, so that near a diagonal no scheduler idles while others work.
    const int warp_index = __shfl_sync(~0u, threadIdx.x / 32, 0), first_k = warp_index / Shape::slice_warps * Shape::slice_k;
    const int warp = (warp_index + (Shape::slice_warps > 4 ? 0 : warp_index / 4 * (Shape::slice_warps / 2))) % Shape::slice_warps, across = warp / Shape::warps_n;
    const int warp_row = across * Core::warp_m, warp_col = (warp + across * (Shape::warps_n + 1) / 2) % Shape::warps_n * Core::warp_n;
    const Range own = k_range(p.a.fill, p.b.fill, p.k, {i0 + warp_row, i0 + warp_row + Core::warp_m}, {j0 + warp_col, j0 + warp_col + Core::warp_n});
    const bool outside = i0 + warp_row >= m || j0 + warp_col >= n;
    const int own_begin = static_cast<int>(own.begin) - k_begin, own_end = outside ? 0 : static_cast<int>(own.end) - k_begin;

    Core core;
    const T *const warp_a = stages_a + kept(warp_row * (Shape::lines_a ? Shape::row_a : 1) + Core::template place_a<Shape::row_a>());
    const T *const warp_b = stages_b + kept(warp_col + Core::template place_b<Shape::row_b>());
    // Stages are filled `ahead` turns ahead; the first turns only fill, so that the loads stand here once. At the end of a turn, a warp says
    // that it has read the turn's stage and that its copies of the turn after next are there; what it waits for is what all said a turn
    // before. So warps may be a turn apart, and none stands still while the slowest finishes.
    const unsigned ready = shared_begin + Shape::work_bytes;  // [2]: even turns, odd turns
    const auto ready_in = [ready](int turn) { return ready + (turn & 1) * 8; };
    if (threadIdx.x == 0) {
      barrier_init(ready, Shape::threads);
      barrier_init(ready + 8, Shape::threads);
    }
    __syncthreads();
    constexpr int ahead = Shape::ahead, pending = Shape::pending;
    int filled = 0, used = 0;
    const auto next = [](int stage) { return stage == Tr::stages - 1 ? 0 : stage + 1; };
    const auto landed = [&](int turn, int stage) {
      if constexpr (is_complex_element<T>) {
        if (args.conj_b && turn < turns) loader_b.conjugate(stages_b + stage * Shape::stage_b, turn);
      }
    };
    // What this warp multiplies of the turn that is open.
    int begin = 0, end = 0;
    const T *a = warp_a, *b = warp_b;
    const auto open = [&](int turn) {
      static_assert((Core::step & (Core::step - 1)) == 0, "whole steps by a mask");
      const int base = turn * Tr::tile_k + first_k;
      begin = max(own_begin - base, 0) & -Core::step;
      end = min(own_end - base, Shape::slice_k);
      a = warp_a + used * Shape::stage_a;
      b = warp_b + used * Shape::stage_b;
      barrier_wait(ready_in(turn), turn >> 1 & 1);
      if (begin < end) core.template fetch<Shape::row_a, Shape::row_b>(a, b, first_k + begin);
    };
    const auto close = [&](int turn) {
      wait_for_copies<pending>();
      landed(turn + 2, next(next(used)));
      barrier_arrive(ready_in(turn));
      used = next(used);
    };
#pragma unroll 1
    for (int turn = -ahead; turn < turns; ++turn) {
      if (turn == 0) {
        wait_for_copies<pending>();
        landed(0, 0);
        landed(1, 1);
        barrier_arrive(ready);
        barrier_arrive(ready + 8);
        open(0);
      }
      const int fills = turn + ahead;
      T *const fill_a = stages_a + filled * Shape::stage_a, *const fill_b = stages_b + filled * Shape::stage_b;
      filled = next(filled);
      const bool beside = Shape::copies_beside && fills < turns && begin < end && loader_a.comes_in_parts(fills) && loader_b.comes_in_parts(fills);
      if (!beside) {
        if (fills < turns) {
          loader_a.load(fill_a, fills);
          loader_b.load(fill_b, fills);
        }
        commit_copies();
      }
      if (turn < 0) continue;
      if (Tr::mirrors && Core::rounds == 0 && mirror_left > 0) clear_some();
      const auto copy_beside = [&](int round) {
        constexpr int parts = Core::rounds / 2;
        if (Tr::mirrors && Core::rounds > 0 && round == parts && mirror_left > 0) clear_some();
        if constexpr (Shape::copies_beside) {
          if (!beside || round >= parts) return;
          loader_a.template load_part<parts>(fill_a, fills, round);
          loader_b.template load_part<parts>(fill_b, fills, round);
          if (round + 1 == parts) commit_copies();
        }
      };
      const auto open_next = [&] {
        if (turn + 1 < turns) open(turn + 1);
      };
      core.template multiply<Shape::row_a, Shape::row_b, Shape::slice_k>(a, b, first_k + begin, end - begin, copy_beside, [&] { close(turn); }, open_next);
    }
    clear_rest();
    if constexpr (Core::leaves_directly && Tr::slices == 1) {
      bool whole_sums = true;
      if constexpr (Tr::cuts) whole_sums = kept_part->pieces == 1;
      if (is_simple() && whole_sums) {
        bool settled[vector];
        for (bool &x : settled) x = true;
        core.each_vector(0, 1, [&](int, int, Vector<T> v) {
          for (int e = 0; e < vector; ++e) settled[e] = settled[e] && is_plain(v.value[e]);
        });
        bool all = true;
        for (const bool x : settled) all = all && x;
        if (__syncthreads_and(all)) {
          T *const to = corner() + warp_row * p.c.ld + warp_col;
          core.each_vector(0, 1, [&](int r, int c, Vector<T> v) { *reinterpret_cast<Vector<T> *>(to + r * p.c.ld + c) = v; });
          return;
        }
      }
    }
    __syncthreads();
    T *const sums = shared + warp_row * Shape::row_c + warp_col;
    // Slices take turns at the parts of their sums, so that all of them are at work all the time.
    static_assert(Core::put_parts % Tr::slices == 0, "as many rows for every slice");
#pragma unroll
    for (int round = 0; round < Tr::slices; ++round) {
#pragma unroll
      for (int part = 0; part < Tr::slices; ++part) {
        if (first_k != (part + Tr::slices - round) % Tr::slices * Shape::slice_k) continue;
        if (round == 0) core.template put<Shape::row_c, false>(sums, part, Tr::slices);
        else core.template put<Shape::row_c, true>(sums, part, Tr::slices);
      }
      __syncthreads();
    }
    if constexpr (Tr::cuts) {
      const SumPiece cut = *kept_part;
      if (cut.pieces > 1) {
        constexpr int count = Tr::tile_m * Shape::row_c / vector_elements<T>;
        auto *const partials = static_cast<Vector<T> *>(args.partials) + static_cast<int64_t>(cut.slot) * count;
        const bool whole = gather_pieces<Shape::threads, count, T>(reinterpret_cast<Vector<T> *>(shared), partials, args.counters + cut.slot, args.nonce, cut.piece, cut.pieces, &kept_part->tile);
        if (!whole) return;
      }
    }
  }

  if (turns == 0) clear_rest();

  constexpr int per_row = Tr::tile_n / vector;
  // A sum over masked zeros alone is zero or, beside an Inf, NaN: settle looks at those again.
  const bool whole = p.a.fill == Fill::full && p.b.fill == Fill::full;
  if (turns > 0 && is_simple()) {
    T *const to = corner();
    bool all = true;
#pragma unroll 8
    for (int index = threadIdx.x; index < Tr::tile_m * per_row; index += Shape::threads) {
      const int r = index / per_row, c = index % per_row * vector;
      const Vector<T> sums = Core::template sums<Shape::row_c>(shared, r, c);
      bool settled = true;
#pragma unroll
      for (int e = 0; e < vector; ++e) settled = settled && is_plain(sums.value[e]);
      if (settled) *reinterpret_cast<Vector<T> *>(to + r * p.c.ld + c) = sums;
      all = all && settled;
    }
    if (all) return;
  } else if (turns > 0 && is_sums() && has_line_starts(p.c.lines())) {
    // Lines begin anywhere, or a diagonal or the edge of C crosses the tile: neighbours by neighbouring threads, each in one column.
    constexpr int rows_apart = Shape::threads / Tr::tile_n;
    static_assert(Shape::threads % Tr::tile_n == 0, "a thread stays in its column");
    const int c = threadIdx.x % Tr::tile_n, first = threadIdx.x / Tr::tile_n, on_diagonal = j0 + c - i0;
    const int begin = p.c.fill == Fill::lower ? on_diagonal : 0, end = j0 + c >= n ? 0 : min(m - i0, p.c.fill == Fill::upper ? on_diagonal + 1 : Tr::tile_m);
    const LineStarts starts = line_starts(p.c.lines());
    LineSteps<int64_t> lines(starts, i0 + first);
    T *to = target + starts.at(i0 + first) + j0 + c;
    bool all = true;
#pragma unroll 8
    for (int r = first; r < Tr::tile_m; r += rows_apart) {
      const T sum = Core::template sum_at<Shape::row_c>(shared, r, c);
      const bool held = r >= begin && r < end, settled = is_plain(sum);
      if (held && settled) *to = sum;
      all = all && (settled || !held);
      to += lines.to(rows_apart);
      lines.pass(rows_apart);
    }
    if (__syncthreads_and(all)) return;
  }
#pragma unroll 1
  for (int index = threadIdx.x; index < Tr::tile_m * per_row; index += Shape::threads) {
    const int r = index / per_row, c = index % per_row * vector;
    const int i = i0 + r, j = j0 + c;
    if (i >= m) break;
    const Range held = row_held(p.c.fill, i, p.n);
    Vector<T> sums{};
    if (turns > 0) sums = Core::template sums<Shape::row_c>(shared, r, c);
    const auto product = [&](int e) -> Settled<T> {
      T sum = sums.value[e];
      if (turns == 0) return {sum, true};
      if constexpr (is_complex_element<T>) {
        if (args.conj_c) sum.im = -sum.im;
      }
      if (whole) return {sum, false};
      return settle<T>(p, batch, i, j + e, sum);
    };
    T *const to = target + (p.c.packed ? p.c.offset(i, 0) : i * p.c.ld) + j;
    if (reinterpret_cast<uintptr_t>(to) % 16 == 0 && j >= held.begin && j + vector <= held.end) {
      Vector<T> values{};
      if (!replaces) values = *reinterpret_cast<const Vector<T> *>(to);
#pragma unroll
      for (int e = 0; e < vector; ++e) {
        const Settled<T> settled = product(e);
        if (!plain) store<T>(p, &values.value[e], settled);
        else if (!settled.structural_zero) values.value[e] = settled.sum;
      }
      *reinterpret_cast<Vector<T> *>(to) = values;
    } else {
#pragma unroll
      for (int e = 0; e < vector; ++e)
        if (j + e >= held.begin && j + e < held.end) store<T>(p, to + e, product(e));
    }
  }
}

// Lines, where there is one: the same tile for an A whose lines lie along k.
template <class Tr, class Lines = Tr>
constexpr Sm80Variant sm80_variant() {
  static_assert(Tr::tile_m == Lines::tile_m && Tr::tile_n == Lines::tile_n && Tr::tile_k == Lines::tile_k, "one plan stands for both");
  static_assert(!Tr::Core::lines_a, "any A must find a kernel");
  constexpr size_t shared_bytes = std::max(Sm80Shape<Tr>::shared_bytes, Sm80Shape<Lines>::shared_bytes);
  constexpr bool any_lines = !Lines::Core::lines_a;  // serve A's as well as others
  const auto load = [] {
    for (const auto kernel : {sm80<Tr>, sm80<Lines>, sm80<Lines, any_lines>})
      TRITRI_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)));
  };
  const auto launch = [](const Sm80CutArguments &arguments, unsigned blocks, cudaStream_t stream) {
    const bool lines = !any_lines && arguments.a.lines_along_k, even = arguments.a.even_lines && arguments.b.even_lines;
    const auto kernel = !lines ? sm80<Tr> : even ? sm80<Lines> : sm80<Lines, any_lines>;
    kernel<<<blocks, Sm80Shape<Tr>::threads, lines ? Sm80Shape<Lines>::shared_bytes : Sm80Shape<Tr>::shared_bytes, stream>>>(arguments);
    TRITRI_CUDA_CHECK(cudaGetLastError());
  };
  return {Tr::tile_m, Tr::tile_n, Tr::tile_k, Sm80Shape<Tr>::threads, Tr::resident, shared_bytes, Tr::cuts ? Sm80Shape<Tr>::tile_bytes : 0, Tr::mirrors, Tr::rate, Tr::alone, load, launch};
}

}  // namespace tritri::cuda
