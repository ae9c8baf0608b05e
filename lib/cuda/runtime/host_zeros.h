// Zeros that need not cross the bus: what a product cannot reach in a full C on the host is cleared there, while the device works.
#pragma once
#include <thread>
#include <vector>

#include "core/operand.h"

namespace tritri::cuda {

class HostZeros {
 public:
  // Begins to clear what lies outside `held` in each matrix of `layout`, a strided one whose own fill is full. FULL: nothing.
  HostZeros(const Layout &layout, Fill held, void *host);
  ~HostZeros();  // waits until all is cleared
  HostZeros(const HostZeros &) = delete;
  HostZeros &operator=(const HostZeros &) = delete;

 private:
  std::vector<std::thread> helpers_;
};

}  // namespace tritri::cuda
