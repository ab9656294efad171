#!/bin/bash
# bench/bench_threads.sh PROGRAM [THREADS...]: whole runs of the program by number of threads, milliseconds, the best of
# a few.  Needs nothing but the program, so that a static one can be taken to a machine with many cores.  Two limits stand
# below: reading the input once, and writing the output of `apply` and waiting until the disk has it, which `apply` does too.
set -eu
program=$(realpath "$1")
shift
threads=${*:-1 2 4 8 16}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

"$program" simulate --rows 1000000 --classes 10 -o c -q >/dev/null
"$program" simulate --rows 100000 --classes 10 -o h -q >/dev/null
"$program" simulate --rows 50000 --classes 1000 -o b -q >/dev/null
"$program" simulate --rows 10000 --classes 10 --factor 1.7 -o t -q >/dev/null
"$program" fit -m temperature --logits c_logits.npy --labels c_labels.npy -q -o t.json >/dev/null

best() { # RUNS COMMAND...
  local runs=$1 least=999999999999 begin end
  shift
  for _ in $(seq "$runs"); do
    begin=$(date +%s%N)
    "$@" >/dev/null
    end=$(date +%s%N)
    [ $((end - begin)) -ge "$least" ] || least=$((end - begin))
  done
  awk -v n="$least" 'BEGIN { printf "%10.1f", n / 1e6 }'
}

line() { # NAME RUNS COMMAND...
  local name=$1 runs=$2
  shift 2
  printf '%-36s' "$name"
  for t in $threads; do best "$runs" "$program" "$@" --threads "$t"; done
  echo
}

data() { echo "--logits $1_logits.npy --labels $1_labels.npy -q"; }

printf '%-36s' "threads"
for t in $threads; do printf '%10s' "$t"; done
echo
# shellcheck disable=SC2046 # lists of words
{
  line "measure, 1M x 10" 5 measure $(data c)
  line "measure, 50k x 1000" 5 measure $(data b)
  line "measure, four metrics, 1M x 10" 5 measure $(data c) -m accuracy -m brier -m log -m ece
  line "measure, four metrics, 50k x 1000" 5 measure $(data b) -m accuracy -m brier -m log -m ece
  line "measure -m ks, 1M x 10" 5 measure $(data c) -m ks
  line "fit temperature, 1M x 10" 3 fit -m temperature $(data c)
  line "fit temperature, 50k x 1000" 3 fit -m temperature $(data b)
  line "apply, 1M x 10" 3 apply t.json --logits c_logits.npy -q -o a.npy
  line "measure --interval 0.95, 100k x 10" 2 measure $(data h) --interval 0.95
  line "measure --null, 100k x 10" 2 measure $(data h) --null
  line "compare, 10k x 10" 2 compare $(data t)
}
printf '%-36s' "cat the logits, 1M x 10"
best 5 cat c_logits.npy
printf '\n%-36s' "cat the logits, 50k x 1000"
best 5 cat b_logits.npy
printf '\n%-36s' "write the output of apply (dd, fsync)"
best 5 dd if=a.npy of=w.npy bs=4M conv=fsync status=none
echo
