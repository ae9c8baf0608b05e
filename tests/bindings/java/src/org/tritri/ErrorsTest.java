package org.tritri;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of each status, and of a native library that is not there. */
class ErrorsTest {
  /** Run in a virtual machine of its own. */
  static final class Program {
    public static void main(String[] arguments) {
      for (int i = 0; i < 2; i++) {
        try {
          System.out.println("version " + Tritri.version());
        } catch (UnsatisfiedLinkError error) {
          System.out.println(error.getMessage());
        }
      }
      System.out.println(Tritri.multiply(1, new double[] {3}, Fill.LOWER, new double[] {2}, Fill.LOWER)[0]);
    }
  }

  private static final Path BUILD = Path.of(System.getProperty("tritri.build"));

  @Test
  void B6_outOfMemoryLeavesTheMachineAlive() {
    try (Context context = new Context(Device.CPU)) {
      for (int i = 0; i < 100; i++) {
        final TritriException failure = assertThrows(TritriException.class, () -> context.create(Layout.float64(1L << 40, 4)));
        assertEquals("TRITRI_OUT_OF_MEMORY", failure.statusName());
        assertEquals(2, failure.status());
        assertTrue(failure.getMessage().contains("35184372088832"), failure.getMessage());
      }
      context.create(Layout.float64(4, 4)).close();
    }
  }

  @Test
  void missingDeviceIsAnException() {
    final int beyond = Tritri.deviceCount(Device.CUDA);
    final TritriException failure = assertThrows(TritriException.class, () -> Context.builder().device(Device.CUDA).index(beyond).build());
    // A build without CUDA says that it cannot, one with CUDA that there is no such device.
    assertTrue(List.of("TRITRI_NO_DEVICE", "TRITRI_NOT_SUPPORTED").contains(failure.statusName()), failure.statusName());
    assertTrue(failure.getMessage().startsWith("tritri_context_create: "), failure.getMessage());
  }

  @Test
  void contextOptionsReachTheLibrary() {
    final String threads = assertThrows(IllegalArgumentException.class, () -> Context.builder().device(Device.CPU).threads(1025).build()).getMessage();
    assertEquals("tritri_context_create: options: threads must be 0 (all) to 1024, got 1025", threads);
    final String index = assertThrows(IllegalArgumentException.class, () -> Context.builder().device(Device.CPU).index(-2).build()).getMessage();
    assertEquals("tritri_context_create: options: device_index must be at least 0, got -2", index);
    assertThrows(IllegalArgumentException.class, () -> Context.builder().device(Device.CPU).stream(8).build());
  }

  @Test
  void libraryPathComesFirst() throws Exception {
    final List<String> lines = run(BUILD.resolve("java").toString(), jarWithout());
    assertTrue(lines.get(0).startsWith("version "), lines.toString());
    assertEquals("6.0", lines.get(2));
  }

  @Test
  void jarAloneIsEnough() throws Exception {
    final List<String> lines = run("/nowhere", BUILD.resolve("java/tritri.jar"));
    assertTrue(lines.get(0).startsWith("version "), lines.toString());
    assertEquals("6.0", lines.get(2));
  }

  @Test
  void jarLeavesNothingBehind() throws Exception {
    final Path temporary = Files.createDirectory(folder.resolve("tmp"));
    run("/nowhere", BUILD.resolve("java/tritri.jar"), "-Djava.io.tmpdir=" + temporary);
    try (Stream<Path> left = Files.list(temporary)) {
      assertEquals(0, left.filter(path -> path.getFileName().toString().startsWith("tritri-")).count());
    }
  }

  @Test
  void B8_missingNativeLibraryNamesEveryPlace() throws Exception {
    final Path jar = jarWithout();
    final List<String> lines = run("/nowhere/at/all", jar);
    assertEquals(lines.get(0), lines.get(1), "the same message each time");
    for (String part : new String[] {"libtritri_java.so", "java.library.path", "/nowhere/at/all", "natives/linux-", jar.toString(), "libtritri.so.0 is not there"}) {
      assertTrue(lines.get(0).contains(part), () -> "must contain '" + part + "', got '" + lines.get(0) + "'");
    }
  }

  @Test
  void B8_libraryForAnotherPlatformIsNamed() throws Exception {
    final Path wrong = Files.createDirectory(folder.resolve("wrong"));
    Files.writeString(wrong.resolve("libtritri_java.so"), "not a library");
    final List<String> lines = run(wrong.toString(), jarWithout());
    assertTrue(lines.get(0).contains(wrong.resolve("libtritri_java.so").toString()), lines.get(0));
  }

  @TempDir Path folder;

  /** A copy of the jar with the classes alone. */
  private Path jarWithout() throws IOException {
    final Path copy = folder.resolve("classes-only.jar");
    try (JarFile from = new JarFile(BUILD.resolve("java/tritri.jar").toFile()); OutputStream file = Files.newOutputStream(copy);
        JarOutputStream to = new JarOutputStream(file)) {
      for (Enumeration<JarEntry> entries = from.entries(); entries.hasMoreElements();) {
        final JarEntry entry = entries.nextElement();
        if (entry.getName().startsWith("natives/")) continue;
        to.putNextEntry(new JarEntry(entry.getName()));
        try (InputStream content = from.getInputStream(entry)) {
          content.transferTo(to);
        }
      }
    }
    return copy;
  }

  private List<String> run(String libraryPath, Path jar, String... options) throws Exception {
    final List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xshare:auto",
        "-Djava.library.path=" + libraryPath, "-cp", jar + ":" + Path.of(System.getProperty("tritri.build"), "java", "tests", "classes")));
    command.addAll(1, List.of(options));
    command.add(Program.class.getName());
    final Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    final List<String> lines = new ArrayList<>(List.of(new String(process.getInputStream().readAllBytes()).split("\n")));
    process.waitFor();
    return lines;
  }
}
