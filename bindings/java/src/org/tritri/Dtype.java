package org.tritri;

import org.tritri.internal.TritriNativeConstants;

/** The type of a matrix's elements, and which Java arrays and buffers hold them. */
public enum Dtype {
  /** IEEE binary32, in {@code float[]}. */
  FLOAT32(TritriNativeConstants.TRITRI_FLOAT32, float.class, 1),
  /** IEEE binary64, in {@code double[]}. */
  FLOAT64(TritriNativeConstants.TRITRI_FLOAT64, double.class, 1),
  /** Two floats an element, real part first, in {@code float[]}. */
  COMPLEX64(TritriNativeConstants.TRITRI_COMPLEX64, float.class, 2),
  /** Two doubles an element, real part first, in {@code double[]}. */
  COMPLEX128(TritriNativeConstants.TRITRI_COMPLEX128, double.class, 2),
  /** IEEE binary16 as bits, in {@code short[]}; products accumulate in float32. */
  FLOAT16(TritriNativeConstants.TRITRI_FLOAT16, short.class, 1),
  /** The upper half of a float's bits, in {@code short[]}; products accumulate in float32. */
  BFLOAT16(TritriNativeConstants.TRITRI_BFLOAT16, short.class, 1);

  final int value;
  final Class<?> component;
  final int components;

  Dtype(int value, Class<?> component, int components) {
    this.value = value;
    this.component = component;
    this.components = components;
  }

  /** Bytes of one element. */
  int bytes() {
    return components * (component == float.class ? Float.BYTES : component == double.class ? Double.BYTES : Short.BYTES);
  }

  static Dtype of(long value) {
    return values()[(int) value];
  }
}
