#include "cuda/schedule/pieces.h"

#include <algorithm>

namespace tritri::cuda {
namespace {

constexpr int64_t run_bytes = 128;  // what a warp reads at once, aligned: lines begin on its multiples
constexpr int64_t long_bytes = 4 * run_bytes;  // shorter lines lie close together

int64_t pitch_of(int64_t length, int64_t element) {
  const int64_t run = run_bytes / element;
  return length * element < long_bytes ? length : (length + run - 1) / run * run;
}

}  // namespace

Piece Piece::share(int64_t index, int64_t of) const {
  Piece part = *this;
  Range &cut = batch.size() > 1 ? part.batch : line.size() > 1 ? part.line : part.position;
  cut = {cut.begin + divisible().size() * index / of, cut.begin + divisible().size() * (index + 1) / of};
  return part;
}

std::vector<Piece> pieces(const Lines &lines, int64_t batches, int64_t element, int64_t most) {
  std::vector<Piece> result;
  if (lines.count == 0 || lines.length == 0) return result;
  const int64_t whole_pitch = pitch_of(lines.length, element);
  if (whole_pitch * lines.count <= most) {
    const int64_t together = most / (whole_pitch * lines.count);
    for (int64_t batch = 0; batch < batches; batch += together)
      result.push_back({{batch, std::min(batch + together, batches)}, {0, lines.count}, {0, lines.length}, whole_pitch});
    return result;
  }
  for (int64_t batch = 0; batch < batches; ++batch) {
    const Range one{batch, batch + 1};
    for (int64_t line = 0; line < lines.count;) {
      Range reach = lines.held(line);
      int64_t end = line + 1;
      if (pitch_of(reach.size(), element) > most) {
        for (int64_t begin = reach.begin; begin < reach.end; begin += most) {
          const Range part{begin, std::min(begin + most, reach.end)};
          result.push_back({one, {line, end}, part, part.size()});
        }
      } else {
        while (end < lines.count) {
          const Range held = lines.held(end), wider{std::min(reach.begin, held.begin), std::max(reach.end, held.end)};
          if (held.empty() || (end + 1 - line) * pitch_of(wider.size(), element) > most) break;
          reach = wider;
          ++end;
        }
        if (!reach.empty()) result.push_back({one, {line, end}, reach, pitch_of(reach.size(), element)});
      }
      line = end;
    }
  }
  return result;
}

}  // namespace tritri::cuda
