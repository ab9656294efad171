#!/bin/sh
# test_header.sh LANGUAGE INCLUDE SOURCE COMPILER...: the header compiles without a warning in
# every dialect of the language, c or c++.
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
