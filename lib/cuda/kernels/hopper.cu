// Hopper's kernels as the device sees them: what they take, what they cost, how they are launched. The device code is in hopper_kernel.cuh
// (the skeleton) and hopper_traits.cuh (what differs between float32, TF32, float16 and bfloat16).
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <iterator>

#include "cuda/kernels/hopper_arrange.cuh"
#include "cuda/kernels/hopper_traits.cuh"
#include "cuda/kernels/hopper_unpack.cuh"
#include "cuda/kernels/kernel.h"
#include "cuda/kernels/tensor_map.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/early_start.h"
#include "cuda/schedule/work.h"

namespace tritri::cuda {
namespace hopper {
namespace {

// Measured on an H200: what a stage takes a worker, what a launch takes beside its work, what a tile costs beside its stages, what more it costs in a batch, and what the
// diagonal of an input costs. What diagonals spare counts where that balances better.
template <class T> struct Model;
template <> struct Model<Float32> { static constexpr double stage = 1.08e-6, launch = 4e-6, many = 2e-6, masks = 0; static constexpr int spared = 0; static constexpr Costs costs{3, 8, 11, 12}; };
template <> struct Model<Tf32<256, 2>> { static constexpr double stage = 0.64e-6, launch = 6e-6, many = 1.7e-6, masks = 0; static constexpr int spared = 0; static constexpr Costs costs{7, 8, 6, 11, 6}; };
template <> struct Model<Tf32<128, 1>> { static constexpr double stage = 0.52e-6, launch = 1.7e-6, many = 0.3e-6, masks = 0; static constexpr int spared = 2; static constexpr Costs costs{8, 16, 1, 1}; };
template <bool B> struct Model<Half<B, 256, 2>> { static constexpr double stage = 0.65e-6, launch = 4e-6, many = 1.65e-6, masks = 0; static constexpr int spared = 0; static constexpr Costs costs{5, 12, 6, 11, 5}; };
template <bool B> struct Model<Half<B, 128, 1>> { static constexpr double stage = 0.4e-6, launch = 1e-6, many = 4e-6, masks = 2.3e-6; static constexpr int spared = 0; static constexpr Costs costs{5, 16, 1, 1, 4}; };

constexpr int64_t kMostColumns = INT_MAX - 1024;
constexpr int64_t kMostBlocks = 65535, kMostRows = kMostBlocks * kArrangeEdge;  // of a grid's second and third dimension
constexpr int kUnpackShared = 25;  // percent of an SM's memory that is to be shared memory while it unpacks, which needs none: said so, it is up to 5 % of bfloat16's and 1 % of float32's time at n = 4096, as seen on an H200
constexpr int kPageItems = 3072;  // of a list that travels to workspace in kernel parameters
constexpr double kArrangeLaunch = 4e-6, kUnpackLaunch = 2.5e-6;
constexpr size_t kBesideCopies = size_t{72} << 20;  // of workspace, for all else

constexpr size_t kAlign = 256;
size_t aligned(size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }
bool divides16(int64_t elements, int64_t element) { return elements * element % 16 == 0; }

template <class T> constexpr bool is_float = std::is_same_v<typename T::Element, float>;

template <class T> constexpr double kApart = is_float<T> ? 2e-9 : 20e-9;  // what a thread's element takes more where lines of C are not aligned, as seen on an H200
template <class T> constexpr double kAdded = is_float<T> ? 100e-9 : 40e-9;  // what a thread's element takes more that is added to C, as seen on an H200

template <class T>
int workers_on(const GpuTraits &traits) {  // a cluster of two fits wherever two multiprocessors do: they come in pairs
  return std::max(1, std::min(traits.multiprocessors / T::cluster, kMostWorkers));
}

// Inputs much larger than the L2 cache are better read by groups of neighbours, smaller ones by balance alone.
template <class T>
Costs costs(const Problem &p) {
  constexpr int64_t large = int64_t{192} << 20;
  Costs costs = Model<T>::costs;
  if (std::max(p.m, p.n) * p.k * static_cast<int64_t>(sizeof(typename T::Element)) < large) costs.group_rows = costs.group_cols = 1;
  return costs;
}

template <class T>
Tiling tiling(const Problem &p) {
  Tiling t{p.a.fill, p.b.fill, p.c.fill, p.m, p.n, p.k, p.batch, T::tile_m, T::tile_n, T::stage_k};
  t.spared = Model<T>::spared;
  return t;
}

template <class T> bool copies_a(const Problem &p) { return (!p.a.row_lines && is_float<T>) || !mappable(p.a, sizeof(typename T::Element)); }
template <class T> bool copies_b(const Problem &p) { return !mappable(p.b, sizeof(typename T::Element)); }

// What one launch takes on, so that its copies of inputs fit: matrices of a batch, rows and columns of tiles of one matrix.
struct Part {
  int64_t batch, tile_rows, tile_cols;
};

int64_t copied_ld(int64_t length) { return (length + 63) / 64 * 64; }

// As many of `all` as `fit`, or a little fewer: the parts are alike.
int64_t alike(int64_t all, int64_t fit) {
  const int64_t parts = (all + std::max<int64_t>(1, fit) - 1) / std::max<int64_t>(1, fit);
  return (all + parts - 1) / parts;
}

int64_t copied_elements(int64_t rows, int64_t cols, bool row_lines) { return row_lines ? rows * copied_ld(cols) : cols * copied_ld(rows); }

// `copied`: bytes for copies.
template <class T>
Part part_of(const Problem &p, size_t copied) {
  constexpr int64_t element = sizeof(typename T::Element);
  const auto most = static_cast<int64_t>(copied);
  const Tiling t = tiling<T>(p);
  const int64_t a = copies_a<T>(p) ? copied_elements(p.m, p.k, p.a.row_lines || is_float<T>) * element : 0, b = copies_b<T>(p) ? copied_elements(p.k, p.n, p.b.row_lines) * element : 0;
  const int64_t each = (p.a.batch_stride ? a : 0) + (p.b.batch_stride ? b : 0), all = a + b - each;  // of one matrix, and for all of them
  if (p.batch > 1 && each + all <= most) return {each > 0 ? std::min(p.batch, (most - all) / each) : p.batch, t.tiles_m(), t.tiles_n()};
  Part part{1, t.tiles_m(), t.tiles_n()};
  const int64_t a_tile = a > 0 ? copied_elements(T::tile_m, p.k, true) * element : 0, b_tile = b > 0 ? copied_elements(p.k, T::tile_n, p.b.row_lines) * element : 0;
  if (a + b <= most || a_tile + b_tile > most) return part;  // the latter cannot fit in whatever strips
  // For every strip of columns A is copied anew, so those are wide.
  const int64_t b_room = a > 0 ? most / 8 * 5 : most;
  if (b > 0) part.tile_cols = alike(t.tiles_n(), b_room / b_tile);
  if (a > 0) part.tile_rows = alike(t.tiles_m(), (most - (b > 0 ? std::min(b, part.tile_cols * b_tile) : 0)) / a_tile);
  return part;
}

// Where an input is copied to before the kernel, if it must be.
struct Copy {
  bool needed = false;
  size_t at = 0, bytes = 0;
  int64_t ld = 0, batch_stride = 0;
  bool row_lines = true;
};

bool unpacks(const View &x, const Copy &copy) { return copy.needed && x.packed && x.row_lines == copy.row_lines; }

struct Places {
  size_t flags = 0, partials = 0, items = 0, total = 0;
  Copy a, b;
};

template <class T>
bool in_strips(const Problem &p, const Part &part) {
  const Tiling t = tiling<T>(p);
  return part.tile_rows < t.tiles_m() || part.tile_cols < t.tiles_n();
}

// For a part of the problem, or for the first strip of several: the others need no more.
template <class T>
Places places(const Problem &p, const Part &part, bool cuts, int workers) {
  constexpr int64_t element = sizeof(typename T::Element);
  Places w;
  const auto take = [&](size_t bytes) {
    const size_t at = w.total;
    w.total += aligned(bytes);
    return at;
  };
  const auto place = [&](const View &x, bool needed, bool row_lines, int64_t most_rows, int64_t most_cols) {
    Copy copy;
    copy.needed = needed;
    copy.row_lines = row_lines;
    if (!needed) return copy;
    const int64_t rows = std::min(x.rows, most_rows), cols = std::min(x.cols, most_cols), elements = copied_elements(rows, cols, row_lines);
    copy.ld = copied_ld(row_lines ? cols : rows);
    copy.batch_stride = x.batch_stride ? elements : 0;
    copy.bytes = static_cast<size_t>(elements * element * (x.batch_stride ? part.batch : 1));
    copy.at = take(copy.bytes);
    return copy;
  };
  if (cuts) {
    const size_t slots = static_cast<size_t>(most_slots(workers)), parts = 2 * T::cluster;
    w.flags = take(slots * parts * sizeof(uint64_t));
    w.partials = take(slots * parts * T::accumulators * 128 * sizeof(float));
  }
  const int64_t tiles = part.tile_rows * part.tile_cols * part.batch;
  if (tiles + 2 * workers > kNearItems) w.items = take(static_cast<size_t>(tiles + 2 * workers) * sizeof(Item));
  const bool strips = part.tile_rows < tiling<T>(p).tiles_m();  // of rows
  w.a = place(p.a, copies_a<T>(p), p.a.row_lines || is_float<T> || strips, part.tile_rows * T::tile_m, p.k);
  w.b = place(p.b, copies_b<T>(p), p.b.row_lines, p.k, part.tile_cols * T::tile_n);
  return w;
}

// A box that a line's end cuts is stored up to the next 16 bytes (seen on an H200), so lines must end there.
template <class T>
bool stores_boxes(const Problem &p) {
  constexpr int64_t element = sizeof(typename T::Element);
  return mappable(p.c, element) && static_cast<float>(p.beta.real()) == 0.0f && divides16(p.n, element);
}

bool has_work(const Tiling &t, bool zeros_elsewhere) {
  for (int64_t i = t.rows_from; i < t.rows_end(); ++i)
    for (int64_t j = t.cols_from; j < t.cols_end(); ++j)
      if (t.c_holds_some(i, j) && !(zeros_elsewhere && t.only_zeros(i, j))) return true;
  return false;
}

// The strips of one matrix, or the whole of a group of them: f(strip, whether A's and B's copies must be made for it). The first one comes in any case: it stores zeros.
template <class T, class F>
void each_strip(const Problem &p, const Part &part, F &&f) {
  Tiling t = tiling<T>(p);
  t.batch = std::min(p.batch, part.batch);
  bool a_is_there = false;
  for (; t.cols_from < t.tiles_n(); t.cols_from += part.tile_cols) {
    t.cols_to = t.cols_from + part.tile_cols;
    bool b_is_there = false;
    for (t.rows_from = 0; t.rows_from < t.tiles_m(); t.rows_from += part.tile_rows) {
      t.rows_to = t.rows_from + part.tile_rows;
      const bool first = t.cols_from == 0 && t.rows_from == 0;
      if (!first && !has_work(t, stores_boxes<T>(p))) continue;
      f(t, !a_is_there || part.tile_rows < t.tiles_m(), !b_is_there);
      a_is_there = b_is_there = true;
    }
  }
}

bool takes(const Float32 *, Dtype dtype, int32_t compute) { return dtype == Dtype::f32 && compute == TRITRI_COMPUTE_DEFAULT; }
template <int M, int C>
bool takes(const Tf32<M, C> *, Dtype dtype, int32_t compute) { return dtype == Dtype::f32 && compute == TRITRI_COMPUTE_TF32; }
template <bool B, int N, int C>
bool takes(const Half<B, N, C> *, Dtype dtype, int32_t) { return dtype == (B ? Dtype::bf16 : Dtype::f16); }

// Single blocks load more than blocks that share: they pay while there are about as many as multiprocessors.
template <class T>
int64_t most_tiles(const GpuTraits &traits) { return std::is_same_v<T, Float32> || T::cluster > 1 ? kMostTiles : 2 * traits.multiprocessors; }

template <class T>
bool can(const Problem &p, const GpuTraits &traits) {
  const Tiling t = tiling<T>(p);
  return takes(static_cast<const T *>(nullptr), p.dtype, p.compute) && traits.compute_major == 9 && traits.compute_minor == 0 &&
         traits.shared_bytes >= static_cast<size_t>(Pipe<T>::bytes) && has_line_starts(p.c.lines()) && p.m <= kMostRows && p.k <= kMostRows && p.n <= kMostColumns &&
         p.batch <= kMostBlocks && t.tiles_n() <= kMostTiles && t.tiles_m() * t.tiles_n() * p.batch <= most_tiles<T>(traits);
}

template <class T>
Plan plan(const Problem &p, const GpuTraits &traits, size_t room) {
  const int workers = workers_on<T>(traits);
  Plan plan;
  plan.copied = std::max(room / 2, room - std::min(room, kBesideCopies));
  const Part part = part_of<T>(p, plan.copied);
  plan.tile_m = T::tile_m;
  plan.tile_n = T::tile_n;
  plan.tile_k = T::stage_k;
  const double memory = fills_bytes(p) * static_cast<double>(part.batch) / static_cast<double>(p.batch) / traits.bytes_per_second;
  bool cuts = false;
  int launches = 0, copies_of_a = 0, copies_of_b = 0;
  const double all = static_cast<double>(tiling<T>(p).tiles_m() * tiling<T>(p).tiles_n());
  each_strip<T>(p, part, [&](const Tiling &t, bool copies_a, bool copies_b) {
    const Load load = recall_load(t);
    if (load.cuts(workers, Model<T>::costs)) {
      cuts = true;  // launch() knows by more than one piece
      plan.pieces = std::max({plan.pieces, int64_t{2}, static_cast<int64_t>(std::ceil(load.longest / load.piece_limit(workers, Model<T>::costs)))});
    }
    const double work = Model<T>::stage * load.longest_worker(workers, Model<T>::costs), moved = memory * static_cast<double>((t.rows_end() - t.rows_from) * (t.cols_end() - t.cols_from)) / all;
    plan.seconds += Model<T>::launch + Model<T>::masks * ((p.a.fill != Fill::full) + (p.b.fill != Fill::full)) + std::sqrt(std::hypot(work * work, moved * moved));  // the greater one, nearly
    // That some tiles are stored an element at a time, on edges or on a cut through C, is not seen; that C's lines are not aligned is.
    const double tiles = std::max(1.0, load.tiles / workers);
    if (!mappable(p.c, sizeof(typename T::Element))) plan.seconds += kApart<T> * T::accumulators * tiles;
    if (p.beta != std::complex<double>(0, 0)) plan.seconds += kAdded<T> * T::accumulators * tiles;
    if (p.batch > 1) plan.seconds += Model<T>::many * load.tiles / workers;
    ++launches;
    copies_of_a += copies_a;
    copies_of_b += copies_b;
  });
  const Places w = places<T>(p, part, cuts || in_strips<T>(p, part), workers);
  plan.workspace = w.total;
  // A triangle is half of the bytes, read and written; what is unpacked shares a launch.
  const auto copy_seconds = [&](const View &x, const Copy &copy) {
    if (!copy.needed) return 0.0;
    return (unpacks(x, copy) ? 0 : kArrangeLaunch) + static_cast<double>(copy.bytes) * (unpacks(x, copy) ? 0.95 : 1.45) / traits.bytes_per_second;
  };
  plan.seconds += copies_of_a * copy_seconds(p.a, w.a) + copies_of_b * copy_seconds(p.b, w.b);
  if (unpacks(p.a, w.a) || unpacks(p.b, w.b)) plan.seconds += launches * kUnpackLaunch;
  plan.seconds *= static_cast<double>((p.batch + part.batch - 1) / part.batch);
  return plan;
}

// The view of a copy, or of the input where there is none.
template <class T>
Side side(const View &x, const Copy &copy, char *workspace, int64_t first_row, int64_t first_col) {
  if (!copy.needed) return {x.data, x.ld, x.batch_stride, x.row_lines, x.fill, x.fill, x.unit, 0, 0};
  return {workspace + copy.at, copy.ld, copy.batch_stride, copy.row_lines, x.fill, Fill::full, false, first_row, first_col};
}

template <class T> using WordOf = std::conditional_t<is_float<T>, uint32_t, uint16_t>;

// Of op(X).
struct Window {
  Range rows, cols;
};

template <class T>
Arrangement<WordOf<T>> arrangement(const View &x, const Copy &copy, char *workspace, const Window &window) {
  constexpr WordOf<T> one = is_float<T> ? 0x3f800000 : std::is_same_v<typename T::Element, __nv_bfloat16> ? 0x3f80 : 0x3c00;
  return {x, reinterpret_cast<WordOf<T> *>(workspace + copy.at), copy.ld, copy.batch_stride, copy.row_lines, one, window.rows.begin, window.cols.begin};
}

// Launches the copy, where that is more than to unpack lines.
template <class T>
void copy_in(const Problem &p, const View &x, const Copy &copy, char *workspace, const Window &window, cudaStream_t stream) {
  if (!copy.needed || unpacks(x, copy)) return;
  using Word = WordOf<T>;
  const auto blocks = [](int64_t size) { return static_cast<unsigned>((size + kArrangeEdge - 1) / kArrangeEdge); };
  const auto batches = static_cast<unsigned>(x.batch_stride ? p.batch : 1);
  arrange<Word><<<dim3(blocks(window.cols.size()), blocks(window.rows.size()), batches), kArrangeThreads, 0, stream>>>(arrangement<T>(x, copy, workspace, window));
  TRITRI_CUDA_CHECK(cudaGetLastError());
}

// What is copied of both inputs for a strip; of one that is there already, nothing.
struct Windows {
  bool a = false, b = false;
  Window of_a, of_b;
};

// Launches what copy_in left.
template <class T>
void unpack_in(const Problem &p, const Places &w, char *workspace, const Windows &windows, cudaStream_t stream) {
  using Word = WordOf<T>;
  constexpr int64_t part = kUnpackBytes / sizeof(Word);
  const auto divided = [](int64_t size, int64_t by) { return static_cast<unsigned>((size + by - 1) / by); };
  Unpacking<Word> both{};
  unsigned line_blocks = 0;
  const auto add = [&](int which, const View &x, const Copy &copy, const Window &window) {
    const Range lines = x.row_lines ? window.rows : window.cols, positions = x.row_lines ? window.cols : window.rows;
    both.inputs[which] = arrangement<T>(x, copy, workspace, window);
    both.lines[which] = lines;
    both.positions[which] = positions;
    both.batches[which] = static_cast<unsigned>(x.batch_stride ? p.batch : 1);
    both.parts = std::max(both.parts, divided(positions.size(), part));
    line_blocks = std::max(line_blocks, divided(lines.size(), kUnpackWarps));
  };
  const auto flush = [&] {
    const unsigned batches = both.batches[0] + both.batches[1];
    if (batches > 0) launch_early(unpack<Word>, dim3(line_blocks * both.parts, batches), dim3(32, kUnpackWarps), stream, both);
    both.batches[0] = both.batches[1] = both.parts = line_blocks = 0;
  };
  if (windows.a && unpacks(p.a, w.a)) add(0, p.a, w.a, windows.of_a);
  if (2 * p.batch > kMostBlocks) flush();
  if (windows.b && unpacks(p.b, w.b)) add(1, p.b, w.b, windows.of_b);
  flush();
}

// Under a map of TF32 the copy engine rounds float32 to nearest even, keeps Inf and subnormals and makes one NaN of all (seen on an H200).
template <class T>
CUtensorMapDataType map_type(bool to_tf32) {
  if (is_float<T>) return to_tf32 ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  return std::is_same_v<typename T::Element, __nv_bfloat16> ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
}

template <class T>
auto entry(bool a_rows, bool b_rows) {
  if (a_rows) return b_rows ? multiply<typename T::template Lying<true, true>> : multiply<typename T::template Lying<true, false>>;
  return b_rows ? multiply<typename T::template Lying<false, true>> : multiply<typename T::template Lying<false, false>>;
}

// Lines of `length` elements, taken in boxes.
template <class T>
CUtensorMap map_of(const void *data, int64_t length, int64_t lines, int64_t batch, int64_t ld, int64_t batch_stride, int box_length, int box_lines,
                   CUtensorMapSwizzle swizzle, bool to_tf32 = T::to_tf32) {
  return tensor_map({data, map_type<T>(to_tf32), sizeof(typename T::Element), length, lines, batch, ld, batch_stride, box_length, box_lines, swizzle});
}

template <class T>
const Schedule &schedule_of(const Problem &p, const Tiling &tiling, int workers) { return recall_schedule(tiling, workers, costs<T>(p), stores_boxes<T>(p)); }

struct Page {
  Item items[kPageItems];
};
__global__ void write_items(const __grid_constant__ Page page, int count, Item *to) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (x < count) to[x] = page.items[x];
}

// The elements of C that a strip has; the rows are those of A's copy, the columns those of B's.
template <class T>
Window window_of(const Problem &p, const Tiling &strip) {
  return {{strip.rows_from * T::tile_m, std::min(p.m, strip.rows_end() * T::tile_m)}, {strip.cols_from * T::tile_n, std::min(p.n, strip.cols_end() * T::tile_n)}};
}

// All but the list. What is not used stays as it is: clearing it would cost a launch more than the list does.
template <class T>
void set_arguments(Arguments &args, const Problem &p, const Tiling &tiling, const Places &w, char *memory) {
  constexpr int64_t element = sizeof(typename T::Element);
  const auto [rows, cols] = window_of<T>(p, tiling);
  args.tiling = tiling;
  args.a = side<T>(p.a, w.a, memory, rows.begin, 0);
  args.b = side<T>(p.b, w.b, memory, 0, cols.begin);
  args.c = p.c_data();
  args.ldc = p.c.ld;
  args.c_rows = line_starts(p.c.lines());
  args.c_batch_stride = p.c.batch_stride;
  args.alpha = static_cast<float>(p.alpha.real());
  args.beta = static_cast<float>(p.beta.real());
  args.whole_lines = mappable(p.c, element);
  args.zero_boxes = stores_boxes<T>(p) && rows.begin == 0 && cols.begin == 0;  // the first strip stores all zeros
  args.partials = reinterpret_cast<float4 *>(memory + w.partials);
  args.flags = reinterpret_cast<uint64_t *>(memory + w.flags);
  // What "this launch's piece is there" looks like; no earlier content of the workspace looks like that.
  args.nonce = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) * 0x9e3779b97f4a7c15u | 1;

