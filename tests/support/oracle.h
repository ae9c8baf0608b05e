// The product as its definition says it: for every element of C the sum over all k where both factors exist, in a wider type.
#pragma once
#include <vector>

#include "support/matrix.h"

namespace support {

struct Product {
  tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
  Operand a, b, c;
};

struct Expected {
  Wide value;              // not rounded to the dtype
  long double magnitude;   // the same sum over absolute values: what rounding errors are relative to
  int64_t terms;           // 0: structurally zero
};

// For every batch and row by row, also the elements that C does not hold (those are not computed). Reads the operands as they are now.
std::vector<Expected> expected(const Product &product);

}  // namespace support
