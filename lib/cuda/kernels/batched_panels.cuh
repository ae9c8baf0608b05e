// An operand of a batch's matrix in a block's shared memory (BatchedPanels says where): copied there by all warps, zero outside its fill, so that products need no masks.
//
// Assumes: lines are whole vectors of 16 bytes on 16-byte boundaries.
#pragma once
#include <cstdint>
#include <cstring>

#include "core/canonical.h"
#include "cuda/schedule/batched_schedule.h"
#include "cuda/tile/sm80_panel.cuh"

namespace tritri::cuda {

// A block's share of the copying of an operand into its panels, zeros for what does not exist: eight lines at a time, `octet` the first of this warp, `step` how far it
// is to its next. Few warps wait for each of their instructions, so whatever can is the same for all lanes or for all octets.
template <class T>
__device__ __forceinline__ void copy_panels(const View &view, const T *data, const BatchedPanels &panels, unsigned char *stage, int octet, int step) {
  constexpr int size = static_cast<int>(sizeof(T)), cell = BatchedPanels::line_bytes / size, vector = BatchedPanels::piece / size;
  constexpr int of_panel = BatchedPanels::lines(size) / 8, most_cells = static_cast<int>(BatchedOrder::most_size) / cell;
  const Lines lines = view.lines();
  const int lane = threadIdx.x % 32, own_line = lane / 4, within = lane % 4 * vector;
  const int length = static_cast<int>(lines.length) - within, count = static_cast<int>(lines.count) - own_line;
  // Position less line of what exists, as the bounds of one unsigned comparison.
  const int least = lines.profile == Fill::upper ? 1 - vector : -2 * static_cast<int>(BatchedOrder::most_size);
  const unsigned span = lines.profile == Fill::lower ? -least : 4 * static_cast<int>(BatchedOrder::most_size);
  const int own_place = BatchedPanels::place(own_line, within * size);
  const T *const own_from = data + own_line * view.ld + within;
#pragma unroll 1
  for (; 0 <= octet && octet < of_panel * panels.count; octet += step) {
    const int panel = octet / of_panel, begin = panels.begin[panel], end = panels.end[panel], stop = 8 * octet < count ? length : 0;
    const T *const from = own_from + 8 * octet * view.ld;
    unsigned char *const to = stage + panels.start(panel, 0, size);
    const int place = own_place ^ BatchedPanels::place(octet % of_panel * 8, 0), beyond = within - own_line - 8 * octet - least;
#pragma unroll
    for (int c = 0; c < most_cells; ++c) {
      if (c < begin || c >= end) continue;
      unsigned char *const at = to + c * BatchedPanels::cell_bytes(size) + (place ^ BatchedPanels::turned(panel, c, size));
      const bool there = c * cell < stop && static_cast<unsigned>(beyond + c * cell) <= span;
      copy_async<BatchedPanels::piece>(at, from + c * cell, there ? BatchedPanels::piece : 0);
    }
  }
}

// Of line `line`, the piece on the diagonal: selects what exists, ones on a unit diagonal.
template <class T>
__device__ __forceinline__ void mask_line(const View &view, const BatchedPanels &panels, unsigned char *stage, int line) {
  constexpr int size = static_cast<int>(sizeof(T)), in_line = BatchedPanels::line_bytes / size, vector = BatchedPanels::piece / size;
  constexpr int of_panel = BatchedPanels::lines(size);
  const Lines lines = view.lines();
  const int panel = line / of_panel, cell = line / in_line, before = line % vector * size * 8;  // bits of the piece before the diagonal's
  if ((lines.profile == Fill::full && !view.unit) || cell >= panels.end[panel]) return;
  const int place = BatchedPanels::place(line % of_panel, line % in_line / vector * BatchedPanels::piece) ^ BatchedPanels::turned(panel, cell, size);
  struct alignas(16) Words { uint32_t value[4]; };
  auto *const at = reinterpret_cast<Words *>(stage + panels.start(panel, cell, size) + place);
  Words run = *at;
  // The first `bits` bits of word w, if so many lie in it and before it.
  const auto first = [](int bits, int w) { return __funnelshift_lc(~0u, 0u, max(bits - 32 * w, 0)); };
  const int edge = lines.profile == Fill::upper ? before : lines.profile == Fill::lower ? before + size * 8 : 128;
  const uint32_t side = lines.profile == Fill::upper ? ~0u : 0;
#pragma unroll
  for (int w = 0; w < 4; ++w) run.value[w] &= first(edge, w) ^ side;
  if (view.unit) {
    const T one = T(line < lines.count && line < lines.length ? 1.f : 0.f);
    uint32_t ones[2];
    if constexpr (size == 8) memcpy(ones, &one, 8);
    else for (int from = 0; from < 8; from += size) memcpy(reinterpret_cast<unsigned char *>(ones) + from, &one, size);
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const uint32_t diagonal = first(before + size * 8, w) ^ first(before, w);
      run.value[w] = (run.value[w] & ~diagonal) | (ones[w % 2] & diagonal);
    }
  }
  *at = run;
}

}  // namespace tritri::cuda
