package org.tritri;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Memory of the library's own. SegmentsTest has the memory of java.lang.foreign. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class HostMemoryTest {
  private static final double N = Double.NaN;
  private static final double[] UPPER = {1, 2, N, 3}, LOWER = {4, N, 5, 6}, PRODUCT = {14, 12, 15, 18};
  private static final Layout A = Layout.float64(2, 2).fill(Fill.UPPER), B = Layout.float64(2, 2).fill(Fill.LOWER), C = Layout.float64(2, 2);

  private Context context;

  @BeforeEach
  void open() {
    context = new Context(Device.CPU);
  }

  @AfterEach
  void close() {
    context.close();
  }

  private static void refused(String sentence, Runnable call) {
    assertEquals(sentence, assertThrows(IllegalArgumentException.class, call::run).getMessage());
  }

  private static void closed(Runnable call) {
    assertEquals("HostMemory is closed", assertThrows(IllegalStateException.class, call::run).getMessage());
  }

  private HostMemory memory(double... values) {
    final HostMemory memory = context.allocateHost(8L * values.length);
    memory.bytes(0, 8 * values.length).asDoubleBuffer().put(values);
    return memory;
  }

  private static double[] values(HostMemory memory) {
    final double[] values = new double[(int) (memory.byteSize() / 8)];
    memory.bytes(0, (int) memory.byteSize()).asDoubleBuffer().get(values);
    return values;
  }

  @Test
  void productInPlaceOfItsMemory() {
    try (HostMemory a = memory(UPPER); HostMemory b = memory(LOWER); HostMemory c = memory(N, N, N, N)) {
      context.multiply(MultiplyOptions.DEFAULT, A, a, B, b, C, c);
      assertArrayEquals(PRODUCT, values(c));
      Tritri.multiply(MultiplyOptions.builder().alpha(2).build(), A, a, B, b, C, c);
      assertArrayEquals(new double[] {28, 24, 30, 36}, values(c));
      context.multiply(MultiplyOptions.DEFAULT, A, a, B, b, B, b);
      assertArrayEquals(new double[] {14, N, 15, 18}, values(b));
    }
  }

  @Test
  void uploadRefillAndDownload() {
    try (HostMemory host = memory(UPPER); Matrix matrix = context.upload(A, host); HostMemory back = memory(7, 7, 7, 7)) {
      matrix.download(back);
      assertArrayEquals(new double[] {1, 2, 7, 3}, values(back));
      host.bytes(8, 8).putDouble(0, 20);
      matrix.refill(host);
      matrix.download(A, back);
      matrix.refill(A.order(Order.ROW), host);
      assertArrayEquals(new double[] {1, 20, 7, 3}, values(back));
    }
  }

  @ParameterizedTest
  @EnumSource(Dtype.class)
  void everyDtypeIsMeasuredInBytes(Dtype dtype) {
    final Layout layout = Layout.of(dtype, 3, 3);
    final int bytes = 9 * new int[] {4, 8, 8, 16, 2, 2}[dtype.ordinal()];
    try (HostMemory enough = context.allocateHost(bytes); HostMemory short1 = context.allocateHost(bytes - 1)) {
      enough.bytes(0, bytes).put(new byte[bytes]);
      context.upload(layout, enough).close();
      refused("Context.upload: host: must have at least " + bytes + " bytes for " + layout + ", got " + (bytes - 1), () -> context.upload(layout, short1));
    }
  }

  @Test
  void windowsAreInTheMachinesOrderAndShareTheMemory() {
    try (HostMemory memory = context.allocateHost(24)) {
      final ByteBuffer all = memory.bytes(0, 24), end = memory.bytes(16, 8);
      assertEquals(ByteOrder.nativeOrder(), all.order());
      assertEquals(8, end.remaining());
      end.putDouble(0, 3.5);
      assertEquals(3.5, all.getDouble(16));
      assertEquals(0, memory.bytes(24, 0).remaining());
      refused("HostMemory.bytes: offset: must be 0 to 24, got 25", () -> memory.bytes(25, 0));
      refused("HostMemory.bytes: offset: must be 0 to 24, got -1", () -> memory.bytes(-1, 0));
      refused("HostMemory.bytes: count: must be 0 to 8 from offset 16, got 9", () -> memory.bytes(16, 9));
      refused("HostMemory.bytes: count: must be 0 to 24 from offset 0, got -1", () -> memory.bytes(0, -1));
    }
  }

  @Test
  void sizes() {
    refused("Context.allocateHost: bytes: must be at least 0, got -1", () -> context.allocateHost(-1));
    assertEquals("TRITRI_OUT_OF_MEMORY", assertThrows(TritriException.class, () -> context.allocateHost(Long.MAX_VALUE)).statusName());
    try (HostMemory nothing = context.allocateHost(0)) {
      assertEquals(0, nothing.byteSize());
      context.upload(Layout.float64(0, 5), nothing).close();
      refused("Context.upload: host: must have at least 32 bytes for FLOAT64 FULL 2 x 2, ROW, ld 0, got 0", () -> context.upload(C, nothing));
    }
  }

  /** 2.2 GB, of which no Java array could hold the bytes and no buffer could see the end. */
  @Test
  void pastTwoToThe31Bytes() {
    final long rows = 270_000, cols = 1000;
    try (HostMemory column = context.allocateHost(8 * rows); HostMemory row = context.allocateHost(8 * cols); HostMemory c = context.allocateHost(8 * rows * cols)) {
      assertTrue(c.byteSize() > 1L << 31);
      for (int i = 0; i < rows; i++) column.bytes(8L * i, 8).putDouble(i);
      for (int j = 0; j < cols; j++) row.bytes(8L * j, 8).putDouble(j + 1);
      context.multiply(MultiplyOptions.DEFAULT, Layout.float64(rows, 1), column, Layout.float64(1, cols), row, Layout.float64(rows, cols), c);
      for (long i : new long[] {0, 1, 268_435, 268_436, rows - 1}) {
        for (long j : new long[] {0, 455, 456, cols - 1}) assertEquals(i * (j + 1), c.bytes(8 * (i * cols + j), 8).getDouble());
      }
    }
  }

  @Test
  void B4_useAfterClose() {
    final HostMemory memory = memory(LOWER);
    memory.close();
    memory.close();
    assertTrue(memory.isClosed());
    closed(memory::address);
    closed(() -> memory.bytes(0, 8));
    closed(() -> context.upload(B, memory));
    try (HostMemory open = memory(UPPER)) {
      assertFalse(open.isClosed());
      closed(() -> context.multiply(MultiplyOptions.DEFAULT, A, open, B, memory, C, open));
      closed(() -> context.multiply(MultiplyOptions.DEFAULT, A, open, B, open, C, memory));
    }
    assertEquals(32, memory.byteSize());
  }

  /** The context lives on inside until its memory is freed. */
  @Test
  void B4_contextClosedFirst() {
    final Context early = new Context(Device.CPU);
    final HostMemory memory = early.allocateHost(32);
    early.close();
    memory.bytes(0, 32).asDoubleBuffer().put(LOWER);
    try (Matrix matrix = context.upload(B, memory)) {
      assertEquals(2, matrix.layout().rows());
    }
    memory.close();
    assertEquals("Context is closed", assertThrows(IllegalStateException.class, () -> early.allocateHost(8)).getMessage());
  }

  @Test
  void B4_closedWhileCallsRun() throws Exception {
    final int n = 600;
    final Layout lower = Layout.float64(n, n).fill(Fill.LOWER);
    for (int round = 0; round < 20; round++) {
      final HostMemory a = context.allocateHost(8L * n * n), c = context.allocateHost(8L * n * n);
      a.bytes(0, 8 * n * n).asDoubleBuffer().put(Values.lower(n));
      final Thread worker = new Thread(() -> {
        try {
          while (true) context.multiply(MultiplyOptions.DEFAULT, lower, a, lower, a, lower, c);
        } catch (IllegalStateException ended) {
          // closed between two calls
        }
      });
      worker.start();
      Thread.sleep(2);
      a.close();
      c.close();
      worker.join();
    }
  }

  @Test
  void B4_closingWaitsForNoTurn() {
    final HostMemory memory = memory(LOWER);
    context.inTurn(() -> {
      final Thread other = new Thread(memory::close);
      other.start();
      try {
        other.join(10_000);
      } catch (InterruptedException interrupted) {
        throw new AssertionError(interrupted);
      }
      assertFalse(other.isAlive());
    });
  }

  /** 3.2 GB in turn, of which the collector gives most back. */
  @Test
  void B4_collected() throws Exception {
    final long before = resident();
    for (int i = 0; i < 100; i++) {
      final HostMemory forgotten = context.allocateHost(32 << 20);
      for (int page = 0; page < 32 << 20; page += 4096) forgotten.bytes(page, 8).putDouble(i);
      if (i % 10 == 9) {
        System.gc();
        Thread.sleep(50);
      }
    }
    final long grown = resident() - before;
    assertTrue(grown < 1500L << 20, () -> grown + " bytes");
  }

  private static long resident() throws Exception {
    return 4096 * Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[1]);
  }

  @Test
  void nullsAreRefused() {
    refused("HostMemory.of: segment: must not be null, got null", () -> HostMemory.of(null));
    refused("Context.upload: host: must not be null for FLOAT64 FULL 2 x 2, ROW, ld 0, got null", () -> context.upload(C, (HostMemory) null));
  }

  @Test
  @Tag("before22")
  void segmentsNeedANewerJava() {
    final int version = Runtime.version().feature();
    refused("HostMemory.of: segment: must be a java.lang.foreign.MemorySegment, which Java has from 22 on, got [D on Java " + version, () -> HostMemory.of(new double[4]));
    try (HostMemory memory = context.allocateHost(8)) {
      refused("HostMemory.segment: segment: must be asked for on Java from 22 on, which has java.lang.foreign.MemorySegment, got Java " + version
          + ": use HostMemory.bytes", memory::segment);
    }
  }
}
