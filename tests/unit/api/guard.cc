#include "api/guard.h"

#include <stdexcept>
#include <string>
#include <thread>

#include "support/catch.h"

using namespace tritri;
using api::guard;

TEST_CASE("the guard turns each kind of exception into its status and message") {
  CHECK(guard("f", [] {}) == TRITRI_OK);
  CHECK(guard("f", [] { fail(TRITRI_NOT_SUPPORTED, "f: a: must be ", 3, ", got ", 4.5); }) == TRITRI_NOT_SUPPORTED);
  CHECK(std::string(tritri_last_error()) == "f: a: must be 3, got 4.5");
  CHECK(guard("f", [] { fail_below(TRITRI_OUT_OF_MEMORY, "memory: none for ", 3); }) == TRITRI_OUT_OF_MEMORY);
  CHECK(std::string(tritri_last_error()) == "f: memory: none for 3");
  CHECK(guard("f", [] { throw std::bad_alloc(); }) == TRITRI_OUT_OF_MEMORY);
  CHECK(std::string(tritri_last_error()) == "f: memory: the host allocation must succeed, got std::bad_alloc");
  CHECK(guard("f", [] { throw std::runtime_error("a surprise"); }) == TRITRI_INTERNAL_ERROR);
  CHECK(std::string(tritri_last_error()) == "f: internal: no exception may reach the boundary, got a surprise");
}

TEST_CASE("success leaves the last message, and each thread has its own") {
  CHECK(guard("f", [] { fail(TRITRI_INVALID_ARGUMENT, "f: a: mine"); }) == TRITRI_INVALID_ARGUMENT);
  CHECK(guard("f", [] {}) == TRITRI_OK);
  CHECK(std::string(tritri_last_error()) == "f: a: mine");
  std::string before = "?", after;
  std::thread other([&] {
    before = tritri_last_error();
    guard("g", [] { fail(TRITRI_INVALID_ARGUMENT, "g: b: theirs"); });
    after = tritri_last_error();
  });
  other.join();
  CHECK(before.empty());
  CHECK(after == "g: b: theirs");
  CHECK(std::string(tritri_last_error()) == "f: a: mine");
}

TEST_CASE("a message of any length is cut, not overrun") {
  const std::string endless(100000, 'x');
  CHECK(guard("f", [&] { fail(TRITRI_INVALID_ARGUMENT, "f: a: ", endless); }) == TRITRI_INVALID_ARGUMENT);
  const std::string message = tritri_last_error();
  CHECK(message.size() >= 200);
  CHECK(message.size() < 100000);
  CHECK(message == ("f: a: " + endless).substr(0, message.size()));
}

TEST_CASE("need lets pointers through and names the one that is NULL") {
  int x = 0;
  CHECK(api::need("f", "x", &x) == &x);
  CHECK(guard("f", [] { api::need("f", "out", static_cast<int *>(nullptr)); }) == TRITRI_INVALID_ARGUMENT);
  CHECK(std::string(tritri_last_error()) == "f: out: must not be NULL, got NULL");
}
