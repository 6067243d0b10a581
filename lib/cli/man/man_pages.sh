#!/bin/sh
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# man_pages.sh PROGRAM AWK VERSION FOLDER SUBCOMMAND...: writes FOLDER/<program>.1 and FOLDER/<program>-<subcommand>.1
# from what the program's --help prints. A subcommand may be two words, "tune gemm".
set -eu
program="$1" awk="$2" version="$3" folder="$4"
shift 4
script="$(dirname -- "$0")/man_page.awk"
base="$(basename -- "$program")"
mkdir -p "$folder"

# page NAME SEE_ALSO ARGUMENT...
page() {
  name="$1" see="$2"
  shift 2
  "$program" "$@" --help >"$folder/$base.txt"
  "$awk" -v name="$name" -v version="$version" -v others="$see" -f "$script" "$folder/$base.txt" \
    >"$folder/$(printf '%s' "$name" | tr ' ' '-').1"
  rm "$folder/$base.txt"
}

dashed() { printf '%s' "$1" | tr ' ' '-'; }
below=""
for command in "$@"; do below="$below $base-$(dashed "$command")"; done
page "$base" "$below"
for command in "$@"; do
  others="$(for other in "$@"; do [ "$other" = "$command" ] || printf " %s-%s" "$base" "$(dashed "$other")"; done)"
  # shellcheck disable=SC2086  # its words
  page "$base $command" "$base$others" $command
done
