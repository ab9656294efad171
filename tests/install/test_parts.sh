#!/bin/sh
# test_parts.sh SOURCE COMPILER...: builds without the optional parts (export, studies, figures,
# report); measuring works, and each part that is left out says so in one sentence.
set -eu
source=$1
shift
CC=$*
export CC
unset MAKEFLAGS

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if ! "$source/tools/build" "$scratch/build" -Dtests=false -Dbuildtype=debug -Dexport=false \
  -Dstudies=false -Dfigures=false -Dreport=false >"$scratch/log" 2>&1; then
  cat "$scratch/log"
  echo "a build without export, studies, figures and report fails"
  exit 1
fi
program=$scratch/build/cli/propercal

cd "$scratch"
printf 'probs,labels\n0.9,1\n0.8,1\n0.3,0\n0.6,0\n0.2,0\n0.7,1\n' >data.csv
"$program" measure --data data.csv --metric brier --format csv >output
if ! awk -F, '$1 == "brier" && $4 == "" { found = ($5 - 0.21)^2 < 1e-12 } END { exit !found }' output; then
  cat output
  echo "the Brier score above is not 0.21"
  exit 1
fi
"$program" fit --method platt --data data.csv -o cal.json >output 2>&1

# The command must fail with exit code 2 and say that part $1 is not in this build.
left_out() {
  part=$1
  option=$2
  shift 2
  code=0
  "$program" "$@" >output 2>&1 || code=$?
  if [ "$code" -ne 2 ] || ! grep -q "$part are not part of this build of propercal; build it with -D$option=true" output; then
    cat output
    echo "propercal $* ends with $code and the output above"
    exit 1
  fi
}
left_out figures figures plot reliability --data data.csv -o figure.svg
left_out reports report report --data data.csv -o report.html
left_out studies studies study coverage
left_out exports export export cal.json --to c -o cal.c
