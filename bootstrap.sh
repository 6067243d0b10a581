#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# usage: bootstrap.sh deps|build|run|test [--all] [CMAKE-OPTION...]
#
#   deps        install the dependencies that are missing (Debian 12 and 13, Ubuntu 24.04; elsewhere: list them, exit 1)
#   build       deps, then build the portable set (Release): every instruction set, the default devices
#   run         build for this machine with examples, then run the showcase, which writes to build/showcase
#   test        build for this machine with tests, Python and the perf suite, then test; samples come from a fresh seed
#   test --all  build the portable set with all of that, then run all tests with all their cases
#
#   This machine: its own instruction set, and CUDA for its devices. What is built in the same directory already stays.
#   CMAKE-OPTION                 is given to the configure step and wins, for example -DTESSERA_CPU_VARIANTS=v3
#   TESSERA_TEST_SEED            draws the sample of an earlier `test` again
#   TESSERA_BUILD_DIR            build directory (default: build/release)
#   TESSERA_BOOTSTRAP_OFFLINE=1  never use the network; list what is missing, exit 1
#   CXX, CUDACXX                 the compilers to use (nvcc is looked for in CUDA_HOME, on PATH and in /usr/local/cuda)

# Packages of the machine's own release are installed with apt-get. What the release has too old (CMake, Catch2, Eigen)
# comes through a private apt configuration from the machine's own mirror and is unpacked under .deps, so that suites do
# not mix. Kokkos is built there from the source package of Trilinos, which contains it.
set -euo pipefail

repository="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
deps="$repository/.deps"
prefix="$deps/prefix/usr"
build="$(realpath -m -- "${TESSERA_BUILD_DIR:-$repository/build/release}")"

# Rows, whose columns the head of the file tells.
mapfile -t dependencies < <(grep -v '^#' "$repository/packaging/bootstrap/dependencies.txt")
declare -A found=(["C++ compiler"]="")  # the version of each; empty: looked for in vain
missing=() best_eigen=5 why_no_install=""

usage() { sed -nE '/^# usage/,/^$/ s/^# ?//p' "${BASH_SOURCE[0]}"; }
say() { printf 'bootstrap: %s\n' "$*"; }
die() { say "error: $*" >&2; exit 1; }

# at_least HAVE WANT: compares version numbers; an empty HAVE is older than anything.
at_least() { [[ -n "$1" ]] && printf '%s\n%s\n' "$2" "$1" | sort -V -C; }

