package org.tritri.internal;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Finds the native library: on java.library.path, else inside the jar. */
public final class Loader {
  private static final String NAME = "tritri_java";
  // What the jar holds, in the order in which it has to be loaded.
  private static final List<String> EMBEDDED = List.of("libtritri.so.0", "libtritri_java.so");

  private static boolean loaded;
  private static String failure;

  private Loader() {}

  /**
   * Loads the library once.
   *
   * @throws UnsatisfiedLinkError that names every place that was looked at
   */
  public static synchronized void load() {
    if (loaded) return;
    if (failure == null) failure = attempt();
    if (failure != null) throw new UnsatisfiedLinkError(failure);
    loaded = true;
  }

  /** What went wrong, or null. */
  private static String attempt() {
    final String file = System.mapLibraryName(NAME);
    final String path;  // what the virtual machine says about java.library.path, which it quotes
    try {
      System.loadLibrary(NAME);
      return null;
    } catch (UnsatisfiedLinkError error) {
      path = error.getMessage();
    }
    final String folder = "natives/" + platform();
    try {
      unpackAndLoad(folder);
      return null;
    } catch (IOException | UnsatisfiedLinkError error) {
      return "Tritri: native library: " + file + " must be on java.library.path or in the jar, and neither could be used: 1. " + path + "; 2. " + folder
          + " in " + jar() + ": " + error.getMessage();
    }
  }

  private static String platform() {
    final String system = System.getProperty("os.name").toLowerCase(Locale.ROOT), machine = System.getProperty("os.arch");
    final String os = system.startsWith("windows") ? "windows" : system.startsWith("mac") ? "macos" : system;
    return os + "-" + (machine.equals("amd64") ? "x86_64" : machine);
  }

  private static String jar() {
    return String.valueOf(Loader.class.getProtectionDomain().getCodeSource().getLocation());
  }

  private static void unpackAndLoad(String folder) throws IOException {
    final Path directory = Files.createTempDirectory("tritri-");
    try {
      for (String name : EMBEDDED) {
        try (InputStream content = Loader.class.getResourceAsStream("/" + folder + "/" + name)) {
          if (content == null) throw new IOException(name + " is not there");
          Files.copy(content, directory.resolve(name));
        }
      }
      for (String name : EMBEDDED) System.load(directory.resolve(name).toString());
    } finally {
      // A library that is loaded needs its name no longer.
      for (String name : EMBEDDED) Files.deleteIfExists(directory.resolve(name));
      Files.deleteIfExists(directory);
    }
  }
}
