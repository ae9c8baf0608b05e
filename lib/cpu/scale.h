// alpha * product + beta * C for one element, as every host loop writes it.
#pragma once
#include "core/visit.h"

namespace tritri::cpu {

// A factor that is real scales the parts one by one, so that an Inf in one part does not become a NaN in the other.
// Inlined, like its callers: a complex number passed through memory is written in halves and read whole, which took 80 cycles each.
template <class W>
[[gnu::always_inline]] inline W times(const std::complex<double> &factor, W x) {
  if constexpr (is_complex_type<W>::value) {
    using R = typename W::value_type;
    const R re = static_cast<R>(factor.real()), im = static_cast<R>(factor.imag());
    if (im == R(0)) return W(re * x.real(), re * x.imag());
    return W(re * x.real() - im * x.imag(), re * x.imag() + im * x.real());
  } else {
    return static_cast<W>(factor.real()) * x;
  }
}

// What becomes of `old` where the product contributes nothing; beta 0 does not read it.
template <class W, class T>
T scaled(const std::complex<double> &beta, const T &old) {
  return beta == std::complex<double>(0, 0) ? T() : convert<T>(times(beta, convert<W>(old)));
}

// alpha * sum + beta * old.
template <class W, class T>
[[gnu::always_inline]] inline T combined(const std::complex<double> &alpha, W sum, const std::complex<double> &beta, const T &old) {
  const W product = times(alpha, sum);
  return convert<T>(beta == std::complex<double>(0, 0) ? product : product + times(beta, convert<W>(old)));
}

}  // namespace tritri::cpu
