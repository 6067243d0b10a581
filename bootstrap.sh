#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# From a fresh machine to a running showcase or a finished test run, unattended. `bootstrap.sh --help` says how.
#
# Packages of the machine's own release are installed with apt-get. What the release has too old (CMake, Catch2, Eigen)
# comes through a private apt configuration from the machine's own mirror and is unpacked under .deps, so that suites do
# not mix. Kokkos is built there from the source package of Trilinos, which contains it.
set -euo pipefail

repository="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
deps="$repository/.deps"
prefix="$deps/prefix/usr"
python="$deps/python/bin/python"
build="$(realpath -m -- "${TESSERA_BUILD_DIR:-$repository/build/release}")"

# Name, minimum version, package of Debian and Ubuntu, remark. Libraries have the names by which CMake finds them.
tools=(
  "C++ compiler|12|g++|g++, or clang++ >= 15"
  "cmake|3.28|cmake|"
  "ninja|1.10|ninja-build|or make >= 4"
  "pkg-config|0.29|pkg-config|"
  "git|2.20|git|"
)
libraries=(
  "Eigen3|3.4|libeigen3-dev|5 is faster"
  "Catch2|3.4|catch2|"
  "nlohmann_json|3.11|nlohmann-json3-dev|"
  "CLI11|2.1|libcli11-dev|"
  "PNG|1.6|libpng-dev|"
)
declare -A backports=([cmake]="cmake cmake-data" [catch2]="libcatch2-dev")  # what to unpack for a package above
best_eigen=5 why_no_install=""
declare -A found=(["C++ compiler"]="")  # the version of each tool and library; empty: looked for in vain

usage() {
  cat <<'END'
usage: bootstrap.sh deps|build|run|test [--all] [CMAKE-OPTION...]

  deps        install the dependencies that are missing (Debian 12 and 13, Ubuntu 24.04; elsewhere: list them, exit 1)
  build       deps, then build the portable set (Release): every instruction set, the default devices
  run         build for this machine with examples, then run the showcase, which writes to build/showcase
  test        build for this machine with tests, Python and the perf suite, then test; samples come from a fresh seed
  test --all  build the portable set with all of that, then run all tests with all their cases

  This machine: its own instruction set, and CUDA for its devices. What is built in the same directory already stays.
  CMAKE-OPTION                 is given to the configure step and wins, for example -DTESSERA_CPU_VARIANTS=v3
  TESSERA_TEST_SEED            draws the sample of an earlier `test` again
  TESSERA_BUILD_DIR            build directory (default: build/release)
  TESSERA_BOOTSTRAP_OFFLINE=1  never use the network; list what is missing, exit 1
  CXX, CUDACXX                 the compilers to use (nvcc is looked for on PATH, in CUDA_HOME and in /usr/local/cuda)
END
}

say() { printf 'bootstrap: %s\n' "$*"; }
die() { say "error: $*" >&2; exit 1; }

# at_least HAVE WANT: compares version numbers; an empty HAVE is older than anything.
at_least() { [[ -n "$1" ]] && printf '%s\n%s\n' "$2" "$1" | sort -V -C; }

# quietly COMMAND...: keeps its output in .deps/last.log and shows the end of it when the command fails.
quietly() {
  mkdir -p "$deps"
  if ! "$@" >"$deps/last.log" 2>&1 </dev/null; then
    say "failed: $*" >&2
    tail -n 15 "$deps/last.log" >&2
    return 1
  fi
}

os_release() { sed -nE "s/^$1=\"?([^\"]*)\"?\$/\1/p" /etc/os-release 2>/dev/null || true; }
# --- What is there ---

version_of() { "$1" --version 2>/dev/null | sed -nE '1s/^[^0-9]*([0-9]+(\.[0-9]+)*).*/\1/p' || true; }

# Finds a compiler that is new enough and exports CXX where it is not the default one.
find_compiler() {
  local candidate version minimum candidates=("${CXX:-c++}")
  [[ -n "${CXX:-}" ]] || candidates+=(g++ clang++ g++-{15,14,13,12} clang++-{20,19,18,17,16,15})
  for candidate in "${candidates[@]}"; do
    version="$("$candidate" -dumpversion 2>/dev/null)" || continue
    minimum=12
    [[ "$("$candidate" --version)" != *clang* ]] || minimum=15
    at_least "$version" "$minimum" || continue
    found["C++ compiler"]="$version"
    [[ "$candidate" == c++ ]] || export CXX="$candidate"
    return
  done
}

