package org.tritri;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** A device as the library sees it. */
public final class DeviceInfo {
  private static final int NUMBERS = 10, NAME_BYTES = 128, DETAILS_BYTES = 512;

  private final long[] values;

  private DeviceInfo(long[] values) {
    this.values = values;
  }

  static DeviceInfo of(Consumer<long[]> fill) {
    final long[] values = new long[NUMBERS + (NAME_BYTES + DETAILS_BYTES) / Long.BYTES];
    fill.accept(values);
    return new DeviceInfo(values);
  }

  public Device kind() {
    return Device.of(values[0]);
  }

  public int index() {
    return (int) values[1];
  }

  /** Such as "NVIDIA H200". */
  public String name() {
    return text(0, NAME_BYTES);
  }

  /** One sentence: what computes there, and which cuBLAS was found where, or what was tried. */
  public String details() {
    return text(NAME_BYTES, DETAILS_BYTES);
  }

  /** Bytes. */
  public long memoryTotal() {
    return values[2];
  }

  /** Bytes. */
  public long memoryFree() {
    return values[3];
  }

  /** The CUDA compute capability, such as "9.0"; "0.0" for the CPU. */
  public String computeCapability() {
    return values[4] + "." + values[5];
  }

  /** SMs, or hardware threads that this process may use. */
  public int multiprocessors() {
    return (int) values[6];
  }

  /** As CUDA counts: 13000 is 13.0; 0 for the CPU. */
  public int driverVersion() {
    return (int) values[7];
  }

  /** Of the CUDA runtime inside the library; 0 for the CPU. */
  public int runtimeVersion() {
    return (int) values[8];
  }

  /** cuBLAS as CUDA counts, 0: not found; 0 for the CPU, which needs none. */
  public int blasVersion() {
    return (int) values[9];
  }

  private String text(int begin, int length) {
    final ByteBuffer bytes = ByteBuffer.allocate(NAME_BYTES + DETAILS_BYTES).order(ByteOrder.nativeOrder());
    bytes.asLongBuffer().put(values, NUMBERS, values.length - NUMBERS);
    int end = begin;
    while (end < begin + length && bytes.get(end) != 0) end++;
    return new String(bytes.array(), begin, end - begin, StandardCharsets.UTF_8);
  }

  @Override
  public String toString() {
    return kind() + " " + index() + ": " + name() + " (" + details() + ")";
  }
}
