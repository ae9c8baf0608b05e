#include "cuda/runtime/foresight.h"

#include "support/catch.h"

using namespace tritri;
using namespace tritri::cuda;

namespace {

Layout layout(int64_t rows, int64_t cols, Fill fill, Dtype dtype = Dtype::f32, int64_t batch = 1) {
  return {dtype, fill, false, Order::row, Storage::strided, rows, cols, cols, batch, batch > 1 ? rows * cols : 0};
}

}  // namespace

TEST_CASE("the last matrices that fit together are expected to be multiplied") {
  Foresight foresight;
  REQUIRE(foresight.products().empty());
  foresight.uploaded(layout(5, 5, Fill::lower));
  REQUIRE(foresight.products().empty());
  foresight.created(layout(5, 5, Fill::full));
  REQUIRE(foresight.products().size() == 1);
  REQUIRE(foresight.products()[0].a.data == foresight.products()[0].b.data);
  foresight.uploaded(layout(5, 7, Fill::upper));
  REQUIRE(foresight.products().empty());
  foresight.created(layout(5, 7, Fill::full));
  const std::vector<Problem> products = foresight.products();
  REQUIRE(products.size() == 1);
  REQUIRE(products[0].a.fill == Fill::lower);
  REQUIRE(products[0].b.fill == Fill::upper);
  REQUIRE(products[0].a.data != products[0].b.data);
  REQUIRE((products[0].m == 5 && products[0].n == 7 && products[0].k == 5));
  foresight.uploaded(layout(7, 7, Fill::lower));
  REQUIRE(foresight.products().size() == 1);
}

TEST_CASE("no product is expected of matrices that do not fit") {
  for (const Layout &other : {layout(4, 4, Fill::lower, Dtype::f64), layout(4, 4, Fill::lower, Dtype::f32, 3), layout(0, 0, Fill::lower), layout(4, 5, Fill::lower)}) {
    Foresight foresight;
    foresight.uploaded(layout(4, 4, Fill::lower));
    foresight.uploaded(other);
    foresight.created(layout(4, 4, Fill::full));
    REQUIRE(foresight.products().empty());
  }
  Foresight foresight;  // one matrix for a whole batch
  foresight.uploaded(layout(4, 4, Fill::lower));
  foresight.uploaded(layout(4, 4, Fill::lower, Dtype::f32, 3));
  foresight.created(layout(4, 4, Fill::full, Dtype::f32, 3));
  REQUIRE(foresight.products().size() == 2);
}
