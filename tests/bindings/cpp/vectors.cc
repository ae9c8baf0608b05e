// The shared vectors through Context::multiply_host, and those that are accepted once more through upload, multiply, download.
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "support/catch.h"
#include "tritri/tritri.hpp"

namespace {

// Elements as two numbers if complex, one otherwise.
template <class T> struct Parts { static constexpr size_t count = 1; };
template <class R> struct Parts<std::complex<R>> { static constexpr size_t count = 2; };

using Block = std::map<std::string, std::string>;  // key -> the rest of its line

std::vector<Block> read_blocks() {
  std::ifstream file(TRITRI_VECTORS);
  std::vector<Block> blocks;
  Block block;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t space = line.find(' ');
    const std::string key = line.substr(0, space);
    if (key == "end") blocks.push_back(std::exchange(block, {}));
    else block[key] = space == std::string::npos ? "" : line.substr(space + 1);
  }
  return blocks;
}

std::vector<double> numbers(const std::string &line) {
  std::istringstream words(line);
  std::vector<double> values;
  for (std::string word; words >> word;) values.push_back(std::strtod(word.c_str(), nullptr));
  return values;
}

template <class T>
std::vector<T> elements(const std::vector<double> &values) {
  std::vector<T> result;
  for (size_t i = 0; i + Parts<T>::count <= values.size(); i += Parts<T>::count) {
    if constexpr (Parts<T>::count == 2) result.emplace_back(static_cast<typename T::value_type>(values[i]), static_cast<typename T::value_type>(values[i + 1]));
    else result.push_back(static_cast<T>(values[i]));
  }
  return result;
}

template <class T>
tritri::Layout<T> layout(const std::string &line) {
  std::istringstream words(line);
  int64_t rows = 0, cols = 0, ld = 0;
  std::string fill, diag, order, storage;
  words >> rows >> cols >> fill >> diag >> order >> ld;
  tritri::Layout<T> result(fill == "lower" ? TRITRI_FILL_LOWER : fill == "upper" ? TRITRI_FILL_UPPER : TRITRI_FILL_FULL, rows, cols);
  if (diag == "unit") result = result.unit_diagonal();
  if (order == "column") result = result.column_major();
  result = result.leading_dimension(ld);
  int64_t batch_count = 1, batch_stride = 0;
  if (words >> storage >> batch_count >> batch_stride) result = result.batch(batch_count, batch_stride);
  return storage == "packed" ? result.packed() : result;
}

tritri_op op(char letter) {
  return letter == 'T' ? TRITRI_OP_TRANSPOSE : letter == 'C' ? TRITRI_OP_CONJ_TRANSPOSE : letter == 'R' ? TRITRI_OP_CONJ : TRITRI_OP_NONE;
}

bool agree(double got, double want, double tolerance) {
  return (std::isnan(got) && std::isnan(want)) || got == want || std::fabs(got - want) <= tolerance;
}

template <class T>
std::vector<double> flat(const std::vector<T> &values) {
  std::vector<double> result;
  for (const T &value : values) {
    result.push_back(static_cast<double>(std::real(value)));
    if (Parts<T>::count == 2) result.push_back(static_cast<double>(std::imag(value)));
  }
  return result;
}

void compare(const std::string &name, const std::vector<double> &got, const std::vector<double> &want, double tolerance) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO(name << ", number " << i << ": got " << got[i] << ", expected " << want[i]);
    REQUIRE(agree(got[i], want[i], tolerance));
  }
}

template <class T>
void run(Block &block) {
  const std::string name = block["case"];
  INFO(name);
  const auto a_layout = layout<T>(block["a"]), b_layout = layout<T>(block["b"]), c_layout = layout<T>(block["c"]);
  const auto a = elements<T>(numbers(block["a_data"])), b = elements<T>(numbers(block["b_data"])), before = elements<T>(numbers(block["c_data"]));
  const auto alpha = numbers(block["alpha"]), beta = numbers(block["beta"]);
  tritri::MultiplyOptions options;
  options.ops(op(block["ops"][0]), op(block["ops"][2])).scale({alpha[0], alpha[1]}, {beta[0], beta[1]});
  options.mode(block["compute"] == "tf32" ? TRITRI_COMPUTE_TF32 : block["compute"] == "pedantic" ? TRITRI_COMPUTE_PEDANTIC : TRITRI_COMPUTE_DEFAULT);

  tritri::Context context(TRITRI_DEVICE_CPU);
  auto c = before;
  if (block.count("refused")) {
    try {
      context.multiply_host(a_layout, a, b_layout, b, c_layout, c, options);
      FAIL("accepted");
    } catch (const tritri::Error &error) {
      CHECK(error.status() == TRITRI_INVALID_ARGUMENT);
      INFO(error.what());
      CHECK(std::string(error.what()).find(block["refused"]) != std::string::npos);
    }
    compare(name, flat(c), flat(before), 0);
    return;
  }
  const double tolerance = std::strtod(block["tolerance"].c_str(), nullptr);
  const auto expected = numbers(block["expected"]);
  context.multiply_host(a_layout, a, b_layout, b, c_layout, c, options);
  compare(name, flat(c), expected, tolerance);

  auto a_matrix = context.upload(a_layout, a), b_matrix = context.upload(b_layout, b), c_matrix = context.upload(c_layout, before);
  context.multiply(a_matrix, b_matrix, c_matrix, options);
  c = before;
  context.download(c_matrix, c_layout, c);
  compare(name, flat(c), expected, tolerance);
}

std::vector<Block> blocks_of(const std::string &dtype) {
  std::vector<Block> chosen;
  for (Block &block : read_blocks())
    if (block["dtype"] == dtype) chosen.push_back(std::move(block));
  return chosen;
}

}  // namespace

#define VECTORS(dtype, type)                                       \
  TEST_CASE("shared vectors, " dtype) {                            \
    auto blocks = blocks_of(dtype);                                \
    REQUIRE(blocks.size() > 20);                                   \
    for (Block &block : blocks) run<type>(block);                  \
  }
VECTORS("float32", float)
VECTORS("float64", double)
VECTORS("complex64", std::complex<float>)
VECTORS("complex128", std::complex<double>)