find_nvcc() {
  local nvcc="" usual=/usr/local/cuda
  read -r nvcc < <(command -v "${CUDACXX:-nvcc}" "${CUDA_HOME:-$usual}/bin/nvcc" "$usual/bin/nvcc") || true
  say "nvcc: ${nvcc:-none found}"
  [[ -z "$nvcc" ]] || export CUDACXX="$nvcc"
}

check_tools() {
  local tool
  [[ ! -x "$prefix/bin/cmake" ]] || PATH="$prefix/bin:$PATH"
  find_compiler
  for tool in cmake ninja pkg-config git; do found["$tool"]="$(version_of "$tool")"; done
  export CMAKE_GENERATOR=Ninja  # for new build directories; an old one keeps its own
  [[ -n "${found[ninja]}" ]] || { found[ninja]="$(version_of make)" && CMAKE_GENERATOR="Unix Makefiles"; }
}

# Asks CMake, whose finds the build uses. Without CMake and a compiler nothing can be asked.
check_libraries() {
  local row name minimum version probe="$deps/probe"
  [[ -n "${found["C++ compiler"]}" ]] && at_least "${found[cmake]}" 3.28 || return 0
  rm -rf "$probe"
  mkdir -p "$probe"
  {
    printf '%s\n' "cmake_minimum_required(VERSION 3.28)" "project(probe LANGUAGES CXX)"
    for row in "${libraries[@]}" "Kokkos|||"; do
      IFS='|' read -r name minimum _ <<<"$row"
      [[ "$name" != Eigen3 ]] || minimum=""  # a search for version 3.4 refuses 5
      printf '%s\n' "find_package($name $minimum QUIET)" \
        "file(APPEND found \"$name \${${name}_VERSION} \${${name}_VERSION_STRING}\\n\")"
    done
  } >"$probe/CMakeLists.txt"
  quietly env -C "$probe" cmake . || die "CMake cannot use this C++ compiler"
  while read -r name version _; do found["$name"]="$version"; done <"$probe/found"
}

# missing ROW...: those rows whose tool or library is absent or too old.
missing() {
  local row name minimum
  for row in "$@"; do
    IFS='|' read -r name minimum _ <<<"$row"
    at_least "${found["$name"]:-}" "$minimum" || printf '%s\n' "$row"
  done
}

