package org.tritri;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** B4: closing in any order and at any time, the collector, threads. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class HandlesTest {
  private static final int N = 64;
  private static final Layout LOWER = Layout.float64(N, N).fill(Fill.LOWER), FULL = Layout.float64(N, N);

  private static void closed(String name, Runnable call) {
    assertEquals(name + " is closed", assertThrows(IllegalStateException.class, call::run).getMessage());
  }

  private static double[] product() {
    return Tritri.multiply(N, Values.lower(N), Fill.LOWER, Values.lower(N), Fill.LOWER);
  }

  @Test
  void B4_closeTwice() {
    final Context context = new Context(Device.CPU);
    final Matrix matrix = context.upload(LOWER, Values.lower(N));
    matrix.close();
    matrix.close();
    context.close();
    context.close();
    assertTrue(matrix.isClosed());
    assertTrue(context.isClosed());
  }

  @Test
  void B4_useAfterClose() {
    final Context context = new Context(Device.CPU);
    final Matrix open = context.upload(LOWER, Values.lower(N)), matrix = context.upload(LOWER, Values.lower(N));
    matrix.close();
    final double[] host = new double[N * N];
    closed("Matrix", () -> matrix.download(host));
    closed("Matrix", () -> matrix.refill(host));
    closed("Matrix", matrix::address);
    closed("Matrix", () -> context.multiply(matrix, open, open));
    closed("Matrix", () -> context.multiply(open, matrix, open));
    closed("Matrix", () -> context.multiply(open, open, matrix));
    closed("Matrix", () -> context.verify(MultiplyOptions.DEFAULT, open, open, matrix, 1));
    closed("Matrix", () -> context.plan(MultiplyOptions.DEFAULT, open, matrix, open));
    closed("Matrix", () -> context.workspaceSize(MultiplyOptions.DEFAULT, matrix, open, open));
    assertEquals(LOWER.rows(), matrix.layout().rows());
    context.close();
    closed("Context", () -> context.upload(LOWER, host));
    closed("Context", () -> context.create(LOWER));
    closed("Context", () -> context.wrap(LOWER, 8));
    closed("Context", () -> context.multiply(open, open, open));
    closed("Context", () -> context.multiply(MultiplyOptions.DEFAULT, FULL, host, FULL, host, FULL, new double[N * N]));
    closed("Context", () -> open.download(host));
    closed("Context", () -> open.refill(host));
    closed("Context", context::synchronize);
    closed("Context", context::device);
    closed("Context", () -> context.setStream(0));
    assertFalse(open.isClosed());
    open.close();
  }

  @Test
  void B4_anyOrder() {
    for (int order = 0; order < 6; order++) {
      final Context context = new Context(Device.CPU);
      final Matrix a = context.upload(LOWER, Values.lower(N)), c = context.multiply(a, a);
      final AutoCloseable[] all = {context, a, c};
      final int first = order % 3, second = (first + 1 + order / 3) % 3;
      assertTrue(first != second);
      for (int i : new int[] {first, second, 3 - first - second}) {
        if (all[i] == context) context.close(); else ((Matrix) all[i]).close();
      }
    }
  }

  @Test
  void matrixOfAnotherContextIsRefused() {
    try (Context one = new Context(Device.CPU); Context other = new Context(Device.CPU); Matrix a = one.upload(LOWER, Values.lower(N));
        Matrix b = other.upload(LOWER, Values.lower(N))) {
      final String message = assertThrows(IllegalArgumentException.class, () -> one.multiply(a, b)).getMessage();
      assertEquals("tritri_multiply: b: must belong to this context, got a matrix of another one", message);
    }
  }

  @Test
  void B4_collectorDuringCalls() throws Exception {
    final double[] right = product();
    final AtomicBoolean go = new AtomicBoolean(true);
    final Thread collector = new Thread(() -> {
      while (go.get()) System.gc();
    });
    collector.start();
    try {
      for (int round = 0; round < 200; round++) {
        // Nothing but the running call refers to the context and the matrices.
        final double[] c = new double[N * N];
        new Context(Device.CPU).multiply(MultiplyOptions.DEFAULT, LOWER, Values.lower(N), LOWER, Values.lower(N), FULL, c);
        assertArrayEquals(right, c);
        onDroppedHandles(right);
      }
    } finally {
      go.set(false);
      collector.join();
    }
  }

  private static void onDroppedHandles(double[] right) {
    final Context context = new Context(Device.CPU);
    final Matrix c = context.create(FULL);
    context.multiply(context.upload(LOWER, Values.lower(N)), context.upload(LOWER, Values.direct(Values.lower(N))), c);
    final double[] host = new double[N * N];
    c.download(host);
    assertArrayEquals(right, host);
  }

  @Test
  void B4_collectorDuringALongCall() throws Exception {
    final int n = 900;
    final double[] a = Values.lower(n), c = new double[n * n], again = new double[n * n];
    final Layout lower = Layout.float64(n, n).fill(Fill.LOWER), full = Layout.float64(n, n);
    final AtomicBoolean go = new AtomicBoolean(true);
    final AtomicInteger collections = new AtomicInteger();
    final Thread collector = new Thread(() -> {
      while (go.get()) {
        final byte[][] garbage = new byte[16][];
        for (int i = 0; i < garbage.length; i++) garbage[i] = new byte[1 << 16];
        System.gc();
        collections.incrementAndGet();
      }
    });
    try (Context context = Context.builder().device(Device.CPU).threads(1).build()) {
      context.multiply(MultiplyOptions.DEFAULT, lower, a, lower, a, full, again);
      collector.start();
      for (int round = 0; round < 10; round++) {
        context.multiply(MultiplyOptions.DEFAULT, lower, a, lower, a, full, c);
        assertArrayEquals(again, c);
      }
    } finally {
      go.set(false);
      collector.join();
    }
    assertTrue(collections.get() > 0);
  }

  @Test
  void B4_closeFromAnotherThreadDuringCalls() throws Exception {
    final double[] right = product();
    for (int round = 0; round < 100; round++) {
      final Context context = new Context(Device.CPU);
      final Matrix a = context.upload(LOWER, Values.lower(N)), c = context.create(FULL);
      final Thread closer = new Thread(() -> {
        a.close();
        context.close();
        c.close();
      });
      final double[] host = new double[N * N];
      boolean done = false;
      closer.start();
      try {
        while (true) {
          context.multiply(a, a, c);
          c.download(host);
          done = true;
        }
      } catch (IllegalStateException expected) {
        assertTrue(expected.getMessage().endsWith(" is closed"));
      }
      closer.join();
      if (done) assertArrayEquals(right, host);
    }
  }

  @Test
  void contextsOfManyThreads() throws Exception {
    inThreads(8, () -> {
      final double[] right = product();
      try (Context context = Context.builder().device(Device.CPU).threads(1).build(); Matrix a = context.upload(LOWER, Values.lower(N));
          Matrix c = context.create(FULL)) {
        final double[] host = new double[N * N];
        for (int i = 0; i < 1000; i++) context.multiply(a, a, c);
        c.download(host);
        assertArrayEquals(right, host);
      }
      return null;
    });
  }

  @Test
  void oneContextOfManyThreadsTakesTurns() throws Exception {
    final double[] right = product();
    try (Context context = new Context(Device.CPU)) {
      inThreads(8, () -> {
        for (int i = 0; i < 100; i++) {
          try (Matrix a = context.upload(LOWER, Values.lower(N)); Matrix c = context.multiply(a, a)) {
            final double[] host = new double[N * N];
            c.download(host);
            assertArrayEquals(right, host);
          }
        }
        return null;
      });
    }
  }

  @Test
  void oneCallOfManyThreads() throws Exception {
    final double[] right = product();
    inThreads(8, () -> {
      for (int i = 0; i < 100; i++) assertArrayEquals(right, product());
      return null;
    });
  }

  @Test
  void messagesBelongToTheirThread() throws Exception {
    inThreads(4, () -> {
      for (int i = 1; i < 200; i++) {
        final long rows = -Thread.currentThread().getId() * 1000 - i;
        try (Context context = new Context(Device.CPU)) {
          final String message = assertThrows(IllegalArgumentException.class, () -> context.create(Layout.float64(rows, 1))).getMessage();
          assertEquals("tritri_matrix_create: desc: rows must be at least 0, got " + rows, message);
        }
      }
      return null;
    });
  }

  private static void inThreads(int count, Callable<Void> work) throws Exception {
    final ExecutorService pool = Executors.newFixedThreadPool(count);
    try {
      final List<Future<Void>> running = new ArrayList<>();
      for (int i = 0; i < count; i++) running.add(pool.submit(work));
      for (Future<Void> one : running) one.get();
    } finally {
      pool.shutdown();
    }
  }

  @Test
  void L6_droppedHandlesGiveTheirMemoryBack() throws Exception {
    // 4,000 matrices of 1 MiB: far more than the process may hold, if the cleaner did not free them.
    final Layout layout = Layout.float64(512, 256);
    final double[] host = new double[512 * 256];
    long after = 0;
    try (Context context = new Context(Device.CPU)) {
      for (int i = 0; i < 4000; i++) {
        context.upload(layout, host);
        if (i % 100 == 99) {
          System.gc();
          Thread.sleep(10);
        }
        if (i == 999) after = residentBytes();
      }
      for (int i = 0; i < 100 && residentBytes() > after + (512L << 20); i++) Thread.sleep(50);
      assertTrue(residentBytes() < after + (512L << 20), residentBytes() + " bytes after 4000 matrices, " + after + " after 1000");
    }
  }

  @Test
  void L6_createMultiplyDestroy() throws Exception {
    final double[] host = Values.lower(N), right = product(), result = new double[N * N];
    long after = 0;
    for (int i = 0; i < 2000; i++) {
      try (Context context = new Context(Device.CPU); Matrix a = context.upload(LOWER, host); Matrix c = context.multiply(a, a)) {
        if (i % 500 == 0) {
          c.download(result);
          assertArrayEquals(right, result);
        }
      }
      if (i == 500) after = residentBytes();
    }
    assertTrue(residentBytes() < after + (64L << 20), residentBytes() + " bytes after 2000 rounds, " + after + " after 500");
  }

  private static long residentBytes() throws Exception {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmRSS:")) return Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
    }
    throw new IllegalStateException("/proc/self/status has no VmRSS");
  }
}
