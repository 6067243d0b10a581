#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# cxx17.sh CXX INCLUDE: each C++ header of the public API tells a C++17 compiler first what it needs, the one that
# includes all of them nothing else. The C header needs nothing, and mpi.hpp has functions for C++17.
set -euo pipefail
cxx="$1" include="$2"

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
errors_of() {
  printf '#include <tessera/%s>\n' "$1" | "$cxx" -std=c++17 -fsyntax-only -I"$include" -x c++ - 2>&1 |
    grep 'error:' || true
}

count=0
for header in "$include"/tessera/*.hpp; do
  name="${header##*/}"
  [[ "$name" != mpi.hpp ]] || continue
  errors="$(errors_of "$name")"
  [[ "${errors%%$'\n'*}" == *"need C++20"*"tessera/tessera.h"* ]] || fail "$name says first: ${errors%%$'\n'*}"
  [[ "$name" != tessera.hpp || "$errors" != *$'\n'* ]] || fail "$name says more: $errors"
  count=$((count + 1))
done
[[ $count -gt 5 ]] || fail "only $count headers in $include/tessera"
errors="$(errors_of tessera.h)"
[[ -z "$errors" ]] || fail "tessera.h: $errors"
