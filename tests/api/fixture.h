// A CPU context and small matrices for tests of the boundary.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "support/api.h"
#include "support/catch.h"
#include "support/matrix.h"

namespace api_tests {

// U L = [[14, 12], [15, 18]], NaN where nothing is.
struct Fixture {
  support::Context context = support::make_context(TRITRI_DEVICE_CPU);
  tritri_matrix_desc upper = support::describe(TRITRI_FLOAT64, TRITRI_FILL_UPPER, 2, 2), lower = support::describe(TRITRI_FLOAT64, TRITRI_FILL_LOWER, 2, 2),
                     full = support::describe(TRITRI_FLOAT64, TRITRI_FILL_FULL, 2, 2);
  double u[4] = {1, 2, nan, 3}, l[4] = {4, nan, 5, 6}, c[4] = {-1, -2, -3, -4};
  support::Matrix a = support::upload(context, upper, u), b = support::upload(context, lower, l), result = support::create(context, full);

  static constexpr double nan = __builtin_nan("");
};

// Whether a message reads "tritri_function: argument: rule".
inline bool has_form(const std::string &message, const std::string &function) {
  if (message.compare(0, function.size() + 2, function + ": ") != 0) return false;
  const size_t colon = message.find(": ", function.size() + 2);
  return colon != std::string::npos && colon > function.size() + 2 && colon + 2 < message.size() && message.find('\n') == std::string::npos;
}

// The call must fail with this status and a message of the right form that contains `words`.
inline void require_refused(tritri_status got, tritri_status want, const std::string &function, const std::string &words) {
  const std::string message = tritri_last_error();
  INFO(function << " gave " << tritri_status_name(got) << ": " << message);
  CHECK(got == want);
  CHECK(has_form(message, function));
  CHECK(message.find(words) != std::string::npos);
}

}  // namespace api_tests
