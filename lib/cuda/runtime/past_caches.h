// Copies to memory that is not read again soon.
#pragma once
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tritri::cuda {

// As memcpy; whole cache lines of the target are written past the caches where the processor can do that, which spares reading them first. Others see them after finish_past_caches().
inline void copy_past_caches(char *to, const char *from, size_t bytes) {
#ifdef __SSE2__
  constexpr size_t line = 64;
  const size_t head = (line - reinterpret_cast<uintptr_t>(to) % line) % line;
  if (bytes >= head + line) {
    std::memcpy(to, from, head);
    to += head;
    from += head;
    bytes -= head;
    for (; bytes >= line; bytes -= line, to += line, from += line) {
      const __m128i *const source = reinterpret_cast<const __m128i *>(from);
      const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1), c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
      __m128i *const target = reinterpret_cast<__m128i *>(to);
      _mm_stream_si128(target, a);
      _mm_stream_si128(target + 1, b);
      _mm_stream_si128(target + 2, c);
      _mm_stream_si128(target + 3, d);
    }
  }
#endif
  std::memcpy(to, from, bytes);
}

inline void finish_past_caches() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

}  // namespace tritri::cuda
