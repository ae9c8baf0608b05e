// A small seeded generator (splitmix64), the same numbers on every machine.
#pragma once
#include <cstdint>
#include <string>

namespace support {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t bits() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // From low to high, both included.
  int64_t between(int64_t low, int64_t high) { return low + static_cast<int64_t>(bits() % static_cast<uint64_t>(high - low + 1)); }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-52 - 1.0; }  // [-1, 1)
  bool coin() { return bits() & 1; }
  template <class T, size_t n> const T &pick(const T (&choices)[n]) { return choices[bits() % n]; }

 private:
  uint64_t state_;
};

// FNV-1a: a seed from a name.
inline uint64_t hash(const std::string &text, uint64_t seed = 0xcbf29ce484222325u) {
  for (const char c : text) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return seed;
}

}  // namespace support
