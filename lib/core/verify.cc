#include "core/verify.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <random>
#include <vector>

#include "core/k_range.h"
#include "core/visit.h"
#include "cpu/team.h"

namespace tritri {
namespace {

constexpr int together = 8;  // probes that share one pass over the matrices
constexpr int64_t chunk_rows = 256, most_chunks = 32;  // of a matrix: what one thread takes on
constexpr double worth_threads = 1e6;                  // elements to look at, below which starting threads costs more than they save

template <class W> using Sums = std::array<W, together>;
template <class W> double norm2(const W &x) { return static_cast<double>(std::norm(x)); }

// The rows of a view, in wide numbers, ones on a unit diagonal. Rows that lie across the lines in memory are turned around some at a time.
template <class T, class W>
class Rows {
 public:
  Rows(const View &view, int64_t batch) : view_(view), data_(static_cast<const T *>(view.data) + batch * view.batch_stride) {}

  // Elements `range` of row i, all of them held; valid until the next call.
  const W *get(int64_t i, Range range) {
    if (view_.row_lines) {
      values_.resize(static_cast<size_t>(view_.cols));
      read(i, range, &values_[0] + range.begin, 1);
      return &values_[0] + range.begin;
    }
    const int64_t block = i / width * width;
    if (block != block_) {
      block_ = block;
      values_.resize(static_cast<size_t>(width * view_.cols));
      for (int64_t l = 0; l < view_.cols; ++l) {
        const Range held = view_.lines().held(l), some{std::max(block, held.begin), std::min(block + width, held.end)};
        if (!some.empty()) read(l, some, &values_[static_cast<size_t>((some.begin - block) * view_.cols + l)], view_.cols);
      }
    }
    return &values_[static_cast<size_t>((i - block) * view_.cols + range.begin)];
  }

 private:
  static constexpr int64_t width = 16;

  // Positions `range` of a line, `stride` apart in `to`.
  void read(int64_t line, Range range, W *to, int64_t stride) const {
    const int64_t start = view_.lines().offset(line, 0), one = view_.unit ? line : -1;
    for (int64_t p = range.begin; p < range.end; ++p, to += stride) *to = p == one ? W(1) : conjugate_if(view_.conj, convert<W>(data_[start + p]));
  }

  View view_;
  const T *data_;
  std::vector<W> values_;
  int64_t block_ = -1;
};

// Tasks 0 to count - 1 on up to `threads` threads; a failure of one is thrown here when all have ended.
template <class Task>
void share(int threads, int64_t count, const Task &task) {
  std::exception_ptr failure;
  std::mutex mutex;
  cpu::Phase phase;
  cpu::Team team;
  team.run(static_cast<int>(std::clamp<int64_t>(count, 1, std::max(threads, 1))), [&](int) {
    phase.work(count, [&](int64_t index) {
      try {
        task(index);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        failure = std::current_exception();
      }
    });
  });
  if (failure) std::rethrow_exception(failure);
}

// One matrix of a batch. Its rows are cut into chunks by their number alone, and so are the columns: op(B) x is summed up within each chunk of columns
// and then over the chunks. Where C is a triangle, row i wants the sum over the columns that C holds there: chunk by chunk they join it, those of
// the chunk itself one by one beside the rows, so that a cut product costs little more than a whole one.
template <class T, class W>
class Check {
 public:
  Check(const Problem &p, int64_t batch) : p_(p), batch_(batch), chunks_(std::clamp<int64_t>(std::max(p.m, p.n) / chunk_rows, 1, most_chunks)) {}

  // signs: `together` numbers +-1 for each column of C.
  double worst(const std::vector<Sums<double>> &signs, int threads) const {
    // Before chunk c the columns of earlier chunks have joined; before a whole C's first row, all have.
    std::vector<std::vector<Sums<W>>> bx(static_cast<size_t>(chunks_));
    share(threads, chunks_, [&](int64_t c) {
      std::vector<Sums<W>> &sums = bx[static_cast<size_t>(c)];
      sums.assign(static_cast<size_t>(p_.k), Sums<W>{});
      Rows<T, W> b_columns(transposed(p_.b), batch_);
      const Range columns = columns_of(c);
      for (int64_t x = columns.begin; x < columns.end && p_.reads_inputs(); ++x) add_column(b_columns, column(x), signs, sums);
    });
    const bool cut = p_.c.fill != Fill::full;
    share(threads, chunks_, [&](int64_t part) {  // each its part of the k
      const int64_t begin = p_.k * part / chunks_, end = p_.k * (part + 1) / chunks_;
      for (int64_t l = begin; l < end; ++l) {
        Sums<W> sum{};
        for (std::vector<Sums<W>> &chunk : bx) {
          Sums<W> &mine = chunk[static_cast<size_t>(l)];
          const Sums<W> earlier = sum;
          for (size_t q = 0; q < together; ++q) sum[q] += mine[q];
          mine = cut ? earlier : sum;
        }
      }
    });
    std::vector<double> worst(static_cast<size_t>(chunks_));
    share(threads, chunks_, [&](int64_t c) {
      Rows<T, W> a(p_.a, batch_), b_columns(transposed(p_.b), batch_), c_rows(p_.c, batch_);
      std::vector<Sums<W>> &sums = bx[static_cast<size_t>(cut ? c : chunks_ - 1)];
      int64_t joined = columns_of(c).begin;
      for (int64_t step = steps_of(c).begin; step < steps_of(c).end; ++step) {
        const int64_t i = upward() ? p_.m - 1 - step : step;
        const Range held = row_held(p_.c.fill, i, p_.n);
        for (; cut && p_.reads_inputs() && joined < held.size(); ++joined) add_column(b_columns, column(joined), signs, sums);
        worst[static_cast<size_t>(c)] = std::max(worst[static_cast<size_t>(c)], row(a, c_rows, i, held, sums, signs));
      }
    });
    return *std::max_element(worst.begin(), worst.end());
  }