# Lists what is missing, if anything, and ends the script.
report_missing() {
  local rows row name minimum package remark have
  mapfile -t rows < <(missing "${tools[@]}" "${libraries[@]}")
  [[ ${#rows[@]} != 0 ]] || return 0
  say "${why_no_install:-Installing did not help.} Missing:" >&2
  for row in "${rows[@]}"; do
    IFS='|' read -r name minimum package remark <<<"$row"
    have="${found["$name"]-not looked for, as that takes CMake and a compiler}"
    printf '  %s >= %s%s; found: %s; package on Debian and Ubuntu: %s\n' \
      "$name" "$minimum" "${remark:+ ($remark)}" "${have:-none}" "$package" >&2
  done
  exit 1
}

# --- Getting what is not ---

if [[ "${TESSERA_BOOTSTRAP_OFFLINE:-0}" == 1 ]]; then
  why_no_install="TESSERA_BOOTSTRAP_OFFLINE=1: nothing is installed."
elif [[ ! "$(os_release ID) $(os_release VERSION_ID)" =~ ^("debian 12"|"debian 13"|"ubuntu 24.04")$ ]]; then
  why_no_install="Packages are installed on Debian 12 and 13 and Ubuntu 24.04, but this is '$(os_release PRETTY_NAME)'."
fi

may_become_root() { [[ "$(id -u)" == 0 ]] || command -v sudo >/dev/null; }
as_root() { if [[ "$(id -u)" == 0 ]]; then "$@"; else sudo "$@"; fi; }

refresh_package_lists() {
  [[ -z "${lists_are_fresh:-}" ]] && may_become_root || return 0
  say "apt-get update"
  quietly as_root apt-get update || say "going on with the package lists that there are"
  lists_are_fresh=yes
}

apt_install() {
  may_become_root || { why_no_install="Neither root nor sudo to install $*." && report_missing && exit 1; }
  say "apt-get install $*"
  quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
    -o DPkg::Lock::Timeout=300 "$@" || die "apt-get install failed"
}

# offered PACKAGE: the version that the machine's own release has.
offered() { LC_ALL=C apt-cache policy "$1" | sed -nE 's/^  Candidate: ([0-9]+:)?([0-9].*)/\2/p'; }
is_installed() { [[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]; }
private_apt() { quietly apt-get -c "$deps/apt/apt.conf" "$@"; }

# Points a private apt at the packages (deb) or the sources (deb-src) of SUITE on the mirror of the machine's own
# release. Signatures are checked as for the machine itself: with the Signed-By keyrings in the source's file, else with
# the keys that apt trusts.
set_up_private_apt() {
  local types="$1" suite="$2" mirror file keyrings
  [[ -n "$(offered libeigen3-dev)" ]] || refresh_package_lists  # apt names no mirrors before its first update
  # shellcheck disable=SC2016  # apt expands these
  IFS='|' read -r mirror file < <(apt-get indextargets --format '$(REPO_URI)|$(SOURCESENTRY)' "Created-By: Packages" \
    "Origin: Debian" "Codename: $(os_release VERSION_CODENAME)" "Component: main") || return 1
  keyrings="$(sed -nE 's/^Signed-By:\s*(\/.*)/\1/Ip; s/^deb .*signed-by=(\/[^] ]+).*/\1/p' "${file%:*}" | tr '\n' ' ')"
  mkdir -p "$deps"/apt/{sources,state/lists/partial,cache/archives/partial}
  printf '%s\n' "Types: $types" "URIs: $mirror" "Suites: $suite" "Components: main" "Targets: Packages Sources" \
    "Languages: none" \
    ${keyrings:+"Signed-By: $keyrings"} >"$deps/apt/sources/private.sources"
  cat >"$deps/apt/apt.conf" <<END
Dir::State "$deps/apt/state/";
Dir::Cache "$deps/apt/cache/";
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$deps/apt/sources/";
APT::Sandbox::User "root";  // apt's own user may be unable to enter this directory
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
END
  private_apt update
}

# unpack_from SUITE PACKAGE...: unpacks packages, which apt has checked, over a copy of the prefix and swaps the two, so
# that an interrupted run leaves no half. The shared libraries they need come from the machine's own release.
unpack_from() {
  local suite="$1" deb names name needs=() staged="$deps/prefix.new"
  shift
  say "unpacking under .deps, from $suite: $*"
  rm -rf "$staged" "$deps/apt" "$deps/download"
  mkdir -p "$deps/prefix" "$deps/download"
  set_up_private_apt deb "$suite" || return 1
  (cd "$deps/download" && private_apt download "${@/%//$suite}") || return 1  # package/suite
  cp -a "$deps/prefix" "$staged" || return 1
  for deb in "$deps"/download/*.deb; do
    quietly dpkg-deb -x "$deb" "$staged" || return 1
    mapfile -t names < <(dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed -nE 's/^ *([^ (|]+).*/\1/p')
    for name in "${names[@]}"; do
      [[ " $* " == *" $name "* ]] || is_installed "$name" || needs+=("$name")
    done
  done
  [[ ${#needs[@]} == 0 ]] || apt_install "${needs[@]}"
  rm -rf "$deps/prefix" "$deps/apt" "$deps/download" && mv "$staged" "$deps/prefix"
}

# install_missing ROW...: from the machine's own release where that is new enough, else from its backports.
install_missing() {
  local rows row minimum package packages ordinary=() newer=()
  mapfile -t rows < <(missing "$@")
  [[ ${#rows[@]} != 0 && -z "$why_no_install" ]] || return 0
  refresh_package_lists
  for row in "${rows[@]}"; do
    IFS='|' read -r _ minimum package _ <<<"$row"
    if at_least "$(offered "$package")" "$minimum"; then
      ordinary+=("$package")
    else
      [[ -n "${backports["$package"]:-}" ]] || die "the package sources of this machine have no $package >= $minimum"
      read -ra packages <<<"${backports["$package"]}"
      newer+=("${packages[@]}")
    fi
  done
  [[ ${#ordinary[@]} == 0 ]] || apt_install "${ordinary[@]}"
  [[ ${#newer[@]} == 0 ]] || unpack_from "$(os_release VERSION_CODENAME)-backports" "${newer[@]}" ||
    die "this machine's mirror did not provide: ${newer[*]}"
}

# Eigen is headers for any architecture, so that sid's package serves every release. A vain attempt is noted in .deps.
prefer_new_eigen() {
  local tried="$deps/no-eigen-$best_eigen"
  [[ "$(os_release ID)" == debian && -z "$why_no_install" && ! -e "$tried" ]] || return 0
  at_least "${found[Eigen3]:-}" "$best_eigen" && return
  unpack_from sid libeigen3-dev && check_libraries
  at_least "${found[Eigen3]:-}" "$best_eigen" || touch "$tried"
}

# Kokkos with OpenMP as a static library, so that the plugin that uses it has it for itself.
build_kokkos() {
  local source="$deps/kokkos" suite
  suite="$(os_release VERSION_CODENAME)"
  say "building Kokkos under .deps, from the source package trilinos of $suite"
  rm -rf "$deps/apt" "$source"
  mkdir -p "$source"
  set_up_private_apt deb-src "$suite" || return 1
  (cd "$source" && private_apt source --download-only trilinos) || return 1
  quietly tar -x -C "$source" --strip-components=3 --wildcards -f "$source"/trilinos_*.orig.tar.* \
    '*/packages/kokkos/*' || return 1
  quietly cmake -S "$source" -B "$source/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" \
    -DCMAKE_CXX_STANDARD=20 -DKokkos_CXX_STANDARD=20 -DKokkos_ENABLE_OPENMP=ON -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_PREFIX="$prefix" || return 1
  quietly cmake --build "$source/build" --parallel "$(nproc)" --target install || return 1
  rm -rf "$deps/apt" "$source"
}

# The Kokkos backend is one of several, so that the rest goes on without. A vain attempt is noted in .deps.
prefer_kokkos() {
  local tried="$deps/no-kokkos"
  [[ -z "${found[Kokkos]:-}" && -z "$why_no_install" && ! -e "$tried" ]] || return 0
  build_kokkos && check_libraries
  [[ -n "${found[Kokkos]:-}" ]] || touch "$tried"
}

# prefer PROGRAM PACKAGE...: what some tests need, which are skipped without it.
prefer() {
  [[ -z "$why_no_install" ]] && ! command -v "$1" >/dev/null || return 0
  [[ -n "$(offered "$2")" ]] || refresh_package_lists
  [[ -z "$(offered "$2")" ]] || (apt_install "${@:2}") || true
}

# The Python package and its tests, with what pip has, in an environment under .deps. A vain attempt is noted there.
prefer_python() {
  local modules=(nanobind numpy scipy pytest ml_dtypes hypothesis array-api-strict pillow matplotlib)
  [[ ! -x "$deps/python/bin/hypothesis" && -z "$why_no_install" && ! -e "$deps/no-python" ]] || return 0
  say "installing with pip under .deps: ${modules[*]}"
  (apt_install python3-venv python3-dev) && python3 -m venv "$deps/python" &&
    quietly "$python" -m pip install --disable-pip-version-check "${modules[@]}" && return
  touch "$deps/no-python" && say "pip's packages were not to be had: no Python package, or an older environment's"
  [[ -x "$deps/python/bin/pytest" ]] || rm -rf "$deps/python"
}

ensure_dependencies() {
  local row summary=""
  check_tools
  install_missing "${tools[@]}"
  check_tools
  check_libraries
  prefer_new_eigen
  install_missing "${libraries[@]}"
  check_libraries
  report_missing
  prefer_kokkos
  for row in "${tools[@]}" "${libraries[@]}"; do summary+="${row%%|*} ${found["${row%%|*}"]} | "; done
  say "found $summary""Kokkos ${found[Kokkos]:-was not to be had, so there is no kokkos backend}"
  at_least "${found[Eigen3]}" "$best_eigen" ||
    say "Eigen $best_eigen was not to be had, so the cpu backend's GEMM uses Eigen ${found[Eigen3]}, which is slower"
}

# --- What to do with it ---

# Compute capabilities of this machine's devices, "90" a line.
own_capabilities() {
  { nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null || true; } |
    sed -nE 's/^([0-9]+)\.([0-9])$/\1\2/p' | sort -u
}

# cached NAME: what the cache of the build directory says.
cached() { sed -nE "s/^$1:[A-Z]+=(.*)/\1/p" "$build/CMakeCache.txt" 2>/dev/null || true; }

# What is built goes into `scope`: everything (build, all), or what this machine can use (run, test). What the directory
# is already built for stays, so that no command takes a plugin of another away.
choose_scope() {
  local kind have capability list=""
  [[ "$1" == run || "$1" == test ]] ||
    { scope+=(-UTESSERA_{CPU,KOKKOS}_VARIANTS -UTESSERA_BACKEND_CUDA -UCMAKE_CUDA_ARCHITECTURES) && return; }
  for kind in CPU KOKKOS; do
    have="$(cached "TESSERA_${kind}_VARIANTS")"
    [[ "$(uname -m)" != x86_64 || "$have" == *native* || "$have" == *v2*v3*v4* ]] ||
      scope+=("-DTESSERA_${kind}_VARIANTS=${have:+$have;}native")
  done
  [[ -z "$(cached CMAKE_CUDA_COMPILER)" || "$(cached TESSERA_BACKEND_CUDA)" == OFF ]] || return 0
  [[ -n "${CUDACXX:-}" && -n "$(own_capabilities)" ]] || { scope+=(-DTESSERA_BACKEND_CUDA=OFF) && return; }
  scope+=(-UTESSERA_BACKEND_CUDA)
  for capability in $(own_capabilities); do  # the default list serves devices that nvcc does not know
    "$CUDACXX" --list-gpu-code 2>/dev/null | grep -qx "sm_$capability" && ((capability >= 80)) || return 0
    list+="${list:+;}$capability-real"
  done
  [[ -n "${CUDAARCHS:-}" ]] || scope+=("-DCMAKE_CUDA_ARCHITECTURES=$list")
}

configure_and_build() {
  cmake -S "$repository" -B "$build" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_PREFIX_PATH=$prefix" "${scope[@]}" "$@"
  say "building with $(nproc) jobs; [finished/total elapsed]"
  NINJA_STATUS="${NINJA_STATUS:-[%f/%t %es] }" cmake --build "$build" --parallel "$(nproc)"
}

run_tests() {
  export TESSERA_TEST_SEED="${TESSERA_TEST_SEED:-$((RANDOM * 32768 + RANDOM))}"
  say "testing, with TESSERA_TEST_SEED=$TESSERA_TEST_SEED"
  ctest --test-dir "$build" --output-on-failure --no-tests=error -j"$(nproc)" --output-junit tests.xml ||
    die "tests failed; TESSERA_TEST_SEED=$TESSERA_TEST_SEED repeats this run"
}

main() {
  local command="${1:---help}" scope=()
  case "$command" in
    deps | build | run | test) shift ;;&
    test) [[ "${1:-}" != --all ]] || { command=all && shift; } ;;
    deps | build | run) ;;
    -h | --help | help) usage && return ;;
    *) usage >&2 && die "unknown command: $command" ;;
  esac
  # For the probe and for CMake runs that tests start.
  export CMAKE_PREFIX_PATH="$prefix${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}"
  ensure_dependencies
  [[ "$command" != deps ]] || return 0
  find_nvcc
  [[ "$command" == all ]] && scope=(-DCMAKE_UNITY_BUILD=OFF) || scope=(-DCMAKE_UNITY_BUILD=ON)
  choose_scope "$command"
  case "$command" in
    test | all)
      prefer clang-format-14 clang-format-14  # the test of the sources' layout asks this version alone
      prefer mpicxx libopenmpi-dev openmpi-bin
      prefer_python
      [[ ! -x "$python" ]] ||
        scope+=(-DTESSERA_BUILD_PYTHON=ON "-DPython_EXECUTABLE=$python" "-DPython3_EXECUTABLE=$python")
      scope+=(-DTESSERA_BUILD_TESTS=ON -DTESSERA_BUILD_PERF=ON) ;;&
    run | test | all) scope+=(-DTESSERA_BUILD_EXAMPLES=ON) ;;
  esac
  configure_and_build "$@"
  [[ "$command" != all ]] || export TESSERA_TEST_ALL=1
  [[ "$command" != test && "$command" != all ]] || run_tests
  [[ "$command" == run ]] || return 0
  "$build/bin/tessera-showcase" --output "$repository/build/showcase"
  say "built for this machine; './bootstrap.sh build' makes the set for every machine"
}

main "$@"
