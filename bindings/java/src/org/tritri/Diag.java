package org.tritri;

import org.tritri.internal.TritriNativeConstants;

/** Whether a matrix stores its diagonal. */
public enum Diag {
  /** The diagonal is stored. */
  NON_UNIT(TritriNativeConstants.TRITRI_DIAG_NON_UNIT),
  /** The stored diagonal is never read and counts as 1; for inputs only. */
  UNIT(TritriNativeConstants.TRITRI_DIAG_UNIT);

  final int value;

  Diag(int value) {
    this.value = value;
  }

  static Diag of(long value) {
    return values()[(int) value];
  }
}
