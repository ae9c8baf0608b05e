#include "cuda/schedule/strips.h"

#include "support/catch.h"
#include "unit/core/layouts.h"

using namespace tritri;
using namespace tritri::cuda;

TEST_CASE("strips cover C's rows once, and their k and columns hold everything that is no structural zero") {
  const int64_t shapes[][3] = {{300, 300, 300}, {129, 700, 40}, {700, 129, 300}, {500, 90, 700}, {193, 193, 193}};
  for (const Fill a : unit::all_fills) for (const Fill b : unit::all_fills) for (const auto &shape : shapes) for (const int64_t rows : {64, 128, 192, 1000}) {
    Problem p;
    p.m = shape[0];
    p.n = shape[1];
    p.k = shape[2];
    p.a.fill = a;
    p.b.fill = b;
    const Strips strips(p, rows);
    int64_t next = 0;
    for (int64_t strip = 0; strip < strips.count; ++strip) {
      const Range own = strips.rows_of(strip), k = strips.k_of(strip), cols = strips.cols_of(strip);
      REQUIRE(own.begin == next);
      REQUIRE(own.size() >= std::min(p.m, Strips::shortest));
      REQUIRE(cols.begin >= 0);
      REQUIRE(cols.end <= p.n);
      next = own.end;
      for (int64_t i = own.begin; i < own.end; ++i) {
        if (strips.strip_of(i) != strip) FAIL("row " << i << " is told to be another strip's");
        for (int64_t j = 0; j < p.n; ++j) {
          const Range needs = k_range(a, b, p.k, {i, i + 1}, {j, j + 1});
          if (needs.empty()) continue;
          if (j < cols.begin || j >= cols.end || needs.begin < k.begin || needs.end > k.end) FAIL("element " << i << ", " << j << " needs more than its strip has");
        }
      }
    }
    REQUIRE(next == p.m);
  }
}
