#include "core/verify.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/k_range.h"
#include "core/visit.h"

namespace tritri {
namespace {

// One line of a view in float64, zeros outside the fill, the unit diagonal in place.
template <class T, class W>
struct Reader {
  const T *data;
  View view;
  Lines lines;

  Reader(const View &v, int64_t batch) : data(static_cast<const T *>(v.data) + batch * v.batch_stride), view(v), lines(v.lines()) {}
  template <class Use>
  void each(int64_t line, Use &&use) const {  // use(position, value) for the elements that exist
    const Range held = lines.held(line);
    for (int64_t p = held.begin; p < held.end; ++p) {
      const bool one = view.unit && p == line;
      use(p, one ? W(1) : conjugate_if(view.conj, convert<W>(data[lines.offset(line, p)])));
    }
  }
};

template <class W> double norm2(const W &x) { return static_cast<double>(std::norm(x)); }

// The sums over the columns of op(B) grow column by column beside the rows of C, so that a cut product costs as little as a whole one.
template <class T, class W>
double probe(const Problem &p, int64_t batch, const std::vector<double> &x) {
  const Reader<T, W> a(p.a, batch), b(p.b, batch), c(p.c, batch);
  const W alpha = [&] {
    if constexpr (is_complex_type<W>::value) return W(p.alpha);
    else return W(p.alpha.real());
  }();

  // s = sum over the columns j in [begin, end) of B(:, j) x_j.
  std::vector<W> s(static_cast<size_t>(p.k), W(0)), y(static_cast<size_t>(p.m), W(0));
  const auto add_column = [&](int64_t j, double sign) {
    const Range k = p.b.fill == Fill::lower ? Range{std::min(j, p.k), p.k} : p.b.fill == Fill::upper ? Range{0, std::min(j + 1, p.k)} : Range{0, p.k};
    for (int64_t l = k.begin; l < k.end; ++l) {
      const W value = p.b.unit && l == j ? W(1) : conjugate_if(p.b.conj, convert<W>(b.data[p.b.offset(l, j)]));
      s[static_cast<size_t>(l)] += sign * x[static_cast<size_t>(j)] * value;
    }
  };
  const auto dot_row = [&](int64_t i) {
    W sum(0);
    const Range k = row_held(p.a.fill, i, p.k);
    for (int64_t l = k.begin; l < k.end; ++l) {
      const W value = p.a.unit && l == i ? W(1) : conjugate_if(p.a.conj, convert<W>(a.data[p.a.offset(i, l)]));
      sum += value * s[static_cast<size_t>(l)];
    }
    return sum;
  };
  const bool product = p.reads_inputs();
  if (product) {
    if (p.c.fill == Fill::upper) {  // columns j >= i: rows from the last, columns joining from the right
      int64_t next = p.n;
      for (int64_t i = p.m; i-- > 0;) {
        for (; next > i && next > 0; --next) add_column(next - 1, 1);
        y[static_cast<size_t>(i)] = dot_row(i);
      }
    } else {
      int64_t next = 0;
      for (int64_t i = 0; i < p.m; ++i) {
        const int64_t end = row_held(p.c.fill, i, p.n).end;
        for (; next < end; ++next) add_column(next, 1);
        y[static_cast<size_t>(i)] = dot_row(i);
      }
    }
  }
  double worst = 0;
  for (int64_t i = 0; i < p.m; ++i) {
    W got(0);
    double row = 0;
    c.each(i, [&](int64_t j, const W &value) {
      got += x[static_cast<size_t>(j)] * value;
      row += norm2(value);
    });
    const W want = product ? alpha * y[static_cast<size_t>(i)] : W(0);
    const double difference = std::sqrt(norm2(got - want)), scale = std::max(std::sqrt(row), std::sqrt(norm2(want)));
    const bool got_finite = std::isfinite(norm2(got)), want_finite = std::isfinite(norm2(want));
    if (!got_finite && !want_finite) continue;
    if (got_finite != want_finite) return std::numeric_limits<double>::infinity();
    if (difference > 0) worst = std::max(worst, difference / scale);
  }
  return worst;
}

}  // namespace

double verify(const Problem &problem, int32_t probes) {
  std::mt19937_64 random(20240229);
  std::vector<double> x(static_cast<size_t>(problem.n));
  double worst = 0;
  for (int32_t round = 0; round < probes; ++round) {
    for (double &value : x) value = random() & 1 ? 1.0 : -1.0;
    for (int64_t batch = 0; batch < problem.batch; ++batch) {
      worst = std::max(worst, visit(problem.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        using W = std::conditional_t<is_complex_type<T>::value, std::complex<double>, double>;
        return probe<T, W>(problem, batch, x);
      }));
    }
  }
  return worst;
}

}  // namespace tritri
