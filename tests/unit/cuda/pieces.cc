#include "cuda/schedule/pieces.h"

#include "support/catch.h"

#include <vector>

using namespace tritri;

TEST_CASE("pieces hold every element once, in order, and fit their slot") {
  struct Shape { int64_t count, length, batches; };
  for (const Shape shape : {Shape{1, 1, 1}, Shape{1, 1000, 1}, Shape{300, 200, 1}, Shape{200, 300, 2}, Shape{5, 3, 700}, Shape{3, 500, 4}, Shape{500, 2, 3}}) {
    for (const Fill profile : {Fill::full, Fill::lower, Fill::upper}) {
      for (const int64_t most : {1, 7, 64, 1000, 4096, 1 << 20}) {
        for (const int64_t element : {2, 4, 16}) {
          const Lines lines{profile, false, shape.count, shape.length, shape.length};
          std::vector<int> seen(static_cast<size_t>(shape.count * shape.length * shape.batches), 0);
          int64_t before = -1;
          bool in_order = true, fits = true;
          for (const cuda::Piece &piece : cuda::pieces(lines, shape.batches, element, most)) {
            fits = fits && piece.elements() <= most && piece.pitch >= piece.position.size() && !piece.batch.empty() && !piece.line.empty() && !piece.position.empty();
            for (int64_t b = piece.batch.begin; b < piece.batch.end; ++b) {
              for (int64_t l = piece.line.begin; l < piece.line.end; ++l) {
                for (int64_t p = piece.position.begin; p < piece.position.end; ++p) {
                  const int64_t at = (b * shape.count + l) * shape.length + p;
                  in_order = in_order && at > before;
                  before = at;
                  ++seen[static_cast<size_t>(at)];
                }
              }
            }
          }
          bool once = true;
          for (int64_t b = 0; b < shape.batches; ++b) {
            for (int64_t l = 0; l < shape.count; ++l) {
              for (int64_t p = 0; p < shape.length; ++p) {
                const Range held = lines.held(l);
                const int times = seen[static_cast<size_t>((b * shape.count + l) * shape.length + p)];
                once = once && (p >= held.begin && p < held.end ? times == 1 : times <= 1);
              }
            }
          }
          CHECK(fits);
          CHECK(in_order);
          CHECK(once);
        }
      }
    }
  }
}

TEST_CASE("long lines begin aligned in a slot, and nothing has no pieces") {
  for (const cuda::Piece &piece : cuda::pieces({Fill::lower, false, 3000, 3000, 3000}, 1, 4, 100000)) CHECK((piece.position.size() < 128 || piece.pitch % 32 == 0));
  CHECK(cuda::pieces({Fill::full, false, 0, 5, 5}, 1, 4, 100).empty());
  CHECK(cuda::pieces({Fill::full, false, 5, 0, 0}, 3, 4, 100).empty());
}

TEST_CASE("the shares of a piece make it up") {
  for (const cuda::Piece &piece : {cuda::Piece{{3, 4}, {10, 11}, {5, 1000}, 995}, cuda::Piece{{0, 1}, {7, 50}, {0, 50}, 64}, cuda::Piece{{2, 19}, {0, 3}, {0, 4}, 4}}) {
    for (const int64_t most : {1, 100, 1000, 100000}) {
      const int64_t count = piece.shares(most);
      int64_t elements = 0;
      for (int64_t index = 0; index < count; ++index) {
        const cuda::Piece share = piece.share(index, count);
        CHECK((!share.batch.empty() && !share.line.empty() && !share.position.empty()));
        CHECK((share.batch.begin >= piece.batch.begin && share.line.begin >= piece.line.begin && share.position.begin >= piece.position.begin));
        CHECK((share.batch.end <= piece.batch.end && share.line.end <= piece.line.end && share.position.end <= piece.position.end));
        elements += share.batch.size() * share.line.size() * share.position.size();
      }
      CHECK(elements == piece.batch.size() * piece.line.size() * piece.position.size());
    }
  }
}
