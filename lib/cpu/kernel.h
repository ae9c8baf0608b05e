// The innermost loops: a small tile of C from one packed panel of A and one of B. Everything around them is written once, for any kernel.
#pragma once
#include <complex>
#include <cstdint>
#include <type_traits>

namespace tritri::cpu {

template <class W> struct RealOf { using type = W; };
template <class R> struct RealOf<std::complex<R>> { using type = R; };

// Tiles of mr x nr elements of W (float, double or complex of them). A panel holds, for one k after the other, mr numbers of A, respectively nr of
// B; complex numbers as mr real parts, then mr imaginary parts. The tile lies row by row, complex ones as all real parts, then all imaginary ones.
template <class W>
struct Kernel {
  using R = typename RealOf<W>::type;
  static constexpr int planes = std::is_same_v<W, R> ? 1 : 2;  // numbers per element

  int mr, nr;
  // tile (+)= sum over k of a's column times b's row; says whether all of the tile is finite. Panels and tile are aligned to 64 bytes, up to whole
  // steps of k.
  bool (*run)(int64_t k, const R *a, const R *b, R *tile, bool add);

  constexpr int64_t tile_numbers() const { return int64_t{mr} * nr * planes; }
};

struct KernelSet {
  const char *name;
  Kernel<float> f32;
  Kernel<double> f64;
  Kernel<std::complex<float>> c64;
  Kernel<std::complex<double>> c128;

  template <class W>
  const Kernel<W> &of() const {
    if constexpr (std::is_same_v<W, float>) return f32;
    else if constexpr (std::is_same_v<W, double>) return f64;
    else if constexpr (std::is_same_v<W, std::complex<float>>) return c64;
    else return c128;
  }
};

// Each is NULL where this processor or this build lacks it.
const KernelSet *avx512_kernels();
const KernelSet *avx2_kernels();
const KernelSet *generic_kernels();  // never NULL

// The fastest of them here. Depends on nothing but the processor, so that results do not change within a machine.
const KernelSet &best_kernels();

}  // namespace tritri::cpu
