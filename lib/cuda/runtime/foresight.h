// Which product comes next. No CUDA header.
#pragma once
#include <optional>
#include <vector>

#include "core/canonical.h"

namespace tritri::cuda {

// Programs make matrices to multiply them: the last two uploaded, or the last one with itself, into the last one created for results. How such a
// product runs can be decided while its matrices are made, which is slow anyway.
class Foresight {
 public:
  void uploaded(const Layout &layout) {
    first_ = second_;
    second_ = layout;
  }
  void created(const Layout &layout) { result_ = layout; }

  // C = A B of those that fit together, with addresses that tell no more than alignment and whether A is B.
  std::vector<Problem> products() const;

 private:
  std::optional<Layout> first_, second_, result_;
};

}  // namespace tritri::cuda
