// Problems for what looks at fills and sizes alone.
#pragma once
#include "core/canonical.h"

namespace unit {

inline tritri::Problem problem(tritri::Fill a, tritri::Fill b, tritri::Fill c, int64_t m, int64_t n, int64_t k) {
  tritri::Problem p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.a.fill = a;
  p.b.fill = b;
  p.c.fill = c;
  return p;
}

}  // namespace unit
