package org.tritri;

import org.tritri.internal.TritriNativeConstants;

/** Which elements lie next to each other in memory. */
public enum Order {
  /** Those of a row: element (i, j) is at i * ld + j. */
  ROW(TritriNativeConstants.TRITRI_ORDER_ROW),
  /** Those of a column: element (i, j) is at i + j * ld. */
  COLUMN(TritriNativeConstants.TRITRI_ORDER_COLUMN);

  final int value;

  Order(int value) {
    this.value = value;
  }

  static Order of(long value) {
    return values()[(int) value];
  }
}
