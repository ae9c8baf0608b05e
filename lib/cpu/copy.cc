#include "cpu/copy.h"

#include <cstring>

#include "core/k_range.h"

namespace tritri::cpu {
namespace {

void copy_lines(const Lines &to, char *to_data, const Lines &from, const char *from_data, size_t bytes) {
  for (int64_t line = 0; line < from.count; ++line) {
    const Range held = from.held(line);
    if (held.empty()) continue;
    std::memcpy(to_data + to.offset(line, held.begin) * static_cast<int64_t>(bytes), from_data + from.offset(line, held.begin) * static_cast<int64_t>(bytes),
                static_cast<size_t>(held.size()) * bytes);
  }
}

// The lines of one are the positions of the other: in square blocks, so that both sides stay in cache.
template <size_t bytes>
void copy_transposed(const Lines &to, char *to_data, const Lines &from, const char *from_data) {
  constexpr int64_t block = 32, width = static_cast<int64_t>(bytes);
  for (int64_t l0 = 0; l0 < from.count; l0 += block) {
    for (int64_t p0 = 0; p0 < from.length; p0 += block) {
      const int64_t l1 = l0 + block < from.count ? l0 + block : from.count;
      for (int64_t line = l0; line < l1; ++line) {
        const Range held = from.held(line);
        const int64_t begin = p0 > held.begin ? p0 : held.begin, end = p0 + block < held.end ? p0 + block : held.end;
        for (int64_t p = begin; p < end; ++p) std::memcpy(to_data + to.offset(p, line) * width, from_data + from.offset(line, p) * width, bytes);
      }
    }
  }
}

}  // namespace

void copy(const Layout &to, void *to_data, const Layout &from, const void *from_data) {
  const Lines to_lines = to.lines(), from_lines = from.lines();
  if (from_lines.extent() == 0) return;  // however many lines there are, or matrices
  const int64_t bytes = element_bytes(from.dtype), batches = to.batch > 1 && to.batch_stride == 0 ? 1 : to.batch;
  for (int64_t batch = 0; batch < batches; ++batch) {
    char *target = static_cast<char *>(to_data) + batch * to.batch_stride * bytes;
    const char *source = static_cast<const char *>(from_data) + batch * from.batch_stride * bytes;
    if (to.order == from.order) copy_lines(to_lines, target, from_lines, source, static_cast<size_t>(bytes));
    else if (bytes == 2) copy_transposed<2>(to_lines, target, from_lines, source);
    else if (bytes == 4) copy_transposed<4>(to_lines, target, from_lines, source);
    else if (bytes == 8) copy_transposed<8>(to_lines, target, from_lines, source);
    else copy_transposed<16>(to_lines, target, from_lines, source);
  }
}

}  // namespace tritri::cpu
