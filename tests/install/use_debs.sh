#!/bin/sh
# use_debs.sh, run by tools/check-debs inside a bare Debian, in a folder with the packages: installs them, uses
# program and library, and removes them.
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update >/dev/null
apt-get -qq install -y --no-install-recommends ./*.deb >install.log 2>&1 || {
  tail -n 5 install.log
  exit 1
}
cmp expected.h /usr/include/propercal.h
printf 'risk,died\n0.9,1\n0.8,1\n0.3,0\n0.6,0\n0.2,0\n0.7,1\n' >t.csv
propercal measure --probs t.csv:risk --labels t.csv:died --metric brier --format csv >output.csv
awk -F, '$1 == "brier" && $4 == "" { found = ($5 - 0.21)^2 < 1e-12 } END { exit !found }' output.csv
propercal --version | head -n 1

# shellcheck disable=SC2046 # words of the compiler
cc project/outside.c $(pkg-config --cflags --libs propercal) -o by-pkg-config
if ! { cmake -S project -B by-cmake && cmake --build by-cmake; } >cmake.log 2>&1; then
  tail -n 5 cmake.log
  exit 1
fi
for program in ./by-pkg-config by-cmake/shared by-cmake/static; do
  $program >output.txt
  grep -q '^brier,brier:half=no,,,0.40333333' output.txt
  cmp output.txt first.txt 2>/dev/null || [ ! -e first.txt ]
  cp output.txt first.txt
done

apt-get -qq purge -y propercal libpropercal-dev libpropercal0 >/dev/null 2>&1
[ ! -e /usr/bin/propercal ]
[ ! -e /usr/include/propercal.h ]
