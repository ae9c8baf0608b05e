// Seeded runs of the fuzzer; the same seed gives the same calls.
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <vector>

#include "fuzz/arguments.h"
#include "support/random.h"

int main(int argc, char **argv) {
  uint64_t seed = 1, runs = 20000, from = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    uint64_t *const value = !std::strcmp(argv[i], "--seed") ? &seed : !std::strcmp(argv[i], "--runs") ? &runs : !std::strcmp(argv[i], "--from") ? &from : nullptr;
    if (!value) {
      std::cerr << "usage: tritri_fuzz [--seed N] [--runs N] [--from N]\n";
      return 2;
    }
    *value = std::strtoull(argv[i + 1], nullptr, 10);
  }
  std::cout << "seed " << seed << std::endl;
  uint64_t failed = 0;
  for (uint64_t number = from; number < from + runs; ++number) {
    support::Random random(seed * 0x9e3779b97f4a7c15u + number);
    std::vector<uint8_t> bytes(8192);
    for (uint8_t &byte : bytes) byte = static_cast<uint8_t>(random.bits() >> 56);
    try {
      fuzz::run(bytes.data(), bytes.size());
    } catch (const std::exception &error) {
      ++failed;
      std::cout << "FAILED --seed " << seed << " --from " << number << " --runs 1: " << error.what() << std::endl;
    }
  }
  std::cout << fuzz::accepted_products() << " products were accepted and compared\n";
  std::cout << runs - failed << " passed, " << failed << " failed" << std::endl;
  return failed != 0;
}
