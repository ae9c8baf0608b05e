package org.tritri;

import org.tritri.internal.TritriNativeConstants;

/** Who computes a product. */
public enum Algorithm {
  /** The fastest. */
  AUTO(TritriNativeConstants.TRITRI_ALGORITHM_AUTO),
  /** This library's own kernels. */
  KERNEL(TritriNativeConstants.TRITRI_ALGORITHM_KERNEL),
  /** cuBLAS; contexts on CUDA only. */
  CUBLAS(TritriNativeConstants.TRITRI_ALGORITHM_CUBLAS);

  final int value;

  Algorithm(int value) {
    this.value = value;
  }
}
