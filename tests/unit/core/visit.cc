#include "core/visit.h"

#include <type_traits>

#include "support/catch.h"

using namespace tritri;

TEST_CASE("visit comes to the type whose elements the dtype names") {
  for (int32_t dtype = 0; dtype < 6; ++dtype) {
    const Dtype which = static_cast<Dtype>(dtype);
    const auto bytes = visit(which, [](auto type) { return static_cast<int64_t>(sizeof(typename decltype(type)::type)); });
    const bool complex = visit(which, [](auto type) { return is_complex_type<typename decltype(type)::type>::value; });
    CHECK(bytes == element_bytes(which));
    CHECK(complex == is_complex(which));
  }
  CHECK(visit(Dtype::bf16, [](auto type) { return std::is_same<typename decltype(type)::type, bfloat16>::value; }));
  CHECK(visit(Dtype::f16, [](auto type) { return std::is_same<typename decltype(type)::type, float16>::value; }));
}

TEST_CASE("convert goes through float32 for 16-bit types and conjugates complex ones alone") {
  CHECK(convert<double>(float16(1.5f)) == 1.5);
  CHECK(convert<bfloat16>(2.0).bits == bfloat16(2.0f).bits);
  CHECK(convert<std::complex<double>>(std::complex<float>(1, 2)) == std::complex<double>(1, 2));
  CHECK(conjugate_if(true, std::complex<float>(1, 2)) == std::complex<float>(1, -2));
  CHECK(conjugate_if(false, std::complex<float>(1, 2)) == std::complex<float>(1, 2));
  CHECK(conjugate_if(true, 3.0) == 3.0);
}
