package org.tritri;

import org.tritri.internal.TritriNativeConstants;

/** How float32 products are computed; the other types accept {@link #DEFAULT} only. */
public enum Compute {
  /** As accurate as IEEE float32 FMA accumulation, by whatever route is fastest. */
  DEFAULT(TritriNativeConstants.TRITRI_COMPUTE_DEFAULT),
  /** IEEE float32 FMA and nothing else. */
  PEDANTIC(TritriNativeConstants.TRITRI_COMPUTE_PEDANTIC),
  /** Both inputs rounded to TF32, float32 accumulation. */
  TF32(TritriNativeConstants.TRITRI_COMPUTE_TF32);

  final int value;

  Compute(int value) {
    this.value = value;
  }
}
