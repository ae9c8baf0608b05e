#include "core/plan.h"

#include "core/error.h"

namespace tritri {

std::string Plan::describe(const char *device) const {
  const char *const algorithms[] = {"auto", "kernel", "cublas"};
  return text("device=", device, " algorithm=", algorithms[algorithm], " kernel=", kernel_name, " tile=", tile_m, "x", tile_n, "x", tile_k,
              " pieces=", pieces, " workspace=", workspace, " flops=", flops, " seconds=", seconds, " reason=\"", reason, "\"");
}

}  // namespace tritri
