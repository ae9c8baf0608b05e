// The cluster skeleton in the kernel table: what it serves, which of its shapes is expected to be fastest, and the launch.
#include <algorithm>
#include <cfloat>
#include <cmath>

#include "cuda/kernels/cluster_kernel.cuh"
#include "cuda/kernels/cluster_unpack.cuh"
#include "cuda/kernels/kernel.h"
#include "cuda/kernels/tensor_map.h"
#include "cuda/schedule/work.h"

namespace tritri::cuda {
namespace {

constexpr int64_t most_blocks = 65535;  // of a grid's second and third dimension

ClusterVariants variants_of(Dtype dtype) { return dtype == Dtype::f16 ? cluster_f16 : dtype == Dtype::bf16 ? cluster_bf16 : cluster_tf32; }

// What a product comes to in tiles of one size.
struct Load {
  double tiles = 0, stages = 0;  // of all that have any k
  int64_t all = 0, longest = 0;  // tiles of the grid; stages of one tile
};

Load measure(const Problem &p, const ClusterVariant &v) {
  const int stage_k = cluster_stage_k(element_bytes(p.dtype));
  const TileSums sums = tile_sums(p, v.tile_m, v.tile_n, stage_k);
  const double batch = static_cast<double>(p.batch);
  return {sums.tiles * batch, sums.k * batch, ceil_div(p.m, v.tile_m) * ceil_div(p.n, v.tile_n) * p.batch, ceil_div(sums.longest, stage_k)};
}

// Where inputs that maps cannot describe are copied to: workspace, their lines padded to whole blocks.
struct Copies {
  bool a = false, b = false;
  size_t a_bytes = 0, bytes = 0;  // of the first, of both
};

View copied(const Problem &p, const View &x, void *to) {
  constexpr int64_t block = 64;
  const Lines lines = x.lines();
  View copy = x;
  copy.data = to;
  copy.packed = false;
  copy.ld = ceil_div(lines.length, block) * block;
  copy.batch_stride = p.batch > 1 && x.batch_stride != 0 ? lines.count * copy.ld : 0;
  return copy;
}

Copies copies_of(const Problem &p) {
  constexpr size_t align = 256;
  const int64_t element = element_bytes(p.dtype);
  const auto bytes = [&](const View &x) {
    const View copy = copied(p, x, nullptr);
    return (static_cast<size_t>(x.lines().count * copy.ld * element * (copy.batch_stride ? p.batch : 1)) + align - 1) / align * align;
  };
  Copies copies;
  copies.a = !mappable(p.a, element);
  copies.b = !mappable(p.b, element);
  copies.a_bytes = copies.a ? bytes(p.a) : 0;
  copies.bytes = copies.a_bytes + (copies.b ? bytes(p.b) : 0);
  return copies;
}

// The grid that copies: parts of lines, by groups of lines.
struct CopyGrid {
  int64_t parts = 0, groups = 0;
};
CopyGrid copy_grid(const Problem &p, const Copies &copies) {
  CopyGrid grid;
  const auto add = [&](const Lines &lines) {
    grid.parts = std::max(grid.parts, ceil_div(lines.length * element_bytes(p.dtype), cluster_unpack_bytes));
    grid.groups = std::max(grid.groups, ceil_div(lines.count, cluster_unpack_warps));
  };
  if (copies.a) add(p.a.lines());
  if (copies.b) add(p.b.lines());
  return grid;
}

bool stores_plainly(const Problem &p) {
  const float alpha = static_cast<float>(p.alpha.real());
  return p.beta.real() == 0 && alpha > 0 && alpha <= FLT_MAX;
}
bool stores_vectors(const Problem &p) {
  return !p.c.packed && (reinterpret_cast<uintptr_t>(p.c.data) | static_cast<uint64_t>((p.c.ld | p.c.batch_stride) * element_bytes(p.dtype))) % 16 == 0;
}

double seconds_of(const Problem &p, const ClusterVariant &v, const Load &load, int pieces_log2, const GpuTraits &traits) {
  const double pieces = 1 << pieces_log2, memory = fills_bytes(p) / traits.bytes_per_second;
  // A multiprocessor waits for what stages pull through the L2 cache longer than for the tensor cores. What does not fit there comes from memory again and again.
  constexpr double pulled_per_second = 95e9;
  const double stage = static_cast<double>((v.tile_m + v.tile_n) * cluster_line) / pulled_per_second;
  const double again = std::cbrt(std::max(1.0, (fill_bytes(p, p.a) + fill_bytes(p, p.b)) / static_cast<double>(traits.l2_bytes)));
  constexpr double zeros = 0.4;  // of a tile without sums, which is stored as well
  const double empty = p.c.fill == Fill::full ? static_cast<double>(load.all) - load.tiles : 0;
  // Tiles that a cut through C crosses look at each place.
  const double crossed = p.c.fill == Fill::full ? 0 : 0.36e-6 * static_cast<double>(v.tile_m * v.tile_n) / 4096 * std::ceil(static_cast<double>(std::min(p.m, p.n)) / v.tile_m) * static_cast<double>(p.batch);
  const double lines = !stores_plainly(p) || stores_vectors(p) ? 0 : 0.6e-6 * static_cast<double>(v.tile_m * v.tile_n) / 4096 * load.tiles;  // that begin anywhere
  // Where all sums are as long, a last round takes its time however few its blocks are.
  const double round = load.tiles * pieces / (traits.multiprocessors * v.resident), whole = std::floor(round);
  const double last = p.a.fill == Fill::full && p.b.fill == Fill::full && whole > 0 && round > whole ? std::max(round, whole + 0.6) / round : 1;
  const bool turns = p.dtype == Dtype::f32 && !p.a.row_lines;  // stages of A, before they are multiplied: less where others fill the wait
  const double busy = last * ((load.tiles + zeros * empty) * pieces * v.costs.tile + crossed + lines + load.stages * again * stage * (turns ? 1.5 : 1)) / traits.multiprocessors;
  const double work = std::max(busy, memory);
  const double wait = (std::ceil(static_cast<double>(load.longest) / pieces) - 1) * (turns ? 2.2 : 1) * v.costs.step + (pieces_log2 > 0 ? 1 + pieces_log2 : 0) * v.costs.share;
  constexpr double careful = 0.4e-6;  // four elements of every thread, at which it looks one by one
  const double rounds = std::max(1.0, static_cast<double>(load.all) / (traits.multiprocessors * v.resident)) * v.vectors / pieces;
  // The longest tile's stages hide behind the work of others, where there is enough.
  return v.costs.launch + std::cbrt(work * work * work + wait * wait * wait) + (stores_plainly(p) ? 0 : careful * rounds);
}

struct Shape { const ClusterVariant *variant = nullptr; int pieces_log2 = 0; double seconds = 0; };

Shape best_of(const Problem &p, const GpuTraits &traits) {
  const ClusterVariants variants = variants_of(p.dtype);
  Shape best;
  for (const ClusterVariant *v = variants.first; v != variants.first + variants.count; ++v) {
    if (ceil_div(p.m, v->tile_m) > most_blocks) continue;
    const Load load = measure(p, *v);
    for (int pieces_log2 = 0; (1 << pieces_log2) <= std::clamp<int64_t>(load.longest, 1, v->most_pieces); ++pieces_log2) {
      const double seconds = seconds_of(p, *v, load, pieces_log2, traits);
      if (!best.variant || seconds < best.seconds) best = {v, pieces_log2, seconds};
    }
  }
  return best;
}

bool can(const Problem &p, const GpuTraits &traits) {
  const bool type = p.dtype == Dtype::f16 || p.dtype == Dtype::bf16 || (p.dtype == Dtype::f32 && p.compute == TRITRI_COMPUTE_TF32);
  if (!type || traits.compute_major != 9 || traits.compute_minor != 0) return false;
  const ClusterVariants variants = variants_of(p.dtype);
  const Copies copies = copies_of(p);
  const CopyGrid grid = copy_grid(p, copies);
  return grid.parts * grid.groups <= INT_MAX && has_line_starts(p.c.lines()) && std::max({p.m, p.n, p.k}) < int64_t{1} << 30 && p.batch <= most_blocks / (copies.a && copies.b ? 2 : 1) &&
         std::any_of(variants.first, variants.first + variants.count, [&](const ClusterVariant &v) { return ceil_div(p.m, v.tile_m) <= most_blocks; });
}

// Of the launch that copies, and of the bytes that it reads and writes, which are in the L2 cache in part.
double copy_seconds(const Problem &p, const Copies &copies, const GpuTraits &traits) {
  constexpr double launch = 2.4e-6, faster = 1.4;
  const auto moved = [&](const View &x) { return 2 * fill_bytes(p, x) * (x.batch_stride == 0 ? 1 : static_cast<double>(p.batch)) / (faster * traits.bytes_per_second); };
  return copies.bytes == 0 ? 0 : launch + (copies.a ? moved(p.a) : 0) + (copies.b ? moved(p.b) : 0);
}

Plan plan(const Problem &p, const GpuTraits &traits, size_t) {
  const Shape best = best_of(p, traits);
  const Copies copies = copies_of(p);
  Plan plan;
  plan.tile_m = best.variant->tile_m;
  plan.tile_n = best.variant->tile_n;
  plan.tile_k = cluster_stage_k(element_bytes(p.dtype));
  plan.pieces = int64_t{1} << best.pieces_log2;
  plan.workspace = copies.bytes;
  plan.seconds = best.seconds + copy_seconds(p, copies, traits);
  return plan;
}

// As many stages as the longest piece has, or as there is room for beside the other blocks of a multiprocessor; two at least, since one is released after the next.
int stages_of(const ClusterVariant &v, const Load &load, int64_t pieces, const GpuTraits &traits) {
  constexpr size_t reserved = 1024;  // of each block, by the system
  const int64_t resident = std::clamp<int64_t>(ceil_div(load.all * pieces, traits.multiprocessors), 2, v.resident);
  const size_t room = (traits.shared_bytes + reserved) / static_cast<size_t>(resident) - reserved;
  int stages = static_cast<int>(std::clamp<int64_t>(ceil_div(load.longest, pieces), 2, cluster_most_stages));
  while (stages > 2 && v.shared_bytes(stages, static_cast<int>(pieces)) > room) --stages;
  return stages;
}

void load(const GpuTraits &traits) {
  if (traits.compute_major != 9 || traits.compute_minor != 0) return;
  for (const ClusterVariants &variants : {cluster_f16, cluster_bf16, cluster_tf32})
    for (int i = 0; i < variants.count; ++i) variants.first[i].load(traits.shared_bytes);
  cudaFuncAttributes attributes;
  for (const auto kernel : {cluster_unpack<2>, cluster_unpack<4>}) TRITRI_CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
  load_tensor_maps();
}

// Under a map of TF32 the copy engine rounds float32 to nearest even (hopper.cu).
CUtensorMapDataType map_type(Dtype dtype) {
  return dtype == Dtype::f32 ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 : dtype == Dtype::f16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
}

CUtensorMap map_of(const Problem &p, const View &x, bool along_k) {
  const Lines lines = x.lines();
  const int64_t element = element_bytes(p.dtype);
  const int stage_k = cluster_stage_k(element);
  return tensor_map({x.data, map_type(p.dtype), element, lines.length, lines.count, p.batch, x.ld, x.batch_stride, cluster_line / static_cast<int>(element),
                     along_k ? cluster_edge : stage_k, CU_TENSOR_MAP_SWIZZLE_128B});
}

void launch_copies(const Problem &p, const View &a, const View &b, const Copies &copies, cudaStream_t stream) {
  const int64_t element = element_bytes(p.dtype);
  const CopyGrid grid = copy_grid(p, copies);
  ClusterCopies both{};
  both.parts = static_cast<unsigned>(grid.parts);
  const auto add = [&](ClusterCopy &copy, const View &from, const View &to) {
    copy = {from.lines(), static_cast<const char *>(from.data), static_cast<char *>(const_cast<void *>(to.data)), from.batch_stride, to.ld, to.batch_stride,
            static_cast<unsigned>(to.batch_stride ? p.batch : 1)};
  };
  if (copies.a) add(both.inputs[0], p.a, a);
  if (copies.b) add(both.inputs[1], p.b, b);
  launch_early(element == 4 ? cluster_unpack<4> : cluster_unpack<2>, dim3(static_cast<unsigned>(grid.groups * grid.parts), both.inputs[0].batches + both.inputs[1].batches),
               dim3(32, cluster_unpack_warps), stream, both);
}

void launch(const Problem &p, const Plan &plan, void *workspace, const GpuTraits &traits, cudaStream_t stream) {
  const ClusterVariants variants = variants_of(p.dtype);
  const ClusterVariant &v = *std::find_if(variants.first, variants.first + variants.count, [&](const ClusterVariant &x) { return x.tile_m == plan.tile_m && x.tile_n == plan.tile_n; });
  const auto side = [&](const View &x) { return ClusterSide{x.fill, x.unit, p.batch > 1 && x.batch_stride != 0}; };
  const Copies copies = copies_of(p);
  const View a = copies.a ? copied(p, p.a, workspace) : p.a, b = copies.b ? copied(p, p.b, static_cast<char *>(workspace) + copies.a_bytes) : p.b;
  if (copies.bytes > 0) launch_copies(p, a, b, copies, stream);
  const Load load = measure(p, v);
  int pieces_log2 = 0;
  while (int64_t{1} << pieces_log2 < plan.pieces) ++pieces_log2;
  const ClusterArguments arguments{map_of(p, a, a.row_lines),
                                   map_of(p, b, !b.row_lines),
                                   side(a),
                                   side(b),
                                   p.c.fill,
                                   p.c_data(),
                                   line_starts(p.c.lines()),
                                   p.c.batch_stride,
                                   static_cast<int>(p.m),
                                   static_cast<int>(p.n),
                                   static_cast<int>(p.k),
                                   static_cast<float>(p.alpha.real()),
                                   static_cast<float>(p.beta.real()),
                                   stores_plainly(p),
                                   stores_vectors(p),
                                   stages_of(v, load, plan.pieces, traits),
                                   pieces_log2,
                                   copies.bytes > 0 ? 0 : traits.multiprocessors * v.resident,
                                   p.batch == 1 && load.all * plan.pieces <= traits.multiprocessors * v.resident ? traits.multiprocessors >> pieces_log2 : 0,
                                   ProductArguments(p)};
  const dim3 grid(static_cast<unsigned>(ceil_div(p.n, v.tile_n) << pieces_log2), static_cast<unsigned>(ceil_div(p.m, v.tile_m)), static_cast<unsigned>(p.batch));
  v.launch(arguments, p.a.row_lines, p.b.row_lines, grid, stream);
}

}  // namespace

extern const Kernel cluster_kernel;
const Kernel cluster_kernel = {"cluster", can, plan, load, launch};

}  // namespace tritri::cuda
