// Problems for the CPU's own tests: small integers, so that every dtype computes them exactly and two ways must agree to the bit; NaN wherever
// nothing may be read, and whatever C held wherever nothing may be written.
#pragma once
#include <random>
#include <string>
#include <vector>

#include "core/canonical.h"

namespace tritri::test {

// What a case asks for. C's fields of a, b and c that follow from the options (shape, batch) are set by `Sample`.
struct Wish {
  Dtype dtype = Dtype::f64;
  int64_t m = 1, n = 1, k = 1, batch = 1;
  Layout a{}, b{}, c{};
  int32_t op_a = TRITRI_OP_NONE, op_b = TRITRI_OP_NONE;
  double alpha = 1, beta = 0;
  int64_t padding = 0;      // of every ld
  bool broadcast_a = false, broadcast_b = false;
  int in_place = 0;         // 1: C is A, 2: C is B
  int32_t compute = TRITRI_COMPUTE_DEFAULT;

  std::string text() const;
};

// The memory of one product. `special` elements of each input become Inf or NaN.
class Sample {
 public:
  Sample(const Wish &wish, uint64_t seed, int special = 0);
  // The same operands over fresh copies of the memory.
  Problem problem();
  const std::vector<unsigned char> &c() const { return in_place_ == 1 ? a_ : in_place_ == 2 ? b_ : c_; }
  const std::vector<unsigned char> &a() const { return a_; }
  const std::vector<unsigned char> &b() const { return b_; }

 private:
  tritri_multiply_options options_;
  Operands operands_;
  int in_place_;
  std::vector<unsigned char> a_, b_, c_;
};

// "" if both memories hold the same bytes, where any NaN equals any other; else where they differ first.
std::string difference(Dtype dtype, const std::vector<unsigned char> &got, const std::vector<unsigned char> &want);

// A wish for any combination that the library accepts, sizes up to `largest`.
Wish random_wish(std::mt19937_64 &random, int64_t largest);

}  // namespace tritri::test
