package org.tritri;

import org.tritri.internal.TritriNativeConstants;

/** What the product does to an operand, after its {@link Fill} has been applied. */
public enum Op {
  /** Nothing. */
  NONE(TritriNativeConstants.TRITRI_OP_NONE),
  /** Transposes. */
  TRANSPOSE(TritriNativeConstants.TRITRI_OP_TRANSPOSE),
  /** Transposes and conjugates. */
  CONJ_TRANSPOSE(TritriNativeConstants.TRITRI_OP_CONJ_TRANSPOSE),
  /** Conjugates without transposing. */
  CONJ(TritriNativeConstants.TRITRI_OP_CONJ);

  final int value;

  Op(int value) {
    this.value = value;
  }

  boolean transposes() {
    return this == TRANSPOSE || this == CONJ_TRANSPOSE;
  }
}
