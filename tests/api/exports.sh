#!/usr/bin/env bash
# B10, L1: what libtritri.so shows and needs. exports.sh LIBRARY
set -uo pipefail
library=$1 passed=0 failed=0
verdict() { # NAME WHAT-IS-WRONG
  if [ -z "$2" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED $1:" $2; fi
}
symbols=$(nm -D --defined-only "$library" | awk '{ print $NF }') || exit 2
verdict "B10 only tritri_* is exported" "$(grep -v '^tritri_' <<<"$symbols")"
verdict "B10 under one symbol version" "$(grep -v '@@tritri_0$' <<<"$symbols" | grep -vx tritri_0)"
verdict "B10 something is exported" "$(grep -q '^tritri_multiply@@tritri_0$' <<<"$symbols" || echo 'tritri_multiply is missing')"
dynamic=$(readelf -d "$library")
verdict "the SONAME carries the ABI version" "$(grep -q 'soname: \[libtritri\.so\.[0-9]*\]' <<<"$dynamic" || grep -i soname <<<"$dynamic" || echo 'no SONAME')"
verdict "L1 no CUDA, BLAS or C++ library is needed" "$(grep NEEDED <<<"$dynamic" | grep -iE 'cuda|cublas|blas|lapack|gfortran|stdc\+\+')"
verdict "no RPATH points outside" "$(grep -E 'R(UN)?PATH' <<<"$dynamic")"
verdict "the stack is not executable" "$(readelf -lW "$library" | grep GNU_STACK | grep -F RWE)"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
