#!/bin/sh
# test_header.sh LANGUAGE INCLUDE SOURCE COMPILER...: the header compiles without a warning in
# every dialect of the language, c or c++, and so does the example on top of it.
set -eu
language=$1
include=$2
source=$3
shift 3

case $language in
c) dialects='c99 c11 c17' ;;
c++) dialects='c++98 c++11 c++17' ;;
esac
for dialect in $dialects; do
  "$@" -x "$language" "-std=$dialect" -pedantic-errors -Wall -Wextra -Wshadow -Wconversion \
    -Werror -I "$include" -fsyntax-only "$source"
done

example=$(mktemp -d)
trap 'rm -rf "$example"' EXIT
awk '/^ \* Example:/ { on = 1; next } /^ \* This header is/ { exit } on { sub(/^ \*(   )?/, ""); print }' \
  "$include/propercal.h" >"$example/example.c"
grep -q '^int main' "$example/example.c"
for dialect in $dialects; do
  "$@" -x "$language" "-std=$dialect" -pedantic-errors -Wall -Wextra -Wshadow -Wconversion \
    -Werror -I "$include" -fsyntax-only "$example/example.c"
done