 private:
  // Columns j >= i: rows from the last, columns joining from the right.
  bool upward() const { return p_.c.fill == Fill::upper; }
  int64_t column(int64_t joined) const { return upward() ? p_.n - 1 - joined : joined; }
  Range steps_of(int64_t chunk) const { return {p_.m * chunk / chunks_, p_.m * (chunk + 1) / chunks_}; }
  // In the order in which they join: those that C holds in the chunk's last row and not yet in the row before its first.
  Range columns_of(int64_t chunk) const {
    if (p_.c.fill == Fill::full) return {p_.n * chunk / chunks_, p_.n * (chunk + 1) / chunks_};
    const auto joined = [&](int64_t steps) { return steps == 0 ? 0 : row_held(p_.c.fill, upward() ? p_.m - steps : steps - 1, p_.n).size(); };
    const Range steps = steps_of(chunk);
    return {joined(steps.begin), joined(steps.end)};
  }

  // sums += B(:, j) x_j.
  void add_column(Rows<T, W> &b_columns, int64_t j, const std::vector<Sums<double>> &signs, std::vector<Sums<W>> &all) const {
    const Range k = k_range(Fill::full, p_.b.fill, p_.k, {0, 1}, {j, j + 1});
    if (k.empty()) return;
    const W *values = b_columns.get(j, k);
    const Sums<double> x = signs[static_cast<size_t>(j)];
    Sums<W> *sums = &all[static_cast<size_t>(k.begin)];
    for (int64_t l = 0; l < k.size(); ++l) {
      for (size_t q = 0; q < together; ++q) sums[l][q] += x[q] * values[l];
    }
  }

  double row(Rows<T, W> &a, Rows<T, W> &c, int64_t i, Range held, const std::vector<Sums<W>> &bx, const std::vector<Sums<double>> &signs) const {
    Sums<W> want{}, got{};
    const Range k = k_range(p_.a.fill, p_.b.fill, p_.k, {i, i + 1}, held);
    if (p_.reads_inputs() && !k.empty()) {
      const W *values = a.get(i, k);
      const Sums<W> *sums = &bx[static_cast<size_t>(k.begin)];
      for (int64_t l = 0; l < k.size(); ++l) {
        for (size_t q = 0; q < together; ++q) want[q] += values[l] * sums[l][q];
      }
      for (W &value : want) value *= alpha();
    }
    double norm = 0;
    if (!held.empty()) {
      const W *values = c.get(i, held);
      const Sums<double> *x = &signs[static_cast<size_t>(held.begin)];
      for (int64_t j = 0; j < held.size(); ++j) {
        norm += norm2(values[j]);
        for (size_t q = 0; q < together; ++q) got[q] += x[j][q] * values[j];
      }
    }
    double worst = 0;
    for (size_t q = 0; q < together; ++q) {
      const bool got_finite = std::isfinite(norm2(got[q])), want_finite = std::isfinite(norm2(want[q]));
      if (!got_finite && !want_finite) continue;
      if (got_finite != want_finite) return std::numeric_limits<double>::infinity();
      const double difference = std::sqrt(norm2(got[q] - want[q])), scale = std::max(std::sqrt(norm), std::sqrt(norm2(want[q])));
      if (difference > 0) worst = std::max(worst, difference / scale);
    }
    return worst;
  }

  W alpha() const {
    if constexpr (is_complex_type<W>::value) return p_.alpha;
    else return p_.alpha.real();
  }

  const Problem &p_;
  int64_t batch_, chunks_;
};

}  // namespace

double verify(const Problem &problem, int32_t probes, int threads) {
  if (problem.m == 0 || problem.n == 0) return 0;
  const double m = static_cast<double>(problem.m), n = static_cast<double>(problem.n), k = static_cast<double>(problem.k);
  const double each = m * k + k * n + m * n;
  if (each * static_cast<double>(problem.batch) < worth_threads) threads = 1;
  const bool many = problem.batch >= threads || each < worth_threads;  // then a thread takes whole matrices
  std::mt19937_64 random(20240229);
  std::vector<Sums<double>> signs(static_cast<size_t>(problem.n));
  std::vector<double> worst(static_cast<size_t>(problem.batch));
  for (int32_t first = 0; first < probes; first += together) {
    // A last group that is not full repeats its probes: nothing is checked that was not asked for.
    const size_t count = static_cast<size_t>(std::min(probes - first, int32_t{together}));
    for (size_t q = 0; q < count; ++q) {
      for (Sums<double> &x : signs) x[q] = random() & 1 ? 1.0 : -1.0;
    }
    for (size_t q = count; q < together; ++q) {
      for (Sums<double> &x : signs) x[q] = x[q - count];
    }
    share(many ? threads : 1, problem.batch, [&](int64_t batch) {
      double &most = worst[static_cast<size_t>(batch)];
      most = std::max(most, visit(problem.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        using W = std::conditional_t<is_complex_type<T>::value, std::complex<double>, double>;
        return Check<T, W>(problem, batch).worst(signs, many ? 1 : threads);
      }));
    });
  }
  return *std::max_element(worst.begin(), worst.end());
}

}  // namespace tritri
