// The same run, driven by libFuzzer.
#include <cstdlib>
#include <exception>
#include <iostream>

#include "fuzz/arguments.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  try {
    fuzz::run(bytes, size);
  } catch (const std::exception &error) {
    std::cerr << error.what() << std::endl;
    std::abort();
  }
  return 0;
}