  // K-major tiles are a stage wide; a row-major B comes in boxes of 128 bytes.
  constexpr int b_cols = 128 / element;
  constexpr auto k_swizzle = T::stage_k * element == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B;
  const int64_t a_rows = w.a.needed ? rows.size() : p.m, b_cols_there = w.b.needed ? cols.size() : p.n;
  if (args.a.row_lines) args.a_map = map_of<T>(args.a.data, p.k, a_rows, p.batch, args.a.ld, args.a.batch_stride, T::stage_k, T::a_box_rows, k_swizzle);
  else args.a_map = map_of<T>(args.a.data, a_rows, p.k, p.batch, args.a.ld, args.a.batch_stride, T::a_box_rows, T::stage_k, k_swizzle);
  if (args.b.row_lines) args.b_map = map_of<T>(args.b.data, b_cols_there, p.k, p.batch, args.b.ld, args.b.batch_stride, b_cols, T::stage_k, CU_TENSOR_MAP_SWIZZLE_128B);
  else args.b_map = map_of<T>(args.b.data, p.k, b_cols_there, p.batch, args.b.ld, args.b.batch_stride, T::stage_k, T::b_box_cols, k_swizzle);
  if (args.zero_boxes) args.c_map = map_of<T>(args.c, p.n, p.m, p.batch, args.ldc, args.c_batch_stride, ZeroBoxes<T>::box_cols, ZeroBoxes<T>::box_rows, CU_TENSOR_MAP_SWIZZLE_NONE, false);
}

template <class T>
void enqueue(const Arguments &args, int workers, cudaStream_t stream) {
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {T::cluster, 1, 1};
  attributes[1] = early_start();  // its copies, or the product before it, are what it waits for
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(workers * T::cluster));
  config.blockDim = dim3(kThreads);
  config.dynamicSmemBytes = Pipe<T>::bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = 2;
  TRITRI_CUDA_CHECK(cudaLaunchKernelEx(&config, entry<T>(args.a.row_lines, args.b.row_lines), args));
}

