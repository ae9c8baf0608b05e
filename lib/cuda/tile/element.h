// Element types on the device: what they accumulate in, how they are read through a view, how a sum becomes an element of C.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "core/canonical.h"
#include "core/k_range.h"

namespace tritri::cuda {

// Two reals with the alignment of one: callers may hand over complex arrays that are aligned no better.
template <class R>
struct Complex { R re, im; };

template <class T> struct Accumulate { using type = T; };
template <> struct Accumulate<__half> { using type = float; };
template <> struct Accumulate<__nv_bfloat16> { using type = float; };
template <class T> using AccumulatorOf = typename Accumulate<T>::type;

template <class T> struct RealOf { using type = T; };
template <class R> struct RealOf<Complex<R>> { using type = R; };

template <class T> inline constexpr bool is_complex_element = !std::is_same_v<T, typename RealOf<T>::type>;

// From a run-time Dtype to the device's type: calls f(Tag<T>{}).
template <class T> struct Tag { using type = T; };
template <class F>
decltype(auto) visit_element(Dtype dtype, F &&f) {
  switch (dtype) {
    case Dtype::f64: return f(Tag<double>{});
    case Dtype::c64: return f(Tag<Complex<float>>{});
    case Dtype::c128: return f(Tag<Complex<double>>{});
    case Dtype::f16: return f(Tag<__half>{});
    case Dtype::bf16: return f(Tag<__nv_bfloat16>{});
    case Dtype::f32: break;
  }
  return f(Tag<float>{});
}

template <class A> __device__ __forceinline__ A zero() { return A{}; }
template <class A>
__device__ __forceinline__ A one() {
  A x{};
  if constexpr (is_complex_element<A>) x.re = 1;
  else x = 1;
  return x;
}

__device__ __forceinline__ float widen(float x) { return x; }
__device__ __forceinline__ double widen(double x) { return x; }
__device__ __forceinline__ float widen(__half x) { return __half2float(x); }
__device__ __forceinline__ float widen(__nv_bfloat16 x) { return __bfloat162float(x); }
template <class R> __device__ __forceinline__ Complex<R> widen(Complex<R> x) { return x; }

template <class T>
__device__ __forceinline__ T narrow(AccumulatorOf<T> x) {
  if constexpr (std::is_same_v<T, __half>) return __float2half_rn(x);
  else if constexpr (std::is_same_v<T, __nv_bfloat16>) return __float2bfloat16_rn(x);
  else return x;
}

__device__ __forceinline__ void multiply_add(float &sum, float x, float y) { sum = fmaf(x, y, sum); }
__device__ __forceinline__ void multiply_add(double &sum, double x, double y) { sum = fma(x, y, sum); }
template <class R>
__device__ __forceinline__ void multiply_add(Complex<R> &sum, Complex<R> x, Complex<R> y) {
  multiply_add(sum.re, x.re, y.re);
  multiply_add(sum.re, -x.im, y.im);
  multiply_add(sum.im, x.re, y.im);
  multiply_add(sum.im, x.im, y.re);
}

__device__ __forceinline__ bool is_nan(float x) { return x != x; }
__device__ __forceinline__ bool is_nan(double x) { return x != x; }
template <class R> __device__ __forceinline__ bool is_nan(Complex<R> x) { return is_nan(x.re) || is_nan(x.im); }

__device__ __forceinline__ bool is_zero(float x) { return x == 0; }
__device__ __forceinline__ bool is_zero(double x) { return x == 0; }
template <class R> __device__ __forceinline__ bool is_zero(Complex<R> x) { return x.re == 0 && x.im == 0; }

// To TF32, ties to even; Inf and NaN stay as they are.
__device__ __forceinline__ float round_tf32(float x) {
  const unsigned bits = __float_as_uint(x);
  if ((bits & 0x7f800000u) == 0x7f800000u) return x;
  return __uint_as_float((bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu);
}

// What every kernel of this folder takes: the problem without host-only types.
struct ProductArguments {
  int64_t m, n, k, batch;
  View a, b, c;
  double alpha_re, alpha_im, beta_re, beta_im;
  bool tf32;

  explicit ProductArguments(const Problem &p)
      : m(p.m), n(p.n), k(p.k), batch(p.batch), a(p.a), b(p.b), c(p.c), alpha_re(p.alpha.real()), alpha_im(p.alpha.imag()),
        beta_re(p.beta.real()), beta_im(p.beta.imag()), tf32(p.compute == TRITRI_COMPUTE_TF32) {}
};

// One batch's matrix behind a view.
template <class T>
__device__ __forceinline__ const T *matrix_of(const View &x, int64_t batch) {
  return static_cast<const T *>(x.data) + batch * x.batch_stride;
}

template <class A>
__device__ __forceinline__ A adjust(A x, bool conj, bool tf32) {
  if constexpr (is_complex_element<A>) {
    if (conj) x.im = -x.im;
  } else if constexpr (std::is_same_v<A, float>) {
    if (tf32) x = round_tf32(x);
  }
  return x;
}

// op(X)(row, col) of an element that exists.
template <class T>
__device__ __forceinline__ AccumulatorOf<T> element(const View &x, const T *data, int64_t row, int64_t col, bool tf32) {
  using A = AccumulatorOf<T>;
  if (x.unit && row == col) return one<A>();
  return adjust(static_cast<A>(widen(data[x.offset(row, col)])), x.conj, tf32);
}

// Element (i, j) of the product over its own k range and nothing else. Tiles multiply masked zeros, and zero times Inf is NaN: where a tile's
// sum came out as NaN, this says what it is.
template <class T>
__device__ __forceinline__ AccumulatorOf<T> exact_sum(const ProductArguments &p, int64_t batch, int64_t i, int64_t j, Range own) {
  const T *a = matrix_of<T>(p.a, batch), *b = matrix_of<T>(p.b, batch);
  auto sum = zero<AccumulatorOf<T>>();
  for (int64_t k = own.begin; k < own.end; ++k) multiply_add(sum, element(p.a, a, i, k, p.tf32), element(p.b, b, k, j, p.tf32));
  return sum;
}

// What a tile's sum for element (i, j) stands for, and whether the product is structurally zero there. Only a sum that is NaN or zero needs the look.
template <class T>
struct Settled { AccumulatorOf<T> sum; bool structural_zero; };

template <class T>
__device__ __noinline__ Settled<T> look_closer(const ProductArguments &p, int64_t batch, int64_t i, int64_t j, AccumulatorOf<T> sum) {
  const Range own = k_range(p.a.fill, p.b.fill, p.k, {i, i + 1}, {j, j + 1});
  if (is_nan(sum)) sum = exact_sum<T>(p, batch, i, j, own);
  return {sum, own.empty()};
}

template <class T>
__device__ __forceinline__ Settled<T> settle(const ProductArguments &p, int64_t batch, int64_t i, int64_t j, AccumulatorOf<T> sum) {
  if (is_nan(sum) || is_zero(sum)) return look_closer<T>(p, batch, i, j, sum);
  return {sum, false};
}

// A real factor scales the parts one by one, so that an Inf in one part does not become a NaN in the other.
template <class A>
__device__ __forceinline__ A times(double re, double im, A x) {
  if constexpr (is_complex_element<A>) {
    using R = typename RealOf<A>::type;
    const R r = static_cast<R>(re), s = static_cast<R>(im);
    if (s == 0) return {r * x.re, r * x.im};
    return {r * x.re - s * x.im, r * x.im + s * x.re};
  } else {
    return static_cast<A>(re) * x;
  }
}

template <class A>
__device__ __forceinline__ A plus(A x, A y) {
  if constexpr (is_complex_element<A>) return {x.re + y.re, x.im + y.im};
  else return x + y;
}

// C(i, j) := alpha sum + beta C(i, j). Where the product is structurally zero, alpha has nothing to scale; beta 0 does not read C.
template <class T>
__device__ __forceinline__ void store(const ProductArguments &p, T *target, const Settled<T> &product) {
  using A = AccumulatorOf<T>;
  A value = product.structural_zero ? zero<A>() : times(p.alpha_re, p.alpha_im, product.sum);
  if (p.beta_re != 0 || p.beta_im != 0) {
    const A old = times(p.beta_re, p.beta_im, static_cast<A>(widen(*target)));
    value = product.structural_zero ? old : plus(value, old);
  }
  *target = narrow<T>(value);
}

}  // namespace tritri::cuda
