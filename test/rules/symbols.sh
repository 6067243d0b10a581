#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# symbols.sh library NM FILE      exports tessera_* functions alone
# symbols.sh blas NM FILE         exports the names of products alone, 136
# symbols.sh objects NM FILE...   call nothing that prints or ends the process
# symbols.sh plugins NM DIR       each plugin there exports tessera_backend_v1 and nothing else
# symbols.sh dot_products OBJDUMP DIR   instructions that x86-64-v4 lacks stand in the functions for them alone
# symbols.sh wrapped NM SOURCE FILE...   the calls of CUDA's runtime that can fail are among those that SOURCE wraps
# symbols.sh runpaths READELF DIR  every program and library below DIR searches libraries in absolute places alone
# symbols.sh needed READELF FILE PATTERN   every DT_NEEDED entry matches PATTERN (an extended regular expression)
set -euo pipefail

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

library() {
  local exported stray
  exported="$("$1" -D --defined-only "$2" | awk '{print $2, $3}')"
  [[ -n "$exported" ]] || fail "$2 exports nothing"
  stray="$(grep -v '^T tessera_[a-z0-9_]*$' <<<"$exported" || true)"
  [[ -z "$stray" ]] || fail "$2 exports more than tessera_* functions: $stray"
}

blas() {
  local exported stray
  exported="$("$1" -D --defined-only "$2" | awk '{print $2, $3}')"
  local products='([sd]gemm(_batch(_strided)?)?|[sdcz]syrk|[cz](gemm|gemm3m|herk))'
  stray="$(grep -vE "^T (scipy_)?(cblas_$products(64_|_64)?|$products(_64)?_)$" <<<"$exported" || true)"
  [[ -z "$stray" ]] || fail "$2 exports more than products: $stray"
  [[ "$(wc -l <<<"$exported")" == 136 ]] || fail "$2 exports $(wc -l <<<"$exported") names: $exported"
}

objects() {
  local nm="$1" used forbidden
  shift
  used="$("$nm" -u "$@" | awk '{print $2}')"
  grep -q memcpy <<<"$used" || fail "no undefined symbols in $*: not the core's objects?"
  # fprintf is TESSERA_VERBOSE's. Mangled names: std::cout, std::cerr, std::clog, std::terminate.
  forbidden='abort|exit|_exit|_Exit|quick_exit|__assert_fail|_ZSt9terminatev'
  forbidden+='|printf|vprintf|puts|putchar|perror|__printf_chk|_ZSt4cout|_ZSt4cerr|_ZSt4clog'
  forbidden="$(grep -xE "$forbidden" <<<"$used" || true)"
  [[ -z "$forbidden" ]] || fail "the core uses $forbidden"
}

plugins() {
  local file count=0 symbols
  for file in "$2"/libtessera_backend_*.so; do
    [[ -e "$file" ]] || continue
    count=$((count + 1))
    symbols="$("$1" -D --defined-only "$file" | awk '{print $2, $3}')"
    # No line of type u either: such symbols are shared by all libraries of a process.
    [[ "$symbols" == "T tessera_backend_v1" ]] || fail "$file exports: $symbols"
  done
  printf '%d plugins\n' "$count"
  [[ $count -gt 0 || "${3:-}" == none ]] || fail "no plugin in $2"
}

# What AVX512-BF16 has. dot_tile is called where the processor has it.
dot_products() {
  local file stray count=0
  for file in "$2"/libtessera_backend_*.so; do
    stray="$("$1" -d --no-show-raw-insn "$file" | awk '/^[0-9a-f]+ <.*>:$/ { at = $2 }
      /\t(vdpbf16ps|vcvtneps2bf16|vcvtne2ps2bf16)[ \t]/ && at !~ /dot_tile/ { print at }' | sort -u)"
    [[ -z "$stray" ]] || fail "$file has instructions of AVX512-BF16 in $stray"
    count=$((count + 1))
  done
  printf '%d plugins\n' "$count"
  [[ $count -gt 0 ]] || fail "no plugin in $2"
}

wrapped() {
  local nm="$1" source="$2" call missing="" count=0
  while read -r call; do
    count=$((count + 1))
    grep -q "__wrap_$call(" "$source" || missing+=" $call"
  done < <("$nm" -u "${@:3}" | grep -oE '\bcuda[A-Z]\w+' | sort -u |
    grep -vE '^cudaGet(ErrorName|ErrorString|LastError)$')
  printf '%d functions\n' "$count"
  [[ $count -gt 0 && -z "$missing" ]] || fail "$source does not wrap$missing"
}

runpaths() {
  local file count=0 path entry
  while IFS= read -r -d '' file; do
    [[ "$(head -c 4 "$file" | tr -d '\0')" == $'\x7fELF' ]] || continue
    count=$((count + 1))
    path="$("$1" -d "$file" | sed -nE 's/.*\((RUNPATH|RPATH)\).*\[(.*)\]/:\2:/p')"
    while [[ "$path" == :*:* ]]; do
      path="${path#:}" entry="${path%%:*}"
      # An empty entry means the current directory.
      [[ "$entry" =~ ^(/|\$ORIGIN(/|$)) ]] || fail "$file searches libraries in '$entry'"
      path="${path#"$entry"}"
    done
  done < <(find "$2" \( -name CMakeFiles -o -name consumer \) -prune -o \
    -type f \( -name '*.so*' -o -perm -u+x \) -print0)
  printf '%d files\n' "$count"
  [[ $count -gt 1 ]] || fail "no program and library below $2"
}

needed() {
  local entries stray
  entries="$("$1" -d "$2" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p')"
  [[ -n "$entries" ]] || fail "$2 needs nothing: not a dynamic file?"
  stray="$(grep -vxE "$3" <<<"$entries" || true)"
  [[ -z "$stray" ]] || fail "$2 needs $stray"
}

"$@"
