#include "support/element.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace support {
namespace {

// A binary format of 16 bits: `mantissa` explicit bits, exponents as IEEE 754 lays them out.
struct Format16 {
  int mantissa, lowest_exponent;  // of the smallest normal number
};
constexpr Format16 half{10, -14}, brain{7, -126};

long double decode16(const Format16 &format, uint16_t bits) {
  const int exponent_bits = 15 - format.mantissa;
  const int exponent = (bits >> format.mantissa) & ((1 << exponent_bits) - 1), fraction = bits & ((1 << format.mantissa) - 1);
  const long double sign = bits & 0x8000 ? -1.0L : 1.0L;
  if (exponent == (1 << exponent_bits) - 1) return fraction ? std::numeric_limits<long double>::quiet_NaN() : sign * std::numeric_limits<long double>::infinity();
  if (exponent == 0) return sign * std::ldexp(static_cast<long double>(fraction), format.lowest_exponent - format.mantissa);
  return sign * std::ldexp(static_cast<long double>(fraction + (1 << format.mantissa)), format.lowest_exponent + exponent - 1 - format.mantissa);
}

uint16_t encode16(const Format16 &format, long double value) {
  const int exponent_bits = 15 - format.mantissa, infinite = ((1 << exponent_bits) - 1) << format.mantissa;
  const int sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return static_cast<uint16_t>(sign | infinite | 1 << (format.mantissa - 1));
  if (std::isinf(value)) return static_cast<uint16_t>(sign | infinite);
  int exponent = format.lowest_exponent;
  if (value != 0 && std::ilogb(value) > exponent) exponent = std::ilogb(value);
  // In units of the last place; rounding up to the next power of two carries into the exponent field by itself.
  const long long units = std::llrint(std::ldexp(std::fabs(value), format.mantissa - exponent));
  const long long bits = units + (static_cast<long long>(exponent - format.lowest_exponent) << format.mantissa);
  return static_cast<uint16_t>(sign | (bits >= infinite ? infinite : static_cast<int>(bits)));
}

template <class T> T load(const void *from, int part = 0) {
  T value;
  std::memcpy(&value, static_cast<const char *>(from) + part * sizeof(T), sizeof(T));
  return value;
}
template <class T> void store(void *to, T value, int part = 0) { std::memcpy(static_cast<char *>(to) + part * sizeof(T), &value, sizeof(T)); }

}  // namespace

const char *name_of(int32_t dtype) {
  static const char *const names[] = {"f32", "f64", "c64", "c128", "f16", "bf16"};
  return names[dtype];
}

int64_t bytes_of(int32_t dtype) {
  static const int64_t sizes[] = {4, 8, 8, 16, 2, 2};
  return sizes[dtype];
}

bool is_complex(int32_t dtype) { return dtype == TRITRI_COMPLEX64 || dtype == TRITRI_COMPLEX128; }

Wide decode(int32_t dtype, const void *element) {
  switch (dtype) {
    case TRITRI_FLOAT32: return load<float>(element);
    case TRITRI_FLOAT64: return load<double>(element);
    case TRITRI_COMPLEX64: return {load<float>(element), load<float>(element, 1)};
    case TRITRI_COMPLEX128: return {load<double>(element), load<double>(element, 1)};
    case TRITRI_FLOAT16: return decode16(half, load<uint16_t>(element));
    default: return decode16(brain, load<uint16_t>(element));
  }
}

void encode(int32_t dtype, Wide value, void *element) {
  switch (dtype) {
    case TRITRI_COMPLEX64: store(element, static_cast<float>(value.imag()), 1); [[fallthrough]];
    case TRITRI_FLOAT32: return store(element, static_cast<float>(value.real()));
    case TRITRI_COMPLEX128: store(element, static_cast<double>(value.imag()), 1); [[fallthrough]];
    case TRITRI_FLOAT64: return store(element, static_cast<double>(value.real()));
    case TRITRI_FLOAT16: return store(element, encode16(half, value.real()));
    default: return store(element, encode16(brain, value.real()));
  }
}

Wide rounded(int32_t dtype, Wide value) {
  unsigned char element[16];
  encode(dtype, value, element);
  return decode(dtype, element);
}

void poison(int32_t dtype, void *element) {
  switch (dtype) {
    case TRITRI_COMPLEX64: store(element, uint32_t{0x7fc0dead}, 1); [[fallthrough]];
    case TRITRI_FLOAT32: return store(element, uint32_t{0x7fc0dead});
    case TRITRI_COMPLEX128: store(element, uint64_t{0x7ff80000deadbeef}, 1); [[fallthrough]];
    case TRITRI_FLOAT64: return store(element, uint64_t{0x7ff80000deadbeef});
    case TRITRI_FLOAT16: return store(element, uint16_t{0x7ead});
    default: return store(element, uint16_t{0x7fed});
  }
}

long double store_roundoff(int32_t dtype) {
  if (dtype == TRITRI_FLOAT16) return 0x1p-11L;
  if (dtype == TRITRI_BFLOAT16) return 0x1p-8L;
  return sum_roundoff(dtype);
}

long double sum_roundoff(int32_t dtype) { return dtype == TRITRI_FLOAT64 || dtype == TRITRI_COMPLEX128 ? 0x1p-53L : 0x1p-24L; }

long double underflow(int32_t dtype) {
  if (dtype == TRITRI_FLOAT16) return 0x1p-25L;
  if (dtype == TRITRI_BFLOAT16) return 0x1p-134L;
  return dtype == TRITRI_FLOAT64 || dtype == TRITRI_COMPLEX128 ? 0x1p-1075L : 0x1p-150L;
}

}  // namespace support
