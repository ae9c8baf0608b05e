// A product as data: everything that distinguishes a case of the sweeps, its id, and how it runs.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "conformance/device.h"
#include "support/random.h"

namespace conformance {

// What a case may not go on with: a wrong result, or something that this device says it cannot do.
struct Failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What cases run with and what they report besides passing.
struct Run {
  Device &device;
  uint64_t seed;
  bool small;                                        // for sanitizers and emulation
  std::map<std::string, double> worst_elementwise, worst_normwise;  // error over its bound, by dtype and mode

  void note(const std::string &kind, const support::Verdict &verdict);
};

struct Case {
  std::string id;
  bool small;  // also part of the small table
  std::function<void(Run &)> body;
};

using Table = std::vector<Case>;
void add_sweeps(Table &table);
void add_named(Table &table);
void add_properties(Table &table);

enum class Batch {
  tight,        // matrix after matrix
  gaps,         // NaN between them
  stride_zero,  // one matrix for all, by stride 0
  count_one,    // one matrix for all, by batch count 1
  backwards,    // negative stride
  interleaved   // a line of each matrix in turn
};

struct OperandSpec {
  int32_t fill = TRITRI_FILL_FULL, op = TRITRI_OP_NONE, diag = TRITRI_DIAG_NON_UNIT, order = TRITRI_ORDER_ROW;
  bool packed = false;
  int64_t pad = 0;  // ld beyond the line's length
  Batch batch = Batch::tight;
};

enum class Data { integers, random };
enum class Alias { none, c_is_a, c_is_b, all };

struct Spec {
  std::string group;
  int32_t dtype = TRITRI_FLOAT32, compute = TRITRI_COMPUTE_DEFAULT;
  int64_t m = 0, n = 0, k = 0, batch = 1;
  OperandSpec a, b, c;
  std::complex<double> alpha{1, 0}, beta{0, 0};
  Data data = Data::random;
  Alias alias = Alias::none;
  Route route = Route::wrap;
  int32_t threads = 0;
  int64_t shift = 0;  // elements off the buffers' alignment

  std::string id() const;
  // Poisoned buffers with data where the library may read.
  support::Product make(uint64_t seed) const;
  void run(Run &run) const;
};

void add(Table &table, const Spec &spec, bool small);

tritri_matrix_desc describe(int32_t dtype, const OperandSpec &operand, int64_t rows, int64_t cols, int64_t batch);
std::string mode_name(int32_t dtype, int32_t compute);

// Runs a product whose buffers are filled, checks it against the oracle, and that inputs kept their bytes; with `repeat` a second time for the same bits.
void run_product(Run &run, const support::Product &product, Route route, support::Accuracy accuracy, int32_t threads = 0, bool repeat = false);

}  // namespace conformance