template <class T>
void launch_strip(const Problem &p, const Tiling &tiling, const Places &w, char *memory, bool copies_a, bool copies_b, int workers, cudaStream_t stream) {
  const Window c = window_of<T>(p, tiling);
  const Windows windows{copies_a, copies_b, {c.rows, {0, p.k}}, {{0, p.k}, c.cols}};
  if (copies_a) copy_in<T>(p, p.a, w.a, memory, windows.of_a, stream);
  if (copies_b) copy_in<T>(p, p.b, w.b, memory, windows.of_b, stream);
  unpack_in<T>(p, w, memory, windows, stream);
  Arguments args;
  set_arguments<T>(args, p, tiling, w, memory);
  const Schedule &schedule = schedule_of<T>(p, tiling, workers);
  std::copy(schedule.first.begin(), schedule.first.end(), args.first);
  const size_t items = schedule.items.size();
  if (items <= kNearItems) {
    std::copy(schedule.items.begin(), schedule.items.end(), args.items);
    args.far_items = nullptr;
  } else {
    Item *const far = reinterpret_cast<Item *>(memory + w.items);
    for (size_t from = 0; from < items; from += kPageItems) {
      Page page;
      const size_t count = std::min<size_t>(kPageItems, items - from);
      std::memcpy(page.items, schedule.items.data() + from, count * sizeof(Item));
      write_items<<<kPageItems / 256, 256, 0, stream>>>(page, static_cast<int>(count), far + from);
      TRITRI_CUDA_CHECK(cudaGetLastError());
    }
    args.far_items = far;
  }

  enqueue<T>(args, workers, stream);
}

