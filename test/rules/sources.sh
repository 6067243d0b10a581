#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# sources.sh REPOSITORY: what the source files may contain. Prints every line that breaks a rule.
set -euo pipefail
shopt -s lastpipe  # rule() runs in this shell, so that it can set `broken`
cd "$1"

broken=0
# rule TEXT: the lines on stdin break it.
rule() {
  local lines
  lines="$(cat)"
  [[ -n "$lines" ]] || return 0
  printf 'FAILED: %s\n%s\n\n' "$1" "$lines" >&2
  broken=1
}
# find_lines PATTERN PLACE...: file:line:text, without lines that are comments.
find_lines() {
  local pattern="$1"
  shift
  grep -rnE --include='*.hpp' --include='*.cpp' --include='*.h' --include='*.c' --include='*.cu' --include='*.cuh' -- \
    "$pattern" "$@" | grep -vE '^[^:]*:[0-9]+: *(//|\*|/\*)' || true
}
core() { find lib -path lib/cli -prune -o \( -name '*.cpp' -o -name '*.hpp' \) -print; }

mapfile -t core_files < <(core)
[[ ${#core_files[@]} -gt 10 ]] || { echo "FAILED: the core was not found" >&2; exit 1; }

find_lines '^ *# *include' include | grep -vE '# *include <(tessera/[a-z_/]+\.(h|hpp)|[a-z_]+|stdint\.h|stddef\.h)>' |
  rule "a public header includes Tessera's headers and those of the standard library alone" || true
find_lines '^ *# *include *[<"]tessera/' backends |
  grep -vE '<tessera/(plugin/[a-z_]+\.(h|hpp)|(boundary|dtype)\.hpp|types\.h|version\.h)>' |
  rule "a backend includes tessera/plugin/ (and boundary.hpp, dtype.hpp, types.h, version.h) alone" || true
find_lines '^ *# *include *"(api|dispatch|plan|problem)/' test perf | grep -vE '^(test/(unit|fuzz|plugins)|perf/fit)/' |
  rule "tests and the perf suite use the public API, but for test/{unit,fuzz,plugins} and perf/fit" || true
# From backends/<name>/<operation>/<room>/ two steps up lead to the backend's own folder.
find_lines '^ *# *include.*(\.\./\.\./|[<"/]lib/)' backends lib/*.hpp lib/{api,dispatch,plan,problem} |
  grep -vE '^backends/[a-z]+/[a-z]+/[a-z]+/[^/:]+:[0-9]+: *# *include "\.\./\.\./[a-z_]+\.' |
  rule "no include path leaves a part of the repository" || true
{ find_lines '^ *# *include *"(api|plan|problem)/' lib/dispatch
  find_lines '^ *# *include *"(api|plan|dispatch)/' lib/problem
  find_lines '^ *# *include *"api/' lib/plan; find_lines '^ *# *include *"(api|plan|problem|dispatch)/' lib/cli; } |
  rule "api knows plan and dispatch, plan knows dispatch and problem, these nobody; the command line is a user" || true
find_lines '^ *# *include *[<"](Eigen|Kokkos|cuda|cublas|omp|hip|sycl)' "${core_files[@]}" |
  rule "the core includes no backend's libraries" || true
find_lines '"(cpu|cuda|kokkos|eigen|openmp|hip|sycl)\b' "${core_files[@]}" | grep -v '# *include' |
  rule "the core names no backend" || true
prints='printf|fprintf|puts|fputs|putchar|perror'
ends='abort|exit|_exit|_Exit|quick_exit|terminate|assert'
find_lines "\b($prints|$ends) *\(|std::(cout|cerr|clog)\b" "${core_files[@]}" | grep -v '^lib/plan/verbose\.cpp:' |
  rule "the core prints in verbose.cpp alone and never ends the process" || true
find_lines '\bgetenv *\(|\bsecure_getenv *\(|\benviron\b' "${core_files[@]}" include |
  grep -v '^lib/dispatch/environment\.cpp:' |
  rule "the core reads the environment in environment.cpp alone" || true
find_lines '[!=]= *(tessera::)?(DType::f[0-9]+|TESSERA_F[0-9]+)\b|\bbool f(32|64)\b' lib perf |
  rule "a choice by element type is made by with_types() and the traits of tessera/dtype.hpp alone" || true
find_lines '\bdlopen *\(|\bdlclose *\(' "${core_files[@]}" include | grep -v '^lib/dispatch/loader\.cpp:.*dlopen' |
  rule "libraries are opened in loader.cpp alone, and never closed" || true
find backends -name '*.[ch]*' -type f -exec awk '
  /catch \(\.\.\.\)/ { at = FNR; line = $0 } at && /throw;|current_exception\(\)/ { at = 0 }
  at && FNR == at + 4 { print FILENAME ":" at ": " line; at = 0 }' {} + |
  rule "a backend swallows no exception: only guard() has a catch (...) that neither throws again nor keeps it" || true
grep -rL 'SPDX-License-Identifier: Apache-2.0' --include='*.hpp' --include='*.cpp' --include='*.h' --include='*.c' \
  --include='*.cu' --include='*.cuh' --include='*.cmake' --include='CMakeLists.txt' include lib backends test |
  rule "every source file names its licence" || true

# diff's status is 1 where there is something to print.
{ diff <(awk '/^```cpp$/ { on = 1; next } /^```$/ && on { exit } on' README.md) \
  <(tail -n +4 docs/examples/quickstart.cpp) || true; } |
  rule "the README's program is docs/examples/quickstart.cpp" || true

exit $broken
