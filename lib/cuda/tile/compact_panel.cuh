// Panels of the compact skeleton: part of op(A) or op(B) in shared memory, line by line as it lies in memory, so that every panel is copied in
// 16-byte pieces whichever way its lines run, or element by element where it is packed; who multiplies reads with the strides of either way. What lies
// outside a fill or the matrix arrives as zero, a unit diagonal as one; nothing outside a fill is read.
//
// A panel is indexed by x (a row of op(A), a column of op(B)) and k; B is its own transpose, so that one loader serves both.
#pragma once
#include "cuda/tile/sm80_panel.cuh"

namespace tritri::cuda {

// A stage of `tile` x by `depth` k. Lanes read groups of 8 x by 4 k in one access: pads that put those into different banks. (Accesses of 16
// bytes go by 8 lanes at a time, of 8 bytes by 16, of 4 bytes by 32.)
template <class T, int tile_, int depth_>
struct CompactStage {
  static constexpr int tile = tile_, depth = depth_;
  static constexpr int pitch_k = depth + 4, pitch_x = tile + (sizeof(T) == 16 ? 2 : sizeof(T) == 8 ? 4 : 8);  // of lines along k, along x
  static constexpr int size = tile * pitch_k > depth * pitch_x ? tile * pitch_k : depth * pitch_x;            // elements
  static_assert(tile % 16 == 0 && depth % 32 == 0, "the pads suit these");
  TRITRI_HD static constexpr int step_x(bool along_k) { return along_k ? pitch_k : 1; }
  TRITRI_HD static constexpr int step_k(bool along_k) { return along_k ? 1 : pitch_x; }
};

// An operand as the host prepares it: on the card every instruction before the first load costs its whole latency.
struct CompactPanel {
  static constexpr int far = 1 << 30;  // beyond every index

  const char *data;
  int64_t batch_bytes, line_bytes;  // from line 0 to line 1
  int bend_bytes;               // how much farther apart each two lines are than the two before
  int count;                    // x < count
  int first, last;              // line l holds the positions [l + first, l + last) of those inside the matrix, and its unit diagonal
  int whole_begin, whole_end;   // a stage from k on is whole where k >= x0 + whole_begin and k + depth <= x0 + whole_end
  bool unit, along_k;
  bool vectors;                 // every line begins on a 16-byte boundary
  bool aligned_elements;        // complex elements are aligned to their own size
  bool near_lines;              // 32 bits count the bytes between any two lines of a tile

  // Of op(A); for op(B) pass its transpose.
  CompactPanel(const View &v, int64_t element_size, int tile)
      : data(static_cast<const char *>(v.data)), batch_bytes(v.batch_stride * element_size), line_bytes(line_starts(v.lines()).step * element_size),
        bend_bytes(line_starts(v.lines()).bend * static_cast<int>(element_size)), count(static_cast<int>(v.rows)), unit(v.unit), along_k(v.row_lines) {
    const uint64_t bits = reinterpret_cast<uintptr_t>(v.data) | static_cast<uint64_t>(line_bytes) | static_cast<uint64_t>(batch_bytes);
    vectors = bend_bytes == 0 && bits % 16 == 0;
    aligned_elements = bits % static_cast<uint64_t>(element_size) == 0;
    near_lines = line_bytes < 1 << 24;
    const Fill profile = along_k ? v.fill : flipped(v.fill);
    first = profile == Fill::upper ? unit : -far;
    last = profile == Fill::lower ? 1 - unit : far;
    whole_begin = v.fill == Fill::upper || (v.fill == Fill::full && unit) ? tile - 1 + unit : -far;
    whole_end = v.fill == Fill::lower ? 1 - unit : far;
  }
};

// bends: of operands that may be packed. Others have a loader of their own, which does not ask.
template <class T, class Stage, int threads, bool bends>
class CompactLoader {
  static constexpr int tile = Stage::tile, depth = Stage::depth, vector = vector_elements<T>;
  static constexpr int line_k = depth / vector, line_x = tile / vector;  // copies of a line
  static constexpr int passes = tile * depth / (vector * threads);
  static_assert(passes * vector * threads == tile * depth && threads % line_k == 0 && threads % line_x == 0, "every thread copies the same number of whole vectors");

