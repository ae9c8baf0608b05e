package org.tritri;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** The code of bindings/java/README.md and the examples, run as a reader would run them. */
class DocumentsTest {
  private static final Path SOURCE = Path.of(System.getProperty("tritri.source")), JAVA = SOURCE.resolve("bindings/java");
  private static final Pattern BLOCK = Pattern.compile("(?ms)^```(\\w+)\n(.*?)^```$"), CLASS = Pattern.compile("public class (\\w+)");

  /** Each java block is a program, the sh block after it runs that program, and the text block says what it prints. */
  @TestFactory
  Stream<DynamicTest> readme(@TempDir Path folder) throws Exception {
    final List<DynamicTest> tests = new ArrayList<>();
    final Matcher blocks = BLOCK.matcher(Files.readString(JAVA.resolve("README.md")));
    String name = null, command = null;
    while (blocks.find()) {
      final String kind = blocks.group(1), text = blocks.group(2);
      if (kind.equals("java")) {
        final Matcher found = CLASS.matcher(text);
        assertTrue(found.find(), text);
        name = found.group(1);
        Files.writeString(folder.resolve(name + ".java"), text);
      } else if (kind.equals("sh") && name != null) {
        command = text.replace("build/release", System.getProperty("tritri.build"));
      } else if (kind.equals("text")) {
        final String run = command;
        tests.add(DynamicTest.dynamicTest(name + ".java", () -> assertEquals(text, output(folder, "bash", "-c", run))));
      }
    }
    assertEquals(5, tests.size());
    return tests.stream();
  }

  @TestFactory
  Stream<DynamicTest> examples(@TempDir Path folder) throws Exception {
    final List<Path> files = new ArrayList<>();
    try (Stream<Path> all = Files.list(JAVA.resolve("examples"))) {
      all.filter(file -> file.toString().endsWith(".java")).forEach(files::add);
    }
    assertTrue(files.size() >= 2);
    return files.stream().map(file -> DynamicTest.dynamicTest(file.getFileName().toString(), () -> {
      final String said = output(folder, Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
          Path.of(System.getProperty("tritri.build"), "java", "tritri.jar").toString(), file.toString(), SOURCE.resolve("bindings/c/data/digits.txt").toString());
      assertTrue(said.endsWith(", right\n"), said);
    }));
  }

  private static String output(Path folder, String... command) throws Exception {
    final Process process = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
    final String said = new String(process.getInputStream().readAllBytes());
    assertEquals(0, process.waitFor(), said);
    return said;
  }
}
