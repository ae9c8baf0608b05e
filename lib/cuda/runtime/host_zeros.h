// Zeros that need not cross the bus: what a product cannot reach in a full C on the host is cleared there, while the device works.
#pragma once
#include "core/operand.h"

namespace tritri::cuda {

// What lies outside `held` in each matrix of a strided layout whose own fill is full, in blocks that any thread can clear, in any order.
class HostZeros {
 public:
  HostZeros() = default;
  HostZeros(const Layout &layout, Fill held, void *host);

  int64_t blocks() const { return batches_ * blocks_of_one_; }
  int64_t bytes() const { return bytes_; }
  void clear(int64_t block) const;

 private:
  Lines held_{}, all_{};
  int64_t batches_ = 0, blocks_of_one_ = 0, batch_bytes_ = 0, element_ = 0, bytes_ = 0;
  char *host_ = nullptr;
};

}  // namespace tritri::cuda