template <class T>
void launch(const Problem &p, const Plan &plan, void *workspace, const GpuTraits &traits, CUstream_st *stream) {
  const int workers = workers_on<T>(traits);
  const Part part = part_of<T>(p, plan.copied);
  const Places w = places<T>(p, part, plan.pieces > 1 || in_strips<T>(p, part), workers);
  for (int64_t batch = 0; batch < p.batch; batch += part.batch) {
    Problem group = p;
    group.batch = std::min(part.batch, p.batch - batch);
    for (View *x : {&group.a, &group.b, &group.c}) x->data = static_cast<const char *>(x->data) + batch * x->batch_stride * static_cast<int64_t>(sizeof(typename T::Element));
    each_strip<T>(group, part, [&](const Tiling &t, bool copies_a, bool copies_b) { launch_strip<T>(group, t, w, static_cast<char *>(workspace), copies_a, copies_b, workers, stream); });
  }
}

// The list of the first strip, and a launch without work.
template <class T>
void prepare(const Problem &p, const Plan &plan, const GpuTraits &traits, CUstream_st *stream) {
  const int workers = workers_on<T>(traits);
  const Part part = part_of<T>(p, plan.copied);
  Problem group = p;
  group.batch = std::min(part.batch, p.batch);
  Tiling t = tiling<T>(group);
  t.rows_to = part.tile_rows;
  t.cols_to = part.tile_cols;
  const Places w = places<T>(p, part, plan.pieces > 1 || in_strips<T>(p, part), workers);
  Arguments args;
  set_arguments<T>(args, group, t, w, reinterpret_cast<char *>(uintptr_t{1} << 20));  // any place that a map can have
  schedule_of<T>(group, t, workers);
  std::fill(std::begin(args.first), std::end(args.first), 0);
  args.far_items = nullptr;
  args.zero_boxes = false;
  enqueue<T>(args, workers, stream);
}

