#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# pkg_config.sh PKG_CONFIG CXX PREFIX SOURCE PROGRAM PLUGINS: builds and runs a program with what pkg-config says.
set -euo pipefail
pkg_config="$1" cxx="$2" prefix="$3" source="$4" program="$5" plugins="$6"

pc="$(find "$prefix" -name tessera.pc -print -quit)"
[[ -n "$pc" ]] || { echo "FAILED: no tessera.pc under $prefix" >&2; exit 1; }
export PKG_CONFIG_PATH="${pc%/*}"
"$pkg_config" --exists --print-errors tessera
mkdir -p "${program%/*}"
# shellcheck disable=SC2046  # the flags are words
"$cxx" -std=c++20 "$source" $("$pkg_config" --cflags --libs tessera) -o "$program"
unset TESSERA_BACKEND TESSERA_BACKEND_PATH
[[ -z "$plugins" ]] || export TESSERA_BACKEND=fake TESSERA_BACKEND_PATH="$plugins"
output="$(LD_LIBRARY_PATH="$("$pkg_config" --variable=libdir tessera)" "$program")"
printf '%s\n' "$output"
[[ "$output" == *$'4 5\n10 11' ]] || { echo "FAILED: not the product" >&2; exit 1; }
