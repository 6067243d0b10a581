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
  grep -rnE --include='*.hpp' --include='*.cpp' --include='*.h' --include='*.c' --include='*.cu' --include='*.cuh' \
    --include='*.ipp' -- "$pattern" "$@" | grep -vE '^[^:]*:[0-9]+: *(//|\*|/\*)' || true
}
core() {
  find lib \( -path lib/cli -o -path lib/blas -o -path lib/distributed -o -path lib/python \) -prune \
    -o \( -name '*.cpp' -o -name '*.hpp' \) -print
}

mapfile -t core_files < <(core)
[[ ${#core_files[@]} -gt 10 ]] || { echo "FAILED: the core was not found" >&2; exit 1; }

find_lines '^ *# *include' include |
  grep -vE '# *include <(tessera/[a-z0-9_/]+\.(h|hpp)|[a-z_]+|stdint\.h|stddef\.h)>' |
  grep -v '^include/tessera/mpi\.hpp:[0-9]*:#include <mpi\.h>$' |
  rule "a public header includes Tessera's headers and those of the standard library alone, mpi.hpp that of MPI" || true
find_lines '^ *# *include.*\<mpi\.h\>' lib backends |
  rule "MPI is known by tessera/mpi.hpp alone, which programs compile" || true
find_lines '^ *# *include *[<"]tessera/' backends | grep -vE '<tessera/plugin/[a-z_]+\.(h|hpp)>' |
  rule "a backend includes tessera/plugin/ alone" || true
find_lines '^ *# *include *"(api|dispatch|plan|problem)/' test perf | grep -vE '^(test/(unit|fuzz|plugins)|perf/fit)/' |
  rule "tests and the perf suite use the public API, but for test/{unit,fuzz,plugins} and perf/fit" || true
# From backends/<name>/<operation>/<room>/ two steps up lead to the backend's own folder.
find_lines '^ *# *include.*(\.\./\.\./|[<"/]lib/)' backends lib/*.hpp lib/{api,dispatch,distributed,plan,problem} \
  lib/wisdom |
  grep -vE '^backends/[a-z]+/[a-z]+/[a-z0-9_]+/[^/:]+:[0-9]+: *# *include "\.\./\.\./[a-z_]+\.' |
  rule "no include path leaves a part of the repository" || true
{ find_lines '^ *# *include *"(api|plan|problem)/' lib/dispatch
  find_lines '^ *# *include *"(api|plan|dispatch)/' lib/problem
  find_lines '^ *# *include *"(api|plan|dispatch|problem)/' lib/wisdom
  find_lines '^ *# *include *"api/' lib/plan
  find_lines '^ *# *include *"(api|plan|problem|dispatch|wisdom)/' lib/cli lib/blas lib/python
  find_lines '^ *# *include *"(api|plan|problem|dispatch|wisdom)/' lib/distributed |
    grep -v '"api/arguments\.hpp"'; } |
  rule "api knows plan, wisdom, dispatch, plan the last two and problem, these nobody; the others are users, of which
lib/distributed checks arguments as api does" || true
find_lines '^ *# *include *[<"](Eigen|Kokkos|cuda|cublas|omp|hip|sycl)' "${core_files[@]}" |
  rule "the core includes no backend's libraries" || true
find_lines '"(cpu|cuda|kokkos|eigen|openmp|hip|sycl)\b' "${core_files[@]}" | grep -v '# *include' |
  rule "the core names no backend" || true
prints='printf|fprintf|puts|fputs|putchar|perror'
ends='abort|exit|_exit|_Exit|quick_exit|terminate|assert'
find_lines "\b($prints|$ends) *\(|std::(cout|cerr|clog)\b" "${core_files[@]}" lib/distributed |
  grep -v '^lib/plan/verbose\.cpp:' |
  rule "the core prints in verbose.cpp alone and never ends the process; lib/distributed neither" || true
find_lines '\bgetenv *\(|\bsecure_getenv *\(|\benviron\b' lib include backends |
  grep -vE '^lib/dispatch/environment\.cpp:|^backends/cpu/openmp_threads\.cpp:.*"(OMP|GOMP)_STACKSIZE"' |
  grep -v '^backends/cpu/machine\.cpp:.*"OMP_NUM_THREADS"' |
  grep -v '^lib/blas/forward\.cpp:.*"TESSERA_VERBOSE"' |
  rule "the environment is read in environment.cpp alone, but for OpenMP's and where BLAS goes to the next one" || true
find_lines '\b(sigaction|signal|sigprocmask|pthread_sigmask) *\(' "${core_files[@]}" lib/blas lib/distributed \
  backends include |
  rule "the library installs no signal handler" || true
find_lines '^ *# *pragma omp parallel' backends |
  grep -vE '^backends/(cpu/openmp_threads|kokkos/team_in_default_mode)\.cpp:' |
  rule "run_steps() and the threads behind it are the one place that opens a parallel region, but for modes of Kokkos's
threads" || true
find_lines '\bKokkos::parallel_(for|reduce|scan)\b' backends |
  grep -vE '^backends/kokkos/(launch\.hpp|runtime\.cpp):' |
  rule "kernels of Kokkos go through Launcher, which has them computed in the default floating-point mode" || true
find_lines '\bplugin::guard\b' lib | grep -vE '^lib/(api/arguments|distributed/group/(agreement|threads))\.[a-z]+:' |
  rule "a C function's body is in api::guard(), in the default floating-point mode" || true
find_lines '\bcudaDeviceSynchronize\b|\bKokkos::fence\b|\bcudaDeviceReset\b' backends |
  rule "a backend waits for its streams, never for the whole device" || true
find . \( -path ./build -o -path ./.deps \) -prune -o \
  \( -name CMakeLists.txt -o -name '*.cmake' -o -name CMakePresets.json \) -print0 |
  xargs -0 grep -nE '^[^#]*(-ffast-math|-Ofast([^-]|$)|-funsafe-math|use_fast_math)' |
  rule "nothing is compiled with fast-math" || true

# Element types. What is of one type may know it: its traits, its instantiations (*_f32*), the cores of products, whose
# instructions are of a type, load_if and streaming_access, which are inline PTX, and what converts 16 bits to f32 and
# back.
number='(DType::f[0-9]+|TESSERA_F[0-9]+)\b'
{ find_lines "[!=]= *(tessera::)?$number|\? *(tessera::)?$number|\bbool f(32|64)\b" backends include lib perf test
  find_lines 'is_same(_v)?<[^>]*\b(float|double)\b' backends lib perf test; } |
  rule "a choice by element type is made by with_types() and the traits of tessera/dtype.hpp alone" || true
find_lines "\b$number" backends | rule "a backend names no element type by its number" || true
find_lines '\bfloat\b' backends | grep -vE '^[^:]*_f32[a-z_]*\.(cpp|cu|cuh):' |
  grep -vE ':(struct [A-Za-z0-9]+<float\b|inline constexpr [^=]*<float>|  using T = float;|.* load_if\()' |
  grep -vE ':using [A-Za-z]+ = TypeList<float,|^backends/cuda/gemm/warpgroup/warpgroup_tf32\.cu:' |
  grep -vE '^backends/cuda/gemm/costs\.hpp:[0-9]+:  GemmTypeRates<float> f32\{' |
  grep -vE '^backends/cuda/context\.cpp:[0-9]+:  float milliseconds = 0\.0f;' |
  grep -vE '^backends/cpu/(convert\.hpp|gemm/(finish\.cpp|activation\.hpp)):' |
  grep -vE '^backends/cuda/(convert|gemm/multistage/(half|tf32)_core)\.cuh:' |
  grep -vE '^backends/cuda/(gemm/warpgroup/warpgroup_product|system/streaming_access)\.cuh:' |
  rule "in a backend a type's traits, instantiations and instructions alone know it" || true
find_lines '\bdlopen *\(|\bdlclose *\(' lib backends include | grep -v '^lib/dispatch/loader\.cpp:.*dlopen' |
  grep -v '^lib/blas/forward\.cpp:.*RTLD_NOLOAD' | grep -v '^lib/distributed/transport/driver\.cpp:.*dlopen' |
  rule "libraries are opened in loader.cpp alone, CUDA and NCCL in driver.cpp, and never closed" || true
find backends -name '*.[ch]*' -type f -exec awk '
  /catch \(\.\.\.\)/ { at = FNR; line = $0 } at && /throw;|current_exception\(\)/ { at = 0 }
  at && FNR == at + 4 { print FILENAME ":" at ": " line; at = 0 }' {} + |
  rule "a backend swallows no exception: only guard() has a catch (...) that neither throws again nor keeps it" || true
grep -rL 'SPDX-License-Identifier: Apache-2.0' --include='*.hpp' --include='*.cpp' --include='*.h' --include='*.c' \
  --include='*.cu' --include='*.cuh' --include='*.cmake' --include='*.py' --include='CMakeLists.txt' \
  include lib backends packaging test |
  rule "every source file names its licence" || true

# diff's status is 1 where there is something to print.
{ diff <(awk '/^```cpp$/ { on = 1; next } /^```$/ && on { exit } on' README.md) \
  <(tail -n +4 docs/examples/quickstart.cpp) || true; } |
  rule "the README's program is docs/examples/quickstart.cpp" || true

exit $broken