  const CompactPanel &panel;
  const char *from;                   // this thread's first element of the next turn
  int to;                             // and where it goes in a stage
  int line, position;                 // of that element
  int line_end, position_end;         // nothing from there on
  int whole_begin, whole_end, k;      // k of the next turn

 public:
  // The tile begins at x0, its k range is [k0, k_end).
  __device__ __forceinline__ CompactLoader(const CompactPanel &p, int batch, int x0, int k0, int k_end) : panel(p), k(k0) {
    const int l = p.along_k ? threadIdx.x / line_k : threadIdx.x / line_x, at = (p.along_k ? threadIdx.x % line_k : threadIdx.x % line_x) * vector;
    line = (p.along_k ? x0 : k0) + l;
    position = (p.along_k ? k0 : x0) + at;
    line_end = p.along_k ? p.count : k_end;
    position_end = p.along_k ? k_end : p.count;
    from = p.data + batch * p.batch_bytes + line * p.line_bytes + position * static_cast<int64_t>(sizeof(T));
    to = l * (p.along_k ? Stage::pitch_k : Stage::pitch_x) + at;
    whole_begin = x0 + p.whole_begin;
    whole_end = !(p.vectors || (bends && p.near_lines && p.aligned_elements)) || x0 + tile > p.count ? 0 : min(x0 + p.whole_end, k_end);
    if (bends) from += p.bend_bytes * (line * static_cast<int64_t>(line - 1) / 2);
  }

  // Turns come in order.
  __device__ __forceinline__ void load(T *stage) {
    const int step = panel.along_k ? threads / line_k : threads / line_x;
    const int bend = bends ? panel.bend_bytes : 0, widening = bend * step * step;  // from pass to pass
    int64_t pass_bytes = step * panel.line_bytes + bend * static_cast<int64_t>(step * line + step * (step - 1) / 2);
    const int pass_elements = step * (panel.along_k ? Stage::pitch_k : Stage::pitch_x);
    const char *source = from;
    T *target = stage + to;
    const bool whole = k >= whole_begin && k + depth <= whole_end;
    if (whole && (!bends || panel.vectors)) {
#pragma unroll
      for (int pass = 0; pass < passes; ++pass) {
        copy_async<16>(target, source);
        source += pass_bytes;
        target += pass_elements;
      }
    } else if (bends && whole) {
      int offset = 0, pass_offset = static_cast<int>(pass_bytes);
#pragma unroll
      for (int pass = 0; pass < passes; ++pass) {
#pragma unroll
        for (int e = 0; e < vector; ++e) copy_async<sizeof(T)>(target + e, source + offset + e * sizeof(T));
        offset += pass_offset;
        pass_offset += widening;
        target += pass_elements;
      }
    } else {
#pragma unroll 2
      for (int pass = 0; pass < passes; ++pass) {
        place(target, reinterpret_cast<const T *>(source), line + pass * step);
        source += pass_bytes;
        pass_bytes += widening;
        target += pass_elements;
      }
    }
    k += depth;
    from += panel.along_k ? depth * static_cast<int64_t>(sizeof(T)) : depth * panel.line_bytes + bend * static_cast<int64_t>(depth * line + depth * (depth - 1) / 2);
    (panel.along_k ? position : line) += depth;
  }

 private:
  // A vector, element by element.
  __device__ __forceinline__ void place(T *target, const T *source, int l) const {
    const int begin = l + panel.first, end = l < line_end ? min(l + panel.last, position_end) : -1;
    const int one_at = panel.unit && l < min(line_end, position_end) ? l : -1;
#pragma unroll
    for (int e = 0; e < vector; ++e) {
      const int p = position + e;
      if (p == one_at) target[e] = one<T>();
      else copy_element(target + e, source + e, p >= begin && p < end);
    }
  }

  __device__ __forceinline__ void copy_element(T *target, const T *source, bool held) const {
    const int size = held ? static_cast<int>(sizeof(T)) : 0;
    if constexpr (is_complex_element<T>) {
      if (!panel.aligned_elements) {
        copy_async<sizeof(T) / 2>(&target->re, &source->re, size / 2);
        copy_async<sizeof(T) / 2>(&target->im, &source->im, size / 2);
        return;
      }
    }
    copy_async<sizeof(T)>(target, source, size);
  }
};

}  // namespace tritri::cuda
