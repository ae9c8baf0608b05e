// From a run-time Dtype to a C++ type on the host.
#pragma once
#include <complex>

#include "core/half.h"
#include "core/operand.h"

namespace tritri {

template <class T> struct Type { using type = T; };

// Calls f(Type<T>{}) with the element type of `dtype`.
template <class F>
decltype(auto) visit(Dtype dtype, F &&f) {
  switch (dtype) {
    case Dtype::f64: return f(Type<double>{});
    case Dtype::c64: return f(Type<std::complex<float>>{});
    case Dtype::c128: return f(Type<std::complex<double>>{});
    case Dtype::f16: return f(Type<float16>{});
    case Dtype::bf16: return f(Type<bfloat16>{});
    case Dtype::f32: break;
  }
  return f(Type<float>{});
}

// What products of T accumulate in: the next wider type for 16 bits, T itself otherwise.
template <class T> struct Accumulator { using type = T; };
template <> struct Accumulator<float16> { using type = float; };
template <> struct Accumulator<bfloat16> { using type = float; };

template <class T> constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

// The oracle's type.
template <class T> struct Wide { using type = double; };
template <> struct Wide<std::complex<float>> { using type = std::complex<double>; };
template <> struct Wide<double> { using type = long double; };
template <> struct Wide<std::complex<double>> { using type = std::complex<long double>; };

template <class To, class From> To convert(const From &x) {
  if constexpr (is_half<From>) return static_cast<To>(static_cast<float>(x));
  else if constexpr (is_half<To>) return To(static_cast<float>(x));
  else return static_cast<To>(x);
}

template <class T> struct is_complex_type : std::false_type {};
template <class T> struct is_complex_type<std::complex<T>> : std::true_type {};

template <class T> T conjugate_if(bool conj, const T &x) {
  if constexpr (is_complex_type<T>::value) return conj ? std::conj(x) : x;
  else return x;
}

}  // namespace tritri
