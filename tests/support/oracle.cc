#include "support/oracle.h"

#include <cmath>

namespace support {
namespace {

// op(X) as a dense array: value, and whether it exists.
template <class R> struct Dense {
  int64_t rows, cols;
  std::vector<R> re, im;
  std::vector<char> exists;

  Dense(const Operand &x, int32_t op, int64_t batch, bool by_columns, bool read) {
    const tritri_matrix_desc &d = x.layout.desc();
    const bool transpose = op == TRITRI_OP_TRANSPOSE || op == TRITRI_OP_CONJ_TRANSPOSE;
    const R sign = op == TRITRI_OP_CONJ || op == TRITRI_OP_CONJ_TRANSPOSE ? R(-1) : R(1);
    rows = transpose ? d.cols : d.rows;
    cols = transpose ? d.rows : d.cols;
    re.resize(static_cast<size_t>(rows * cols));
    im.resize(re.size());
    exists.resize(re.size());
    if (!read) return;
    for (int64_t i = 0; i < d.rows; ++i) {
      for (int64_t j = 0; j < d.cols; ++j) {
        if (!x.layout.exists(i, j)) continue;
        const int64_t r = transpose ? j : i, c = transpose ? i : j;
        const size_t at = static_cast<size_t>(by_columns ? c * rows + r : r * cols + c);
        const Wide value = x.layout.stored(i, j) ? x.value(x.layout.batches() > 1 ? batch : 0, i, j) : Wide(1);
        re[at] = static_cast<R>(value.real());
        im[at] = sign * static_cast<R>(value.imag());
        exists[at] = 1;
      }
    }
  }
};

long double one_norm(const Wide &x) { return std::fabs(x.real()) + std::fabs(x.imag()); }

// A factor that is real scales part by part: an Inf in one part must not become a NaN in the other.
Wide times(const Wide &factor, const Wide &x) {
  if (factor.imag() == 0) return {factor.real() * x.real(), factor.real() * x.imag()};
  return {factor.real() * x.real() - factor.imag() * x.imag(), factor.real() * x.imag() + factor.imag() * x.real()};
}

template <class R> std::vector<Expected> compute(const Product &p) {
  const tritri_matrix_desc &d = p.c.layout.desc();
  const bool complex = is_complex(d.dtype);
  const auto scalar = [&](double re, double im) {  // rounded to the type that the product is computed in
    const bool wide = d.dtype == TRITRI_FLOAT64 || d.dtype == TRITRI_COMPLEX128;
    return wide ? Wide(re, im) : Wide(static_cast<float>(re), static_cast<float>(im));
  };
  const Wide alpha = scalar(p.options.alpha_re, p.options.alpha_im), beta = scalar(p.options.beta_re, p.options.beta_im);
  const bool read = alpha != Wide(0);

  std::vector<Expected> result;
  result.reserve(static_cast<size_t>(p.c.layout.batches() * d.rows * d.cols));
  for (int64_t batch = 0; batch < p.c.layout.batches(); ++batch) {
    const Dense<R> a(p.a, p.options.op_a, batch, false, read), b(p.b, p.options.op_b, batch, true, read);
    for (int64_t i = 0; i < d.rows; ++i) {
      // The part of row i outside of which nothing exists, found by looking.
      int64_t begin = 0, end = a.cols;
      while (begin < end && !a.exists[static_cast<size_t>(i * a.cols + begin)]) ++begin;
      while (end > begin && !a.exists[static_cast<size_t>(i * a.cols + end - 1)]) --end;
      for (int64_t j = 0; j < d.cols; ++j) {
        Expected e{Wide(0), 0, 0};
        if (p.c.layout.exists(i, j)) {
          const size_t row = static_cast<size_t>(i * a.cols), column = static_cast<size_t>(j * b.rows);
          R re = 0, im = 0, magnitude = 0;
          for (size_t k = static_cast<size_t>(begin); k < static_cast<size_t>(end); ++k) {
            if (!a.exists[row + k] || !b.exists[column + k]) continue;
            ++e.terms;
            if (!complex) {
              const R term = a.re[row + k] * b.re[column + k];
              re += term;
              magnitude += std::fabs(term);
              continue;
            }
            re += a.re[row + k] * b.re[column + k] - a.im[row + k] * b.im[column + k];
            im += a.re[row + k] * b.im[column + k] + a.im[row + k] * b.re[column + k];
            magnitude += (std::fabs(a.re[row + k]) + std::fabs(a.im[row + k])) * (std::fabs(b.re[column + k]) + std::fabs(b.im[column + k]));
          }
          if (e.terms > 0) {
            e.value = times(alpha, Wide(re, im));
            e.magnitude = one_norm(alpha) * static_cast<long double>(magnitude);
          }
          if (beta != Wide(0)) {
            const Wide old = p.c.value(batch, i, j);
            e.value += times(beta, old);
            e.magnitude += one_norm(beta) * one_norm(old);
          }
        }
        result.push_back(e);
      }
    }
  }
  return result;
}

}  // namespace

std::vector<Expected> expected(const Product &product) {
  const int32_t dtype = product.c.layout.desc().dtype;
  return dtype == TRITRI_FLOAT64 || dtype == TRITRI_COMPLEX128 ? compute<long double>(product) : compute<double>(product);
}

}  // namespace support
