// Every dtype to and from long double, spelled out bit by bit: independent of lib/core/half.h.
#pragma once
#include <complex>
#include <cstdint>

#include "tritri/tritri.h"

namespace support {

using Wide = std::complex<long double>;

constexpr int32_t all_dtypes[] = {TRITRI_FLOAT32, TRITRI_FLOAT64, TRITRI_COMPLEX64, TRITRI_COMPLEX128, TRITRI_FLOAT16, TRITRI_BFLOAT16};

const char *name_of(int32_t dtype);
int64_t bytes_of(int32_t dtype);
bool is_complex(int32_t dtype);

Wide decode(int32_t dtype, const void *element);
// Nearest value, ties to even; beyond the largest to infinity.
void encode(int32_t dtype, Wide value, void *element);
Wide rounded(int32_t dtype, Wide value);
// A quiet NaN with a payload of its own, in both parts of a complex element.
void poison(int32_t dtype, void *element);

// Largest relative error of storing a value, and of one operation of the accumulation.
long double store_roundoff(int32_t dtype);
long double sum_roundoff(int32_t dtype);
// Half the distance of subnormals: the absolute error of storing a value near 0.
long double underflow(int32_t dtype);

}  // namespace support
