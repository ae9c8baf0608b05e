// The kernels in GCC's vector types, for any width of register. Included only by the sources that are compiled for one instruction set each: all of it has
// internal linkage, and no other header may be used here, so that no inline function compiled for that set can replace the common one at link time.
#pragma once
#include "cpu/kernel.h"

namespace tritri::cpu {
namespace {

template <class R, int bytes>
struct Vector {
  typedef R type __attribute__((vector_size(bytes), may_alias));
};

// Whether all of `count` vectors are finite: x * 0 is 0 for these alone.
template <class V, int lanes, int count>
bool all_finite(const V *x) {
  V zeros = {};
#pragma GCC unroll 32
  for (int i = 0; i < count; ++i) zeros += x[i] * 0;
  auto sum = zeros[0];
#pragma GCC unroll 16
  for (int lane = 1; lane < lanes; ++lane) sum += zeros[lane];
  return sum == 0;
}

// mr rows of nv vectors stay in registers over the whole k loop.
template <class R, int bytes, int mr, int nv>
bool real_tile(int64_t k, const R *a, const R *b, R *tile, bool add) {
  using V = typename Vector<R, bytes>::type;
  constexpr int lanes = bytes / static_cast<int>(sizeof(R));
  V sum[mr][nv] = {};
  for (int64_t l = 0; l < k; ++l, a += mr, b += nv * lanes) {
    const V *row = reinterpret_cast<const V *>(b);
#pragma GCC unroll 16
    for (int i = 0; i < mr; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < nv; ++j) sum[i][j] += a[i] * row[j];
    }
  }
  V *out = reinterpret_cast<V *>(tile);
#pragma GCC unroll 16
  for (int i = 0; i < mr; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < nv; ++j) out[i * nv + j] = add ? out[i * nv + j] + sum[i][j] : sum[i][j];
  }
  return all_finite<V, lanes, mr * nv>(out);
}

template <class R, int bytes, int mr, int nv>
bool complex_tile(int64_t k, const R *a, const R *b, R *tile, bool add) {
  using V = typename Vector<R, bytes>::type;
  constexpr int lanes = bytes / static_cast<int>(sizeof(R));
  V re[mr][nv] = {}, im[mr][nv] = {};
  for (int64_t l = 0; l < k; ++l, a += 2 * mr, b += 2 * nv * lanes) {
    const V *row = reinterpret_cast<const V *>(b);
#pragma GCC unroll 16
    for (int i = 0; i < mr; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < nv; ++j) {
        re[i][j] += a[i] * row[j];
        im[i][j] += a[i] * row[nv + j];
        re[i][j] -= a[mr + i] * row[nv + j];
        im[i][j] += a[mr + i] * row[j];
      }
    }
  }
  V *out = reinterpret_cast<V *>(tile);
#pragma GCC unroll 16
  for (int i = 0; i < mr; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < nv; ++j) {
      V &r = out[i * nv + j], &m = out[(mr + i) * nv + j];
      r = add ? r + re[i][j] : re[i][j];
      m = add ? m + im[i][j] : im[i][j];
    }
  }
  return all_finite<V, lanes, 2 * mr * nv>(out);
}

// A set for registers of `bytes`: tiles of mr x 2 registers of reals, cr x 2 of complex numbers.
template <int bytes, int mr, int cr>
constexpr KernelSet vector_kernels(const char *name) {
  constexpr int f = bytes / static_cast<int>(sizeof(float)), d = bytes / static_cast<int>(sizeof(double));
  return {name,
          {mr, 2 * f, real_tile<float, bytes, mr, 2>},
          {mr, 2 * d, real_tile<double, bytes, mr, 2>},
          {cr, 2 * f, complex_tile<float, bytes, cr, 2>},
          {cr, 2 * d, complex_tile<double, bytes, cr, 2>}};
}

}  // namespace
}  // namespace tritri::cpu
