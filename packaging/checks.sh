# Sourced by scripts that run named checks: check NAME COMMAND... (in a subshell), skip NAME REASON, and checks_end, whose last line is "N passed, N failed[, N skipped]".
passed=0 failed=0 skipped=0

check() {
  local name=$1 start=$SECONDS log
  log=$(mktemp)
  shift
  if ("$@") >"$log" 2>&1 </dev/null; then
    echo "ok      $name ($((SECONDS - start)) s)"
    passed=$((passed + 1))
  else
    echo "FAILED  $name ($((SECONDS - start)) s)"
    tail -n 60 "$log" | sed 's/^/        /'
    failed=$((failed + 1))
  fi
  rm -f "$log"
}

skip() {
  echo "skipped: $1: $2"
  skipped=$((skipped + 1))
}

checks_end() {
  if [ $skipped != 0 ]; then echo "$passed passed, $failed failed, $skipped skipped"; else echo "$passed passed, $failed failed"; fi
  [ $failed = 0 ]
}
