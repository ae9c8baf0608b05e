// Catch2, version 2 or 3 by the same name, and the skip that version 2 lacks.
#pragma once
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
#include <string>

namespace support {

// Says why the running test case stops here; it counts as skipped, not as passed. Follow it with `return`.
void skip(const std::string &reason);

}  // namespace support