# quietly COMMAND...: keeps its output in .deps/last.log and shows the end of it when the command fails.
quietly() {
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

# Asks CMake, whose finds the build uses. Without CMake and a compiler nothing can be asked.
find_libraries() {
  local name version
  [[ -n "${found["C++ compiler"]}" ]] && at_least "${found[cmake]}" 3.28 || return 0
  quietly cmake --fresh -S "$repository/packaging/bootstrap" -B "$scratch/probe" ||
    die "CMake cannot use this C++ compiler"
  while read -r name version _; do found["$name"]="$version"; done <"$scratch/probe/found"
}

# Fills `found`, `missing` and `summary`.
look() {
  local tool row name minimum
  find_compiler
  for tool in cmake ninja pkg-config git; do found["$tool"]="$(version_of "$tool")"; done
  export CMAKE_GENERATOR=Ninja  # for new build directories; an old one keeps its own
  [[ -n "${found[ninja]}" ]] || { found[ninja]="$(version_of make)" && CMAKE_GENERATOR="Unix Makefiles"; }
  find_libraries
  missing=() summary=""
  for row in "${dependencies[@]}"; do
    IFS='|' read -r _ name minimum _ <<<"$row"
    at_least "${found["$name"]:-}" "$minimum" || missing+=("$row")
    summary+="$name ${found["$name"]:-} | "
  done
}

# Lists what is missing and ends the script.
report_missing() {
  local row name minimum package remark have
  say "${why_no_install:-Installing did not help.}${missing[*]:+ Missing:}" >&2
  for row in "${missing[@]}"; do
    IFS='|' read -r _ name minimum package _ remark <<<"$row"
    have="${found["$name"]-not looked for, as that takes CMake and a compiler}"
    printf '  %s >= %s%s; found: %s; package on Debian and Ubuntu: %s\n' \
      "$name" "$minimum" "${remark:+ ($remark)}" "${have:-none}" "$package" >&2
  done
  exit 1
}

# --- Getting what is not ---

distribution="$(os_release ID)" release="$(os_release VERSION_CODENAME)" as_root=sudo
[[ "$(id -u)" != 0 ]] || as_root="env"
if [[ "${TESSERA_BOOTSTRAP_OFFLINE:-0}" == 1 ]]; then
  why_no_install="TESSERA_BOOTSTRAP_OFFLINE=1: nothing is installed."
elif [[ ! "$distribution $(os_release VERSION_ID)" =~ ^("debian 12"|"debian 13"|"ubuntu 24.04")$ ]]; then
  why_no_install="Packages are installed on Debian 12 and 13 and Ubuntu 24.04, but this is '$(os_release PRETTY_NAME)'."
fi

refresh_package_lists() {
  [[ -z "${lists_are_fresh:-}" ]] && command -v "$as_root" >/dev/null || return 0
  say "apt-get update"
  quietly "$as_root" apt-get update || say "going on with the package lists that there are"
  lists_are_fresh=yes
}

apt_install() {
  command -v "$as_root" >/dev/null || { why_no_install="Neither root nor sudo to install $*." && report_missing; }
  say "apt-get install $*"
  quietly "$as_root" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
    -o DPkg::Lock::Timeout=300 "$@" || die "apt-get install failed"
}

# offered PACKAGE: the version that the machine's own release has.
offered() { LC_ALL=C apt-cache policy "$1" | sed -nE 's/^  Candidate: ([0-9]+:)?([0-9].*)/\2/p'; }
is_installed() { [[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]; }
private_apt() { quietly apt-get -c "$scratch/apt.conf" "$@"; }

# A private apt has the packages (deb) or the sources (deb-src) of SUITE on the mirror of the machine's own release.
# Signatures are checked as for the machine itself: with the Signed-By keyrings in the source's file, else with the keys
# that apt trusts.
set_up_private_apt() {
  local types="$1" suite="$2" mirror file keys
  # shellcheck disable=SC2016  # apt expands these
  IFS='|' read -r mirror file < <(apt-get indextargets --format '$(REPO_URI)|$(SOURCESENTRY)' "Created-By: Packages" \
    "Origin: Debian" "Codename: $release" "Component: main") || return 1
  keys="$(sed -nE 's/^Signed-By:\s*(\/.*)/\1/Ip; s/^deb .*signed-by=(\/[^] ]+).*/\1/p' "${file%:*}" | tr ' \n' ,)"
  mkdir -p "$scratch"/{state/lists/partial,cache/archives/partial}
  echo "$types [target=Packages,Sources lang=none ${keys:+signed-by=${keys%,}}] $mirror $suite main" >"$scratch/list"
  cat >"$scratch/apt.conf" <<END
Dir::State "$scratch/state/";
Dir::Cache "$scratch/cache/";
Dir::Etc::sourcelist "$scratch/list";
Dir::Etc::sourceparts "/dev/null";
APT::Sandbox::User "root";  // apt's own user may be unable to enter this directory
#clear APT::Update;
END
  private_apt update
}

# unpack_from SUITE PACKAGE...: unpacks packages, which apt has checked, over a copy of the prefix and swaps the two, so
# that an interrupted run leaves no half. The shared libraries they need come from the machine's own release.
unpack_from() {
  local suite="$1" deb name needs=() debs="$scratch/debs"
  shift
  say "unpacking under .deps, from $suite: $*"
  rm -rf "$debs"
  mkdir -p "$debs" "$deps/prefix"
  set_up_private_apt deb "$suite" && (cd "$debs" && private_apt download "${@/%//$suite}") &&  # package/suite
    cp -a "$deps/prefix" "$debs" || return 1
  for deb in "$debs"/*.deb; do
    quietly dpkg-deb -x "$deb" "$debs/prefix" || return 1
    for name in $(dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed -nE 's/^ *([^ (|]+).*/\1/p'); do
      [[ " $* " == *" $name "* ]] || is_installed "$name" || needs+=("$name")
    done
  done
  [[ ${#needs[@]} == 0 ]] || apt_install "${needs[@]}"
  rm -rf "$deps/prefix" && mv "$debs/prefix" "$deps/prefix"
}

# What is missing and was looked for: from the machine's own release where that is new enough, else from its backports.
install_missing() {
  local row name minimum package backports ordinary=() newer=()
  [[ ${#missing[@]} != 0 && -z "$why_no_install" ]] || return 0
  refresh_package_lists
  for row in "${missing[@]}"; do
    IFS='|' read -r _ name minimum package backports _ <<<"$row"
    [[ -n "${found["$name"]+looked for}" ]] || continue
    if at_least "$(offered "$package")" "$minimum"; then
      ordinary+=("$package")
    else
      [[ -n "$backports" ]] || die "the package sources of this machine have no $package >= $minimum"
      read -ra backports <<<"$backports"
      newer+=("${backports[@]}")
    fi
  done
  [[ ${#ordinary[@]} == 0 ]] || apt_install "${ordinary[@]}"
  [[ ${#newer[@]} == 0 ]] || unpack_from "$release-backports" "${newer[@]}" ||
    die "this machine's mirror did not provide: ${newer[*]}"
  look
}

# attempt NAME COMMAND...: gets what the rest goes on without. An attempt in vain is noted in .deps.
attempt() {
  [[ -z "$why_no_install" && ! -e "$deps/no-$1" ]] || return 0
  refresh_package_lists
  if ("${@:2}"); then look; else touch "$deps/no-$1"; fi
}

# Kokkos with OpenMP as a static library, so that the plugin that uses it has it for itself.
get_kokkos() {
  local source="$scratch/kokkos"
  say "building Kokkos under .deps, from the source package trilinos of $release"
  mkdir -p "$source"
  set_up_private_apt deb-src "$release" && (cd "$source" && private_apt source --download-only trilinos) &&
    quietly tar -x -C "$source" --strip-components=3 --wildcards -f "$source"/trilinos_*.orig.tar.* \
      '*/packages/kokkos/*' &&
    quietly cmake -S "$source" -B "$source/build" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG" \
      -DCMAKE_CXX_STANDARD=20 -DKokkos_CXX_STANDARD=20 -DKokkos_ENABLE_OPENMP=ON -DBUILD_SHARED_LIBS=OFF \
      -DCMAKE_POSITION_INDEPENDENT_CODE=ON "-DCMAKE_INSTALL_PREFIX=$prefix" &&
    quietly cmake --build "$source/build" --parallel "$(nproc)" --target install && look && [[ -n "${found[Kokkos]}" ]]
}

# The Python package and its tests, with what pip has, in an environment under .deps.
get_python() {
  local modules=(nanobind numpy scipy pytest ml_dtypes hypothesis array-api-strict pillow matplotlib)
  say "installing with pip under .deps: ${modules[*]}"
  (apt_install python3-venv python3-dev) && python3 -m venv "$deps/python" &&
    quietly "$deps/python/bin/pip" install --disable-pip-version-check "${modules[@]}" && return
  say "pip's packages were not to be had: no Python package, or an older environment's"
  return 1
}

# get_offered PACKAGE...: for what some tests need, which are skipped without it.
get_offered() { [[ -n "$(offered "$1")" ]] && apt_install "$@"; }

ensure_dependencies() {
  look
  # Eigen is headers for any architecture, so that sid's package serves every release.
  [[ "$distribution" != debian ]] || at_least "${found[Eigen3]:-}" "$best_eigen" ||
    attempt "eigen-$best_eigen" unpack_from sid libeigen3-dev
  install_missing  # the tools, without which
  install_missing  # the libraries are not found
  [[ ${#missing[@]} == 0 ]] || report_missing
  [[ "$distribution" != debian || -n "${found[Kokkos]}" ]] || attempt kokkos get_kokkos
  say "found $summary""Kokkos ${found[Kokkos]:-was not to be had, so there is no kokkos backend}"
  at_least "${found[Eigen3]}" "$best_eigen" ||
    say "Eigen $best_eigen was not to be had, so the cpu backend's GEMM uses Eigen ${found[Eigen3]}, which is slower"
}

# --- What to do with it ---

run_tests() {
  export TESSERA_TEST_SEED="${TESSERA_TEST_SEED:-$((RANDOM * 32768 + RANDOM))}"
  say "testing, with TESSERA_TEST_SEED=$TESSERA_TEST_SEED"
  ctest --test-dir "$build" --output-on-failure --no-tests=error -j"$(nproc)" --output-junit tests.xml ||
    die "tests failed; TESSERA_TEST_SEED=$TESSERA_TEST_SEED repeats this run"
}

main() {
  local command="${1:---help}" options=("-DCMAKE_PREFIX_PATH=$prefix" -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON)
  case "$command" in
    deps | build | run | test) shift ;;
    -h | --help | help) usage && return ;;
    *) usage >&2 && die "unknown command: $command" ;;
  esac
  [[ "$command ${1:-}" != "test --all" ]] || { command=all && shift; }
  mkdir -p "$deps"
  scratch="$(mktemp -d "$deps/scratch.XXXXXX")"
  trap 'rm -rf "$scratch"' EXIT
  # For the probe and for CMake runs that tests start.
  export PATH="$prefix/bin:$PATH" CMAKE_PREFIX_PATH="$prefix${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}"
  ensure_dependencies
  case "$command" in
    deps) return ;;
    run | test) options+=(-C "$repository/lib/cmake/TesseraThisMachine.cmake") ;;&
    build | all) options+=(-UTESSERA_{CPU,KOKKOS}_VARIANTS -UTESSERA_BACKEND_CUDA -UCMAKE_CUDA_ARCHITECTURES) ;;&
    test | all)
      command -v clang-format-14 >/dev/null || attempt clang-format-14 get_offered clang-format-14  # this version alone
      command -v mpicxx >/dev/null || attempt mpi get_offered libopenmpi-dev openmpi-bin
      [[ -x "$deps/python/bin/hypothesis" ]] || attempt python get_python
      [[ ! -x "$deps/python/bin/pytest" ]] ||
        options+=(-DTESSERA_BUILD_PYTHON=ON "-DPython"{,3}"_EXECUTABLE=$deps/python/bin/python")
      options+=(-DTESSERA_BUILD_TESTS=ON -DTESSERA_BUILD_PERF=ON) ;;&
    run | test | all) options+=(-DTESSERA_BUILD_EXAMPLES=ON) ;;&
    all) options+=(-DCMAKE_UNITY_BUILD=OFF) && export TESSERA_TEST_ALL=1 ;;
  esac
  cmake -S "$repository" -B "$build" "${options[@]}" "$@"
  say "building with $(nproc) jobs; [finished/total elapsed]"
  NINJA_STATUS="${NINJA_STATUS:-[%f/%t %es] }" cmake --build "$build" --parallel "$(nproc)"
  case "$command" in
    test | all) run_tests ;;
    run)
      "$build/bin/tessera-showcase" --output "$repository/build/showcase"
      say "built for this machine; './bootstrap.sh build' makes the set for every machine" ;;
  esac
}

main "$@"
