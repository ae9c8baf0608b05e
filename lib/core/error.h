// One exception type for everything that becomes a tritri_status at the C boundary.
#pragma once
#include <exception>
#include <sstream>
#include <string>
#include <utility>

#include "tritri/tritri.h"

namespace tritri {

class Error : public std::exception {
 public:
  Error(tritri_status status, std::string message) : status_(status), message_(std::move(message)) {}
  tritri_status status() const noexcept { return status_; }
  const char *what() const noexcept override { return message_.c_str(); }

 private:
  tritri_status status_;
  std::string message_;
};

// Streams all parts into one string.
template <class... Parts>
std::string text(const Parts &...parts) {
  std::ostringstream out;
  out.exceptions(std::ios::badbit);  // or a failed allocation would cut the text without a word
  (out << ... << parts);
  return out.str();
}

template <class... Parts>
[[noreturn]] void fail(tritri_status status, const Parts &...parts) {
  throw Error(status, text(parts...));
}

// The same from where nobody knows which function was called: the guard at the boundary puts its name before the message, since that begins with a colon.
template <class... Parts>
[[noreturn]] void fail_below(tritri_status status, const Parts &...parts) {
  throw Error(status, text(": ", parts...));
}

}  // namespace tritri
