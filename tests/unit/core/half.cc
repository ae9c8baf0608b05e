#include "core/half.h"

#include <cmath>
#include <limits>

#include "support/catch.h"
#include "support/element.h"
#include "support/random.h"

using namespace tritri;

namespace {

template <class T> int32_t dtype_of();
template <> int32_t dtype_of<float16>() { return TRITRI_FLOAT16; }
template <> int32_t dtype_of<bfloat16>() { return TRITRI_BFLOAT16; }

template <class T> T from_bits(uint32_t bits) {
  T x;
  x.bits = static_cast<uint16_t>(bits);
  return x;
}

template <class T> uint16_t nearest(float x) {
  uint16_t bits;
  support::encode(dtype_of<T>(), static_cast<long double>(x), &bits);
  return bits;
}

template <class T> void require_rounding(float x) {
  INFO("float with bits " << bits_of(x) << " is " << x);
  REQUIRE(T(x).bits == nearest<T>(x));
}

}  // namespace

TEMPLATE_TEST_CASE("all 65536 values widen exactly and come back", "", float16, bfloat16) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const TestType x = from_bits<TestType>(bits);
    const float wide = static_cast<float>(x);
    const long double right = support::decode(dtype_of<TestType>(), &x.bits).real();
    if (std::isnan(right)) {
      REQUIRE(std::isnan(wide));
      REQUIRE(std::isnan(static_cast<float>(TestType(wide))));
      continue;
    }
    REQUIRE(static_cast<long double>(wide) == right);
    REQUIRE(std::signbit(wide) == std::signbit(right));
    REQUIRE(TestType(wide).bits == bits);
  }
}

TEMPLATE_TEST_CASE("rounding is to nearest, ties to even, at and around every midpoint", "", float16, bfloat16) {
  for (uint32_t bits = 0; bits < 65535; ++bits) {
    const float low = static_cast<float>(from_bits<TestType>(bits)), high = static_cast<float>(from_bits<TestType>(bits + 1));
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    const float middle = static_cast<float>((static_cast<double>(low) + static_cast<double>(high)) / 2);
    require_rounding<TestType>(middle);
    require_rounding<TestType>(std::nextafter(middle, -std::numeric_limits<float>::infinity()));
    require_rounding<TestType>(std::nextafter(middle, std::numeric_limits<float>::infinity()));
  }
}

TEMPLATE_TEST_CASE("any float rounds to the nearest, beyond the largest to infinity", "", float16, bfloat16) {
  support::Random random(7);
  for (int round = 0; round < 1000000; ++round) {
    const float x = float_of(static_cast<uint32_t>(random.bits()));
    if (std::isnan(x)) {
      REQUIRE(std::isnan(static_cast<float>(TestType(x))));
      continue;
    }
    require_rounding<TestType>(x);
  }
  for (const float x : {65504.0f, 65519.996f, 65520.0f, 3.4e38f, std::numeric_limits<float>::max(), 0x1p-24f, 0x1p-25f, 0x1.000002p-25f, 0x1p-149f, 0.0f})
    for (const float sign : {1.0f, -1.0f}) require_rounding<TestType>(sign * x);
}

TEMPLATE_TEST_CASE("a NaN whose payload lies in the low bits stays a NaN", "", float16, bfloat16) {
  for (const uint32_t bits : {0x7f800001u, 0xff800001u, 0x7fffffffu, 0x7fc00000u}) CHECK(std::isnan(static_cast<float>(TestType(float_of(bits)))));
}
