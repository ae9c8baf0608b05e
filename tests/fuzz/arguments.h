// One run of the fuzzer.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fuzz {

// Draws arguments from the bytes (zeros once they are used up), calls the library with them and throws std::runtime_error when an answer breaks a promise.
void run(const uint8_t *bytes, size_t size);

// How many products so far were accepted and compared with the oracle.
uint64_t accepted_products();

}  // namespace fuzz
