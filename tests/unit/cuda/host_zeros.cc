#include "cuda/runtime/host_zeros.h"

#include "support/catch.h"

#include <algorithm>
#include <vector>

#include "core/k_range.h"

using namespace tritri;

TEST_CASE("the host clears what a product cannot reach, and nothing else") {
  struct Shape { int64_t rows, cols, batch; };
  for (const Shape shape : {Shape{1, 1, 1}, Shape{37, 37, 3}, Shape{70, 33, 2}, Shape{33, 70, 1}, Shape{2, 500, 1}, Shape{500, 2, 1}}) {
    for (const Order order : {Order::row, Order::column}) {
      for (const Fill held : {Fill::full, Fill::lower, Fill::upper}) {
        const int64_t length = order == Order::row ? shape.cols : shape.rows, lines = order == Order::row ? shape.rows : shape.cols;
        const int64_t ld = length + 3, stride = ld * lines + 5;
        const Layout layout{Dtype::f32, Fill::full, false, order, Storage::strided, shape.rows, shape.cols, ld, shape.batch, shape.batch > 1 ? stride : 0};
        std::vector<float> memory(static_cast<size_t>(stride * shape.batch), 7.0f), expected = memory;
        for (int64_t b = 0; b < shape.batch; ++b)
          for (int64_t i = 0; i < shape.rows; ++i)
            for (int64_t j = 0; j < shape.cols; ++j)
              if (!exists(held, i, j)) expected[static_cast<size_t>(b * stride + (order == Order::row ? i * ld + j : j * ld + i))] = 0.0f;
        const cuda::HostZeros zeros(layout, held, memory.data());
        for (int64_t block = zeros.blocks(); block-- > 0;) zeros.clear(block);
        CHECK(memory == expected);
        CHECK(zeros.bytes() == 4 * std::count(expected.begin(), expected.end(), 0.0f));
      }
    }
  }
  CHECK(cuda::HostZeros().blocks() == 0);
  CHECK(cuda::HostZeros().bytes() == 0);
}