template <class T>
void load(const GpuTraits &traits) {
  if (traits.compute_major != 9 || traits.compute_minor != 0) return;
  using Word = WordOf<T>;
  cudaFuncAttributes attributes;
  for (const auto kernel : {entry<T>(true, true), entry<T>(true, false), entry<T>(false, true), entry<T>(false, false)}) {
    TRITRI_CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
    TRITRI_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Pipe<T>::bytes));
  }
  TRITRI_CUDA_CHECK(cudaFuncGetAttributes(&attributes, arrange<Word>));
  TRITRI_CUDA_CHECK(cudaFuncGetAttributes(&attributes, unpack<Word>));
  TRITRI_CUDA_CHECK(cudaFuncSetAttribute(unpack<Word>, cudaFuncAttributePreferredSharedMemoryCarveout, kUnpackShared));
  TRITRI_CUDA_CHECK(cudaFuncGetAttributes(&attributes, write_items));
  load_tensor_maps();
}

template <class T>
constexpr Kernel kernel(const char *name) { return {name, can<T>, plan<T>, load<T>, launch<T>, prepare<T>}; }

}  // namespace
}  // namespace hopper

extern const Kernel hopper_float32_kernel, hopper_tf32_kernel, hopper_tf32_small_kernel, hopper_float16_kernel, hopper_bfloat16_kernel, hopper_float16_small_kernel, hopper_bfloat16_small_kernel;
const Kernel hopper_float32_kernel = hopper::kernel<hopper::Float32>("hopper-3xtf32");
const Kernel hopper_tf32_kernel = hopper::kernel<hopper::Tf32<256, 2>>("hopper-tf32");
const Kernel hopper_tf32_small_kernel = hopper::kernel<hopper::Tf32<128, 1>>("hopper-tf32-small");
const Kernel hopper_float16_kernel = hopper::kernel<hopper::Half<false, 256, 2>>("hopper-float16");
const Kernel hopper_bfloat16_kernel = hopper::kernel<hopper::Half<true, 256, 2>>("hopper-bfloat16");
const Kernel hopper_float16_small_kernel = hopper::kernel<hopper::Half<false, 128, 1>>("hopper-float16-small");
const Kernel hopper_bfloat16_small_kernel = hopper::kernel<hopper::Half<true, 128, 1>>("hopper-bfloat16-small");

}  // namespace tritri::cuda
