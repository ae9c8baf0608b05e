#include "cuda/runtime/past_caches.h"

#include "support/catch.h"

#include <algorithm>
#include <vector>

using namespace tritri;

TEST_CASE("what is copied past the caches arrives, and nothing beside it") {
  std::vector<char> from(1000), to(1000);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i % 97 + 1);
  for (size_t target = 0; target < 70; ++target) {
    for (const size_t source : {size_t{0}, size_t{3}, size_t{16}}) {
      for (const size_t bytes : {size_t{0}, size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{127}, size_t{128}, size_t{200}, size_t{777}}) {
        std::vector<char> expected(to.size(), 0);
        std::fill(to.begin(), to.end(), char{0});
        std::copy(from.begin() + static_cast<long>(source), from.begin() + static_cast<long>(source + bytes), expected.begin() + static_cast<long>(target));
        cuda::copy_past_caches(to.data() + target, from.data() + source, bytes);
        cuda::finish_past_caches();
        CHECK(to == expected);
      }
    }
  }
}
