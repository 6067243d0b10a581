#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# netlib.sh LIBRARY SCRATCH LETTER: netlib's testers of level 3 (Debian's package libblas-test) with LIBRARY preloaded,
# for the products of one type, through Fortran's and C's interface, error exits included. Exit code 77: no tester.
set -euo pipefail

library="$1" scratch="$2" letter="$3"
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

folder=""
for place in /usr/lib/*/blas /usr/lib64/blas /usr/lib/blas; do
  [[ -x "$place/xblat3$letter" && -x "$place/x${letter}cblat3" ]] && folder="$place"
done
[[ -n "$folder" ]] || { echo "SKIPPED: no xblat3$letter and x${letter}cblat3: install Debian's package libblas-test"
  exit 77; }
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"

# What both read. Error exits are tested, nothing stops at a failure, all sizes in both layouts.
routines=(gemm syrk) alphas="0.0 1.0 0.7 -1.5" betas="0.0 1.0 1.3 -0.5"
case "$letter" in
  c | z) routines+=(herk) alphas="(0.0,0.0) (1.0,0.0) (0.7,-0.9) (-1.5,0.0)"
    betas="(0.0,0.0) (1.0,0.0) (1.3,-1.1) (-0.5,0.0)" ;;
esac
input() {
  printf "%s\n" "${@:1:1}" "-1" F F T
  [[ -z "$2" ]] || echo "$2"
  printf '%s\n' 16.0 7 "0 1 2 3 5 9 33" 4 "$alphas" 4 "$betas"
}
upper="$(tr a-z A-Z <<<"$letter")" in_fortran=() in_c=()
for routine in "${routines[@]}"; do
  in_fortran+=("$upper$(tr a-z A-Z <<<"$routine")") in_c+=("cblas_$letter$routine")
done
{ printf "'summary.txt'\n6\n"; input "'snapshot.txt'" ""; printf '%s  T\n' "${in_fortran[@]}"; } >fortran.in
{ input "'snapshot.txt'" 2; printf '%s  T\n' "${in_c[@]}"; } >c.in

# run TESTER INPUT NAME...: the calls that were computed, on stdout.
run() {
  # Their own BLAS, which they need more of than products from, also where another one is the system's.
  TESSERA_VERBOSE=1 LD_PRELOAD="$library" LD_LIBRARY_PATH="$folder" "$folder/$1" <"$2" >output.txt 2>errors.txt ||
    fail "$1: exit code $?: $(tail -n 1 errors.txt)"
  [[ ! -e summary.txt ]] || cat summary.txt >>output.txt
  cat output.txt
  local name
  for name in "${@:3}"; do
    grep -q "$name *PASSED THE TESTS OF ERROR-EXITS" output.txt || fail "$1: error exits of $name"
  done
  grep -qE 'FAIL|SUSPECT|\*{5}' output.txt && fail "$1"
  # That the product was ours: a plan for each of its shapes, and none that the BLAS behind did.
  ! grep -m 1 'next BLAS' errors.txt || fail "$1: Tessera did not compute"
  local plans
  plans="$(grep -c '^tessera: .*gemm [fc]' errors.txt || true)"
  [[ "$plans" -gt 100 ]] || fail "$1: only $plans lines of Tessera"
  printf '%s: %d lines of Tessera\n' "$1" "$plans"
  rm -f summary.txt
}
run "xblat3$letter" fortran.in "${in_fortran[@]}"
for name in "${in_fortran[@]}"; do
  grep -q "$name *PASSED THE COMPUTATIONAL TESTS" output.txt || fail "xblat3$letter: $name"
done
run "x${letter}cblat3" c.in "${in_c[@]}"
for name in "${in_c[@]}"; do
  for layout in COLUMN ROW; do
    grep -q "$name *PASSED THE $layout-MAJOR *COMPUTATIONAL TESTS" output.txt ||
      fail "x${letter}cblat3: $layout-major $name"
  done
done
