#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# pkg_config.sh PKG_CONFIG PREFIX FOLDER PLUGINS CXX SOURCE CC SOURCE: builds programs in FOLDER, in C++ and in C, by
# the lines of docs/building.md, with what pkg-config says of the installation below PREFIX, and runs them.
set -euo pipefail
pkg_config="$1" prefix="$2" folder="$3" plugins="$4" cxx="$5" cxx_source="$6" cc="$7" c_source="$8"
here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

pc="$(find "$prefix" -name tessera.pc -print -quit)"
[[ -n "$pc" ]] || fail "no tessera.pc under $prefix"
export PKG_CONFIG_PATH="${pc%/*}"
"$pkg_config" --exists --print-errors "tessera >= 0.3"
for folder_of in prefix libdir includedir; do
  value="$(realpath -e -- "$("$pkg_config" --variable=$folder_of tessera)")"
  [[ "$value/" == "$(realpath -e -- "$prefix")/"* ]] || fail "$folder_of is $value, which is not in $prefix"
done
# The page's own lines, word for word.
page="$here/../../docs/building.md"
c++() { command "$cxx" "$@"; }
cc() { command "$cc" "$@"; }
pkg-config() { command "$pkg_config" "$@"; }
build() {  # build COMPILER NAME: what the page has for it, in FOLDER
  local line
  line="$(grep "^$1 .*pkg-config" "$page")" || fail "$page has no line that begins with $1"
  printf '%s\n' "$line"
  eval "$line"
  mv a.out "$2"
}
rm -rf "$folder"
mkdir -p "$folder"
cp "$cxx_source" "$folder/program.cpp"
cp "$c_source" "$folder/program.c"
cd "$folder"
build c++ program
build cc program_c

unset TESSERA_BACKEND TESSERA_BACKEND_PATH LD_LIBRARY_PATH
[[ -z "$plugins" ]] || export TESSERA_BACKEND=fake TESSERA_BACKEND_PATH="$plugins"
for program in program program_c; do
  output="$("$folder/$program")"
  printf '%s\n' "$output"
  [[ "$output" == *$'4 5\n10 11'* ]] || fail "$program prints something else than the product"
done
