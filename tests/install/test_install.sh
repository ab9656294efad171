#!/bin/sh
# test_install.sh SOURCE COMPILER...: installs into an empty folder, compiles an example
# against what was installed (shared and static), runs it, and uninstalls without a trace.
set -eu
source=$1
shift
CC=$*
export CC
unset MAKEFLAGS

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix

quietly() {
  if ! "$@" >"$scratch/log" 2>&1; then
    cat "$scratch/log"
    echo "failed: $*"
    exit 1
  fi
}

quietly "$source/tools/build" "$scratch/build" -Dtests=false -Dbuildtype=debug
quietly make -C "$source" install BUILD="$scratch/build" PREFIX="$prefix"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name propercal.pc)")
LD_LIBRARY_PATH=$(pkg-config --variable=libdir "$PKG_CONFIG_PATH/propercal.pc")
export PKG_CONFIG_PATH LD_LIBRARY_PATH
cp "$source/examples/measure_arrays.c" "$scratch/outside.c"
cp "$source/examples/measure_rounds.c" "$scratch/outside_rounds.c"

# The metric named $1 must be $2 in the output of the example.
expect() {
  awk -F, -v name="$1" -v value="$2" '
    $1 == name { for (i = 2; i <= NF; i++) if (($i - value)^2 < 1e-12) found = 1 }
    END { exit !found }' "$scratch/output" || {
    cat "$scratch/output"
    echo "$1 is not $2 in the output above"
    exit 1
  }
}

for kind in shared static; do
  if [ $kind = static ]; then
    flags="-static $(pkg-config --static --cflags --libs propercal)"
  else
    flags=$(pkg-config --cflags --libs propercal)
  fi
  # shellcheck disable=SC2086 # lists of words
  quietly $CC -Wall -Wextra -Werror -o "$scratch/$kind" "$scratch/outside.c" $flags
  # shellcheck disable=SC2086
  quietly $CC -Wall -Wextra -Werror -o "$scratch/$kind-rounds" "$scratch/outside_rounds.c" $flags
  for program in "$scratch/$kind" "$scratch/$kind-rounds"; do
    "$program" >"$scratch/output"
    expect accuracy 0.66666666
    expect brier 0.40333333
    expect ece 0.35
  done
done

# The same through CMake, where there is one.
if command -v cmake >/dev/null 2>&1; then
  cp -r "$source/tests/install/cmake_project" "$scratch/project"
  cp "$scratch/outside.c" "$scratch/project"
  quietly cmake -S "$scratch/project" -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$prefix"
  quietly cmake --build "$scratch/cmake"
  for kind in shared static; do
    "$scratch/cmake/$kind" >"$scratch/output"
    expect accuracy 0.66666666
    expect ece 0.35
  done
  sed -i 's/propercal [0-9.]*/propercal 9.9/' "$scratch/project/CMakeLists.txt"
  if cmake -S "$scratch/project" -B "$scratch/newer" -DCMAKE_PREFIX_PATH="$prefix" >"$scratch/log" 2>&1; then
    echo "version 9.9 was asked for and found"
    exit 1
  fi
fi

[ "$("$prefix/bin/propercal" --version | head -n 1 | grep -c "$(pkg-config --modversion propercal)")" -eq 1 ]

quietly make -C "$source" uninstall BUILD="$scratch/build"
left=$(find "$prefix" 2>/dev/null || true)
if [ -n "$left" ]; then
  echo "left behind after uninstalling:"
  echo "$left"
  exit 1
fi
