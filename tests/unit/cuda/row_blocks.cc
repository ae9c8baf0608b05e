#include "cuda/schedule/row_blocks.h"

#include "support/catch.h"

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "core/k_range.h"
#include "cpu/reference.h"

using namespace tritri;
using namespace tritri::cuda;

namespace {

constexpr double poison = std::numeric_limits<double>::quiet_NaN();

// Small integers inside the fill, NaN outside, `padding` beside each row.
struct Square {
  std::vector<double> memory;
  View view;

  Square(int64_t n, Fill fill, int64_t padding, std::mt19937_64 &random) : memory(static_cast<size_t>(n * (n + padding)), poison) {
    view.rows = view.cols = n;
    view.ld = n + padding;
    view.fill = fill;
    view.data = memory.data();
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        if (exists(fill, i, j)) memory[static_cast<size_t>(i * view.ld + j)] = static_cast<double>(random() % 9) - 4;
  }
};

}  // namespace

TEST_CASE("blocks of rows make up the product, each from rows that have come by then") {
  std::mt19937_64 random(5);
  for (const Fill fill : {Fill::lower, Fill::upper}) {
    for (const Fill c_fill : {fill, Fill::full}) {
      for (const bool unit : {false, true}) {
        for (const int64_t n : {1, 30, 32, 65, 100}) {
          Square a(n, fill, 3, random), b(n, fill, 1, random), c(n, c_fill, 2, random);
          Problem p;
          p.dtype = Dtype::f64;
          p.m = p.n = p.k = n;
          p.alpha = 2;
          a.view.unit = unit;
          for (int64_t i = 0; i < n && unit; ++i) a.memory[static_cast<size_t>(i * (a.view.ld + 1))] = poison;
          p.a = a.view;
          p.b = b.view;
          p.c = c.view;
          REQUIRE(has_row_blocks(p));
          cpu::reference(p);
          const std::vector<double> want = c.memory;

          // The rows come one block after the other; until then there is NaN. Zeros beside the triangle are not the blocks' work.
          const std::vector<double> whole_a = a.memory, whole_b = b.memory;
          std::fill(a.memory.begin(), a.memory.end(), poison);
          std::fill(b.memory.begin(), b.memory.end(), poison);
          std::fill(c.memory.begin(), c.memory.end(), poison);
          std::vector<bool> done(static_cast<size_t>(n));
          for (const RowBlock &block : row_blocks(p, 32)) {
            const auto come = [&](std::vector<double> &to, const std::vector<double> &from, int64_t ld) {
              std::copy(from.begin() + block.rows.begin * ld, from.begin() + block.rows.end * ld, to.begin() + block.rows.begin * ld);
            };
            come(a.memory, whole_a, a.view.ld);
            if (block.ahead) cpu::reference(*block.ahead);
            come(b.memory, whole_b, b.view.ld);
            for (const Problem &part : block.products) cpu::reference(part);
            for (int64_t i = block.rows.begin; i < block.rows.end; ++i) {
              REQUIRE_FALSE(done[static_cast<size_t>(i)]);
              done[static_cast<size_t>(i)] = true;
              for (int64_t j = 0; j < n; ++j)
                if (exists(fill, i, j)) REQUIRE(c.memory[static_cast<size_t>(i * c.view.ld + j)] == want[static_cast<size_t>(i * c.view.ld + j)]);
            }
          }
          REQUIRE(std::count(done.begin(), done.end(), true) == n);
        }
      }
    }
  }
}

TEST_CASE("what does not come in blocks of rows") {
  std::mt19937_64 random(6);
  Square x(8, Fill::lower, 0, random);
  Problem p;
  p.m = p.n = p.k = 8;
  p.a = p.b = p.c = x.view;
  REQUIRE(has_row_blocks(p));
  const auto without = [&](auto &&change) {
    Problem other = p;
    change(other);
    CHECK_FALSE(has_row_blocks(other));
  };
  without([](Problem &q) { q.a.fill = Fill::full; });
  without([](Problem &q) { q.b.fill = Fill::upper; });
  without([](Problem &q) { q.c.fill = Fill::upper; });
  without([](Problem &q) { q.b.row_lines = false; });
  without([](Problem &q) { q.c.packed = true; });
  without([](Problem &q) { q.m = 7; });
  without([](Problem &q) { q.batch = 2; });
  without([](Problem &q) { q.alpha = 0; });
  without([](Problem &q) { q.beta = 1; });
  without([](Problem &q) { q.c_is_a = true; });
  without([](Problem &q) { q.dtype = Dtype::bf16; });
}
