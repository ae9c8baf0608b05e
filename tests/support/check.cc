#include "support/check.h"

#include <cmath>
#include <sstream>

namespace support {
namespace {

std::string place(int64_t batch, int64_t i, int64_t j) {
  std::ostringstream out;
  out << "batch " << batch << " element (" << i << ", " << j << ")";
  return out.str();
}

bool positive_zero(long double x) { return x == 0 && !std::signbit(x); }

bool same_part(long double got, long double want) { return got == want || (std::isnan(got) && std::isnan(want)); }

// The error bound of one element (Higham, Accuracy and Stability, 3.1 and 3.6). Whatever the order of summation, a term passes through at most
// `terms` additions, and the 8 covers the product, scaling by alpha and beta, the sum of both, and splitting of the factors; complex
// products sum twice as many real ones. Storing 16-bit results adds one rounding of its own. TF32 rounds both factors to 11 bits first.
long double bound(const Product &p, const Expected &e, long double largest_part) {
  const int32_t dtype = p.c.layout.desc().dtype;
  const long double u = sum_roundoff(dtype), roundings = static_cast<long double>(is_complex(dtype) ? 2 * e.terms + 8 : e.terms + 8);
  long double relative = roundings * u / (1 - roundings * u);
  if (p.options.compute == TRITRI_COMPUTE_TF32) relative += 2 * 0x1p-11L + 0x1p-22L;
  long double result = relative * e.magnitude + underflow(dtype) * static_cast<long double>(1 + e.terms);
  if (store_roundoff(dtype) != u) result += store_roundoff(dtype) * (largest_part + result);
  return result;
}

// The same for the Frobenius norm, where independent errors add as a random walk does (Higham and Mary, SISC 41, 2019): sqrt(k) in place of k.
long double norm_factor(const Product &p, long double terms) {
  const int32_t dtype = p.c.layout.desc().dtype;
  long double factor = sum_roundoff(dtype) * (4 + std::sqrt(is_complex(dtype) ? 2 * terms : terms)) + store_roundoff(dtype);
  if (p.options.compute == TRITRI_COMPUTE_TF32) factor += 2 * 0x1p-11L;  // a sum of few terms has nothing to average
  return factor;
}

}  // namespace

std::string show(const Wide &value) {
  std::ostringstream out;
  out.precision(21);
  out << static_cast<double>(value.real());
  if (value.imag() != 0) out << (value.imag() < 0 ? " - " : " + ") << static_cast<double>(std::fabs(value.imag())) << "i";
  return out.str();
}

std::string check_untouched(const char *what, const Buffer &now, const Buffer &before) {
  for (int64_t index = 0; index < now.elements(); ++index) {
    if (now.same_bytes(before, index)) continue;
    std::ostringstream out;
    out << what << " must keep its bytes, element " << index << " of its buffer was " << show(before.value(index)) << " and is " << show(now.value(index));
    return out.str();
  }
  return "";
}

Verdict check(const Product &product, const Buffer &before, const std::vector<Expected> &want, Accuracy accuracy) {
  const Operand &c = product.c;
  const tritri_matrix_desc &d = c.layout.desc();
  const bool beta = product.options.beta_re != 0 || product.options.beta_im != 0;
  Verdict verdict;
  std::vector<char> owned(static_cast<size_t>(c.buffer->elements()), 0);
  long double error_sum = 0, scale_sum = 0;
  int64_t most_terms = 0, at = 0;
  bool finite = true;

  for (int64_t batch = 0; batch < c.layout.batches(); ++batch) {
    for (int64_t i = 0; i < d.rows; ++i) {
      for (int64_t j = 0; j < d.cols; ++j, ++at) {
        if (!c.layout.exists(i, j)) continue;
        const int64_t index = c.index(batch, i, j);
        owned[static_cast<size_t>(index)] = 1;
        const Expected &e = want[static_cast<size_t>(at)];
        const Wide got = c.buffer->value(index), nearest = rounded(d.dtype, e.value);
        const auto wrong = [&](const char *rule) {
          verdict.fault = place(batch, i, j) + ": " + rule + ", expected " + show(e.value) + ", got " + show(got);
          return verdict;
        };
        if (e.terms == 0 && !beta) {
          if (!positive_zero(got.real()) || !positive_zero(got.imag())) return wrong("a structural zero is +0");
          continue;
        }
        if (!std::isfinite(nearest.real()) || !std::isfinite(nearest.imag())) {
          finite = false;
          // Which part of a complex Inf or NaN is which depends on the order of operations; that the element is not finite does not.
          if (is_complex(d.dtype) ? std::isfinite(got.real()) && std::isfinite(got.imag()) : !same_part(got.real(), nearest.real())) return wrong("IEEE arithmetic");
          continue;
        }
        if (accuracy == Accuracy::exact) {
          if (got != nearest) return wrong("an exact sum");
          continue;
        }
        const long double error = std::fmax(std::fabs(got.real() - e.value.real()), std::fabs(got.imag() - e.value.imag()));
        const long double most = bound(product, e, std::fmax(std::fabs(e.value.real()), std::fabs(e.value.imag())));
        if (!(error <= most)) return wrong("elementwise error bound");
        verdict.elementwise = std::fmax(verdict.elementwise, static_cast<double>(error / most));
        error_sum += std::norm(got - e.value);
        scale_sum += e.magnitude * e.magnitude;
        most_terms = e.terms > most_terms ? e.terms : most_terms;
      }
    }
  }
  if (accuracy == Accuracy::rounding && finite && scale_sum > 0) {
    const long double most = norm_factor(product, static_cast<long double>(most_terms)) * std::sqrt(scale_sum) +
                             underflow(d.dtype) * std::sqrt(static_cast<long double>(at));
    verdict.normwise = static_cast<double>(std::sqrt(error_sum) / most);
    if (!(verdict.normwise <= 1)) {
      std::ostringstream out;
      out << "normwise error must be at most " << static_cast<double>(most) << ", got " << static_cast<double>(std::sqrt(error_sum));
      verdict.fault = out.str();
      return verdict;
    }
  }
  for (int64_t index = 0; index < c.buffer->elements(); ++index) {
    if (owned[static_cast<size_t>(index)] || c.buffer->same_bytes(before, index)) continue;
    std::ostringstream out;
    out << "memory outside C's fill must keep its bytes, element " << index - c.origin << " from C's first was " << show(before.value(index)) << " and is "
        << show(c.buffer->value(index));
    verdict.fault = out.str();
    return verdict;
  }
  return verdict;
}

}  // namespace support
