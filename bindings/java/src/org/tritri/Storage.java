package org.tritri;

import org.tritri.internal.TritriNativeConstants;

/** How the lines of a matrix stand in memory. */
public enum Storage {
  /** Lines are ld elements apart. */
  STRIDED(TritriNativeConstants.TRITRI_STORAGE_STRIDED),
  /** Only the triangle is stored, line after line without gaps; needs fill LOWER or UPPER. */
  PACKED(TritriNativeConstants.TRITRI_STORAGE_PACKED);

  final int value;

  Storage(int value) {
    this.value = value;
  }

  static Storage of(long value) {
    return values()[(int) value];
  }
}
