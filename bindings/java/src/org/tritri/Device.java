package org.tritri;

import org.tritri.internal.TritriNativeConstants;

/** Where a context computes. */
public enum Device {
  /** What the environment variable TRITRI_DEVICE says, else the first CUDA device, else the CPU. */
  AUTO(TritriNativeConstants.TRITRI_DEVICE_AUTO),
  /** The processor. */
  CPU(TritriNativeConstants.TRITRI_DEVICE_CPU),
  /** An NVIDIA GPU. */
  CUDA(TritriNativeConstants.TRITRI_DEVICE_CUDA);

  final int value;

  Device(int value) {
    this.value = value;
  }

  static Device of(long value) {
    return values()[(int) value];
  }
}
