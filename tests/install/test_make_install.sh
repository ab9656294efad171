#!/bin/sh
# test_make_install.sh SOURCE: where something that building needs is missing, make install says
# what, and starts nothing that could install it.
set -eu
source=$1
unset MAKEFLAGS MAKELEVEL

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"

# Programs that would install something only note that they were called.
for name in apt-get apt sudo su pip pip3 dnf yum brew curl wget; do
  printf '#!/bin/sh\necho "%s $*" >>"%s"\nexit 1\n' "$name" "$scratch/called" >"$scratch/bin/$name"
done
# Without pkg-config's answer, zlib is not there; without a module, no environment can be made.
printf '#!/bin/sh\nexit 1\n' >"$scratch/bin/pkg-config"
chmod +x "$scratch/bin"/*

if PATH="$scratch/bin:$PATH" make -C "$source" install BUILD="$scratch/build" \
  PREFIX="$scratch/prefix" >"$scratch/said" 2>&1; then
  cat "$scratch/said"
  echo "make install succeeds without zlib"
  exit 1
fi
if [ -e "$scratch/called" ]; then
  echo "make install called:"
  cat "$scratch/called"
  exit 1
fi
if ! grep -q 'zlib' "$scratch/said"; then
  cat "$scratch/said"
  echo "make install does not say that zlib is missing"
  exit 1
fi
if [ -e "$scratch/prefix" ]; then
  echo "make install has installed something"
  exit 1
fi
