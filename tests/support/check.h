// Whether a result is right: bounds that follow from the arithmetic, and bytes that nobody may touch.
#pragma once
#include <string>

#include "support/oracle.h"

namespace support {

enum class Accuracy {
  rounding,  // any order of summation in the dtype's accumulation type, one rounding to the dtype at the end
  exact      // sums whose every partial value is exact (small integers): the nearest representable value and nothing else
};

struct Verdict {
  std::string fault;        // "" when right, else one line
  double elementwise = 0;   // largest error over its bound
  double normwise = 0;      // Frobenius error over its bound
};

// `before` is C's buffer as it was, `want` the oracle's answer; `product.c` holds the result.
Verdict check(const Product &product, const Buffer &before, const std::vector<Expected> &want, Accuracy accuracy);

// One line if any byte differs, "" otherwise.
std::string check_untouched(const char *what, const Buffer &now, const Buffer &before);

std::string show(const Wide &value);

}  // namespace support
