#include "core/plan.h"

#include "support/catch.h"

using namespace tritri;

TEST_CASE("a plan prints as one line of key=value pairs") {
  Plan plan;
  plan.algorithm = TRITRI_ALGORITHM_CUBLAS;
  plan.kernel_name = "trmm";
  plan.tile_m = 128;
  plan.tile_n = 64;
  plan.tile_k = 32;
  plan.pieces = 2;
  plan.workspace = 4096;
  plan.flops = 1500;
  plan.seconds = 0.25;
  plan.reason = "fewer waves";
  const std::string line = plan.describe("cuda");
  for (const char *part : {"device=cuda", "algorithm=cublas", "kernel=trmm", "tile=128x64x32", "pieces=2", "workspace=4096", "flops=1500", "seconds=0.25", "reason=\"fewer waves\""}) {
    INFO(line);
    CHECK(line.find(part) != std::string::npos);
  }
  CHECK(line.find('\n') == std::string::npos);
}
