package org.tritri;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** One block of tests/bindings/vectors/vectors.txt; the README beside it says what the lines mean. */
final class VectorCase {
  private static final Map<String, Op> OPS = Map.of("N", Op.NONE, "T", Op.TRANSPOSE, "C", Op.CONJ_TRANSPOSE, "R", Op.CONJ);

  String name;
  Dtype dtype;
  final MultiplyOptions.Builder options = MultiplyOptions.builder();
  final Map<String, Layout> layouts = new HashMap<>();
  final Map<String, double[]> data = new HashMap<>();
  double[] expected;
  double tolerance;
  String refused;

  static List<VectorCase> read() throws IOException {
    final Path path = Path.of(System.getProperty("tritri.source"), "tests", "bindings", "vectors", "vectors.txt");
    final List<VectorCase> cases = new ArrayList<>();
    VectorCase now = null;
    for (String line : Files.readAllLines(path)) {
      if (line.isEmpty() || line.startsWith("#")) continue;
      final String[] words = line.split(" ");
      if (words[0].equals("case")) {
        now = new VectorCase();
        now.name = words[1];
      } else if (words[0].equals("end")) {
        cases.add(now);
      } else {
        now.take(words, line);
      }
    }
    return cases;
  }

  private void take(String[] words, String line) {
    switch (words[0]) {
      case "dtype": dtype = Dtype.valueOf(words[1].toUpperCase()); break;
      case "ops": options.opA(OPS.get(words[1])).opB(OPS.get(words[2])); break;
      case "alpha": options.alpha(Double.parseDouble(words[1]), Double.parseDouble(words[2])); break;
      case "beta": options.beta(Double.parseDouble(words[1]), Double.parseDouble(words[2])); break;
      case "compute": options.compute(Compute.valueOf(words[1].toUpperCase())); break;
      case "a": case "b": case "c": layouts.put(words[0], layout(words)); break;
      case "a_data": case "b_data": case "c_data": data.put(words[0].substring(0, 1), numbers(words)); break;
      case "expected": expected = numbers(words); break;
      case "tolerance": tolerance = Double.parseDouble(words[1]); break;
      case "refused": refused = line.substring("refused ".length()); break;
      default: throw new IllegalArgumentException("vectors.txt: unknown line: " + line);
    }
  }

  private Layout layout(String[] words) {
    final Layout one = Layout.of(dtype, Long.parseLong(words[1]), Long.parseLong(words[2])).fill(Fill.valueOf(words[3].toUpperCase()))
        .diag(words[4].equals("unit") ? Diag.UNIT : Diag.NON_UNIT).order(Order.valueOf(words[5].toUpperCase())).ld(Long.parseLong(words[6]));
    return words.length == 7 ? one : one.storage(Storage.valueOf(words[7].toUpperCase())).batch(Long.parseLong(words[8]), Long.parseLong(words[9]));
  }

  private static double[] numbers(String[] words) {
    final double[] numbers = new double[words.length - 1];
    for (int i = 0; i < numbers.length; i++) numbers[i] = Double.parseDouble(words[i + 1]);
    return numbers;
  }
}
