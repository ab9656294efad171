#!/bin/bash
# bench/serial_share.sh PROGRAM [THREADS]: what a machine of many cores can gain, measured on any machine.  PROGRAM is
# bench/propercal-simulated-cores of a build with -Dbench=true: it runs on one thread, but divides its work among THREADS
# workers (16) as the executor would, and adds up the time of each.  For each command: CPU milliseconds on one thread; those
# outside divided sections with THREADS workers, and their share of the first; the least time that THREADS cores could take
# (serial work and the busiest worker of each section); and how many times faster than one that is.  The least of RUNS (3).
set -eu
program=$(realpath "$1")
threads=${2:-16}
runs=${RUNS:-3}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

"$program" simulate --rows 1000000 --classes 10 -o c -q >/dev/null 2>&1
"$program" simulate --rows 100000 --classes 10 -o h -q >/dev/null 2>&1
"$program" simulate --rows 50000 --classes 1000 -o b -q >/dev/null 2>&1
"$program" simulate --rows 10000 --classes 10 --factor 1.7 -o t -q >/dev/null 2>&1
"$program" fit -m temperature --logits c_logits.npy --labels c_labels.npy -q -o t.json >/dev/null 2>&1

# least FIELD THREADS COMMAND...: the least of a field of the line "cpu N serial N sections N estimate N"
least() {
  local field=$1 t=$2
  shift 2
  for _ in $(seq "$runs"); do
    "$program" "$@" --threads "$t" 2>&1 >/dev/null | awk -v field="$field" \
      '$1 == "cpu" { for (i = 1; i < NF; i += 2) if ($i == field) print $(i + 1) }'
  done | sort -g | head -n 1
}

line() { # NAME COMMAND...
  local name=$1
  shift
  awk -v name="$name" -v one="$(least cpu 1 "$@")" -v serial="$(least serial "$threads" "$@")" \
    -v least="$(least estimate "$threads" "$@")" 'BEGIN {
      printf "%-36s %9.1f %9.1f %8.1f%% %9.1f %8.1f\n", name, one, serial, 100 * serial / one, least, one / least }'
}

data() { echo "--logits $1_logits.npy --labels $1_labels.npy -q"; }

printf '%-36s %9s %9s %9s %9s %8s\n' "" "one" "serial" "share" "least" "times"
# shellcheck disable=SC2046 # lists of words
{
  line "measure, 1M x 10" measure $(data c)
  line "measure, 50k x 1000" measure $(data b)
  line "measure, four metrics, 1M x 10" measure $(data c) -m accuracy -m brier -m log -m ece
  line "measure, four metrics, 50k x 1000" measure $(data b) -m accuracy -m brier -m log -m ece
  line "measure -m ks, 1M x 10" measure $(data c) -m ks
  line "fit temperature, 1M x 10" fit -m temperature $(data c)
  line "fit temperature, 50k x 1000" fit -m temperature $(data b)
  line "apply, 1M x 10" apply t.json --logits c_logits.npy -q -o a.npy
  line "measure --interval 0.95, 100k x 10" measure $(data h) --interval 0.95
  line "measure --null, 100k x 10" measure $(data h) --null
  line "compare, 10k x 10" compare $(data t)
}
