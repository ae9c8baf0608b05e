#!/usr/bin/env bash
# Runs the tests of the Java library: tests/bindings/java/run.sh BUILD_FOLDER [JUnit console options]
# Prints what JUnit prints, then "N passed, N failed". Fails when a test failed or none ran. Needs javac and Debian's junit5.
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

java -Xmx1g -Xcheck:jni -Dtritri.build="$build" -Dtritri.source="$root" -cp "$work/classes:$jar$junit" org.junit.platform.console.ConsoleLauncher \
  --scan-classpath "$work/classes" --disable-banner --details=summary --reports-dir="$work" "$@" 2>&1 | tee "$work/output.txt"
status=${PIPESTATUS[0]}

number() { sed -n "s/^\[ *\([0-9]*\) tests $1 *\]$/\1/p" "$work/output.txt" | tail -n 1; }
passed=$(number successful) failed=$(number failed) skipped=$(number skipped)
if [ -z "$passed" ]; then stop "JUnit's summary is missing"; fi
if [ "${skipped:-0}" != 0 ] || grep -q "FATAL ERROR in native method\|^WARNING in native method" "$work/output.txt"; then
  echo "tests/bindings/java/run.sh: $skipped skipped; JNI complaints: $(grep -c 'in native method' "$work/output.txt")"
  failed=$((failed + 1))
fi
if [ $((passed + failed)) = 0 ] || { [ "$status" != 0 ] && [ "$failed" = 0 ]; }; then failed=$((failed + 1)); fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
