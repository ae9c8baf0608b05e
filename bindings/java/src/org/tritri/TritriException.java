package org.tritri;

import org.tritri.internal.TritriNative;

/** A failure that is not the fault of an argument. The message is one sentence: function, argument or place, rule, and what was found. */
public final class TritriException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int status;

  /** Called by the native wrappers. */
  TritriException(int status, String message) {
    super(message);
    this.status = status;
  }

  /** The number of the {@code tritri_status}. */
  public int status() {
    return status;
  }

  /** Its name, such as {@code "TRITRI_OUT_OF_MEMORY"}. */
  public String statusName() {
    return TritriNative.tritri_status_name(status);
  }
}
