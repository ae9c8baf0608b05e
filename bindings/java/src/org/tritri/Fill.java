package org.tritri;

import org.tritri.internal.TritriNativeConstants;

/** Which elements of a matrix exist, as it is stored, before any {@link Op}. No other element is read, written or computed with. */
public enum Fill {
  /** All of them. */
  FULL(TritriNativeConstants.TRITRI_FILL_FULL),
  /** Element (i, j) where i &gt;= j. */
  LOWER(TritriNativeConstants.TRITRI_FILL_LOWER),
  /** Element (i, j) where i &lt;= j. */
  UPPER(TritriNativeConstants.TRITRI_FILL_UPPER);

  final int value;

  Fill(int value) {
    this.value = value;
  }

  static Fill of(long value) {
    return values()[(int) value];
  }
}
