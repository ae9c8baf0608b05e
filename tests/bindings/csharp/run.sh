#!/usr/bin/env bash
# Runs the tests of the C# library: tests/bindings/csharp/run.sh BUILD_FOLDER [nunit-console options]
# Prints what NUnit prints, then "N passed, N failed". Fails when a test failed or none ran. Needs mcs, mono and Debian's nunit-console.
set -uo pipefail
stop() { echo "tests/bindings/csharp/run.sh: $*" >&2; echo "0 passed, 1 failed"; exit 1; }

[ $# -ge 1 ] || stop "BUILD_FOLDER: must be given, as in: tests/bindings/csharp/run.sh build/release"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
build=$(cd "$1" 2>/dev/null && pwd) || stop "BUILD_FOLDER: must be a folder, got '$1'"
shift
library=$build/csharp/Tritri.dll
[ -e "$library" ] || stop "BUILD_FOLDER: must hold csharp/Tritri.dll (configured with TRITRI_CSHARP=ON where there is mcs), got $build"

# Where Debian keeps NUnit 2.
nunit=$(ls /usr/lib/cli/nunit.framework-2.*/nunit.framework.dll 2>/dev/null | tail -n 1)
[ -n "$nunit" ] || stop "NUnit: /usr/lib/cli/nunit.framework-2.*/nunit.framework.dll must be there (apt-get install libnunit-cil-dev nunit-console), and is not"

work=$build/csharp/tests
rm -rf "$work" && mkdir -p "$work" || stop "BUILD_FOLDER: must be writable, got $build"
for example in "$root"/bindings/csharp/examples/*.cs; do
  mcs -nologo -langversion:7 -warn:4 -warnaserror -out:"$work/$(basename "$example" .cs).exe" -r:"$library" -r:System.Numerics.dll "$example" ||
    stop "the examples do not compile"
done
mcs -nologo -langversion:7 -unsafe -warn:4 -warnaserror -out:"$work/MissingLibrary.exe" -r:"$library" "$here/programs/MissingLibrary.cs" &&
  mcs -nologo -langversion:7 -warn:4 -warnaserror -out:"$work/LineNumbers.exe" -r:"$library" "$here/programs/LineNumbers.cs" &&
  mcs -nologo -langversion:7 -unsafe -warn:4 -warnaserror -target:library -out:"$work/Tritri.Tests.dll" -r:"$library" -r:"$nunit" -r:System.Numerics.dll "$here"/src/*.cs ||
  stop "the tests do not compile"

export MONO_PATH=$build/csharp TRITRI_BUILD=$build TRITRI_SOURCE=$root
cd "$work" || exit 1
nunit-console -nologo -nodots -noshadow -domain=None -result="$work/nunit.xml" "$work/Tritri.Tests.dll" "$@" 2>&1 | tee "$work/output.txt"
status=${PIPESTATUS[0]}

summary=$(sed -n 's/^Tests run: \([0-9]*\), Errors: \([0-9]*\), Failures: \([0-9]*\), Inconclusive: \([0-9]*\).*/\1 \2 \3 \4/p' "$work/output.txt" | tail -n 1)
[ -n "$summary" ] || stop "NUnit's summary is missing (it ended with status $status)"
left_out=$(sed -n 's/^ *Not run: \([0-9]*\),.*/\1/p' "$work/output.txt" | tail -n 1)
read -r ran errors failures inconclusive <<<"$summary"
# A test that was left out or came to no conclusion has not passed.
failed=$((errors + failures + inconclusive + ${left_out:-0}))
passed=$((ran - errors - failures - inconclusive))
if [ $((passed + failed)) = 0 ] || { [ "$status" != 0 ] && [ "$failed" = 0 ]; }; then failed=$((failed + 1)); fi

# The assembly for netstandard2.0, on .NET itself: an installed one, else the runtime that requirements.txt names.
dotnet=$(command -v dotnet) || {
  python=$root/build/venv/bin/python
  [ -x "$python" ] && "$python" -m pip install --quiet --disable-pip-version-check --no-input -r "$here/requirements.txt" </dev/null >&2
  dotnet=$("$python" -c 'import dotnetcore2, pathlib; print(pathlib.Path(dotnetcore2.__file__).parent / "bin" / "dotnet")' 2>/dev/null)
}
if [ -z "$dotnet" ] || [ ! -e "$build/csharp/netstandard2.0/Tritri.dll" ]; then
  skipped="csharp/netstandard2.0/Tritri.dll on .NET: needs Mono.Cecil, and dotnet or the Python package dotnetcore2 in build/venv"
else
  folder=$work/dotnet
  mkdir -p "$folder"
  mcs -nologo -langversion:7 -warn:4 -warnaserror -out:"$work/OnDotnet.exe" -r:"$library" -r:System.Numerics.dll "$here/programs/OnDotnet.cs" \
      "$here/src/VectorCase.cs" &&
    mono "$build/csharp/Retarget.exe" "$work/OnDotnet.exe" "$folder/OnDotnet.dll" netstandard2.0 &&
    cp "$build"/csharp/netstandard2.0/Tritri.{dll,pdb} "$build/csharp/libtritri_csharp.so" "$build/lib/libtritri.so.0" "$folder" &&
    cat >"$folder/OnDotnet.runtimeconfig.json" <<'END'
{"runtimeOptions": {"framework": {"name": "Microsoft.NETCore.App", "version": "3.1.0"}, "rollForward": "LatestMajor",
                    "configProperties": {"System.Globalization.Invariant": true}}}
END
  "$dotnet" exec "$folder/OnDotnet.dll" 2>&1 | tee "$folder/output.txt"
  counts=$(tail -n 1 "$folder/output.txt" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p')
  read -r more fewer <<<"${counts:-0 1}"
  passed=$((passed + more)) failed=$((failed + fewer))
fi
if [ -n "${skipped:-}" ]; then
  echo "skipped: $skipped"
  echo "$passed passed, $failed failed, 1 skipped"
else
  echo "$passed passed, $failed failed"
fi
[ "$failed" = 0 ]
