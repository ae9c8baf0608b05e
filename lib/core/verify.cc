#include "core/verify.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/k_range.h"
#include "core/visit.h"

namespace tritri {
namespace {

constexpr int together = 8;  // probes that share one pass over the matrices

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

template <class T, class W>
class Check {
 public:
  Check(const Problem &p, int64_t batch) : p_(p), a_(p.a, batch), b_columns_(transposed(p.b), batch), c_(p.c, batch) {}

  // signs: `together` numbers +-1 for each column of C. The sums over the columns of op(B) grow beside the rows of C, so that a cut product costs as
  // little as a whole one.
  double worst(const std::vector<Sums<double>> &signs) {
    bx_.assign(static_cast<size_t>(p_.k), Sums<W>{});
    double worst = 0;
    const bool upward = p_.c.fill == Fill::upper;  // columns j >= i: rows from the last, columns joining from the right
    int64_t next = upward ? p_.n : 0;
    for (int64_t step = 0; step < p_.m; ++step) {
      const int64_t i = upward ? p_.m - 1 - step : step;
      const Range held = row_held(p_.c.fill, i, p_.n);
      if (p_.reads_inputs()) {
        if (upward) {
          while (next > held.begin) add_column(--next, signs);
        } else {
          while (next < held.end) add_column(next++, signs);
        }
      }
      worst = std::max(worst, row(i, held, signs));
    }
    return worst;
  }

 private:
  // bx += B(:, j) x_j.
  void add_column(int64_t j, const std::vector<Sums<double>> &signs) {
    const Range k = k_range(Fill::full, p_.b.fill, p_.k, {0, 1}, {j, j + 1});
    if (k.empty()) return;
    const W *values = b_columns_.get(j, k);
    const Sums<double> x = signs[static_cast<size_t>(j)];
    Sums<W> *sums = &bx_[static_cast<size_t>(k.begin)];
    for (int64_t l = 0; l < k.size(); ++l) {
      for (size_t q = 0; q < together; ++q) sums[l][q] += x[q] * values[l];
    }
  }

  double row(int64_t i, Range held, const std::vector<Sums<double>> &signs) {
    Sums<W> want{}, got{};
    const Range k = k_range(p_.a.fill, p_.b.fill, p_.k, {i, i + 1}, held);
    if (p_.reads_inputs() && !k.empty()) {
      const W *values = a_.get(i, k);
      const Sums<W> *sums = &bx_[static_cast<size_t>(k.begin)];
      for (int64_t l = 0; l < k.size(); ++l) {
        for (size_t q = 0; q < together; ++q) want[q] += values[l] * sums[l][q];
      }
      for (W &value : want) value *= alpha();
    }
    double norm = 0;
    if (!held.empty()) {
      const W *values = c_.get(i, held);
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
  Rows<T, W> a_, b_columns_, c_;
  std::vector<Sums<W>> bx_;  // op(B) x over the columns that have joined
};

}  // namespace

double verify(const Problem &problem, int32_t probes) {
  if (problem.m == 0 || problem.n == 0) return 0;
  std::mt19937_64 random(20240229);
  std::vector<Sums<double>> signs(static_cast<size_t>(problem.n));
  double worst = 0;
  for (int32_t first = 0; first < probes; first += together) {
    // A last group that is not full repeats its probes: nothing is checked that was not asked for.
    const size_t count = static_cast<size_t>(std::min(probes - first, int32_t{together}));
    for (size_t q = 0; q < count; ++q) {
      for (Sums<double> &x : signs) x[q] = random() & 1 ? 1.0 : -1.0;
    }
    for (size_t q = count; q < together; ++q) {
      for (Sums<double> &x : signs) x[q] = x[q - count];
    }
    for (int64_t batch = 0; batch < problem.batch; ++batch) {
      worst = std::max(worst, visit(problem.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        using W = std::conditional_t<is_complex_type<T>::value, std::complex<double>, double>;
        return Check<T, W>(problem, batch).worst(signs);
      }));
    }
  }
  return worst;
}

}  // namespace tritri
