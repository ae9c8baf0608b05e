// The main of every Catch2 executable: ends with "N passed, N failed" (test cases) for people and for packaging/check.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using ListenerBase = Catch::EventListenerBase;
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
using ListenerBase = Catch::TestEventListenerBase;
#endif
#include <iostream>
#include <set>

#include "support/catch.h"

namespace {

std::string running;
std::set<std::string> skipped;
size_t passed = 0, failed = 0;
bool ran = false;

class Totals : public ListenerBase {
 public:
  using ListenerBase::ListenerBase;
  void testCaseStarting(const Catch::TestCaseInfo &info) override { running = info.name; }
  void testRunEnded(const Catch::TestRunStats &stats) override {
    ran = true;
    passed = static_cast<size_t>(stats.totals.testCases.passed) - skipped.size();
    failed = static_cast<size_t>(stats.totals.testCases.failed);
  }
};
CATCH_REGISTER_LISTENER(Totals)

}  // namespace

void support::skip(const std::string &reason) {
  if (skipped.insert(running).second) std::cout << "skipped: " << running << ": " << reason << std::endl;
}

int main(int argc, char **argv) {
  const int code = Catch::Session().run(argc, argv);
  if (!ran) return code;  // a listing
  std::cout << passed << " passed, " << failed << " failed";
  if (!skipped.empty()) std::cout << ", " << skipped.size() << " skipped";
  std::cout << std::endl;
  return code == 0 && passed + failed + skipped.size() == 0 ? 2 : code;  // no test found is an error
}
