#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# format.sh REPOSITORY: clang-format has nothing to change. Each of its versions lays out otherwise, so that only the
# one named below is asked: CLANG_FORMAT, clang-format-14 or clang-format. Skipped, with the reason, where there is
# none.
set -euo pipefail
cd "$1"

pinned=14
skipped=4

formatter=""
for candidate in "${CLANG_FORMAT:-}" "clang-format-$pinned" clang-format; do
  [[ -n "$candidate" ]] || continue
  version="$("$candidate" --version 2>/dev/null)" || continue
  [[ "$version" =~ version\ $pinned\. ]] && formatter="$candidate" && break
done
if [[ -z "$formatter" ]]; then
  printf 'Skipped: there is no clang-format %s (a package of that name, or pip install clang-format==%s.*)\n' \
    "$pinned" "$pinned"
  exit $skipped
fi

mapfile -t files < <(find include lib backends packaging perf test docs -type f \
  \( -name '*.c' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' -o -name '*.h' -o -name '*.hpp' -o -name '*.ipp' \))
[[ ${#files[@]} -gt 100 ]] || { echo "FAILED: the sources were not found" >&2; exit 1; }
if "$formatter" --dry-run -Werror --assume-filename=lib/a.cpp <<<'int  a ;' 2>/dev/null; then
  echo "FAILED: $formatter accepts anything" >&2
  exit 1
fi
"$formatter" --dry-run -Werror "${files[@]}" || { echo "FAILED: run $formatter -i on these files" >&2; exit 1; }
printf '%d files are as %s lays them out\n' "${#files[@]}" "$formatter"
