#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# man_pages.sh PROGRAM FOLDER: each subcommand has a page, each page every option that --help prints, and groff, where
# it is there, has nothing against one.
set -euo pipefail
program="$1" folder="$2"
name="$(basename -- "$program")"

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

# check PAGE ARGUMENT...: that the page has what the program's --help says with these arguments.
check() {
  local page="$folder/$1.1" option
  shift
  [[ -f "$page" ]] || fail "there is no $page"
  while IFS= read -r option; do
    grep -qF -- "${option//-/\\-}" "$page" || fail "$page has no $option"
  done < <("$program" "$@" --help | grep -oE -- '--[a-z-]+' | sort -u)
  [[ "$(grep -cE '^\.SH (NAME|SYNOPSIS)$' "$page")" == 2 ]] || fail "$page has no name or no synopsis"
  ! command -v groff >/dev/null || [[ -z "$(groff -man -Kutf8 -ww -z "$page" 2>&1)" ]] ||
    fail "$page: $(groff -man -Kutf8 -ww -z "$page" 2>&1)"
}

check "$name"
count=0
while IFS= read -r command; do
  check "$name-$command" "$command"
  count=$((count + 1))
done < <("$program" --help | sed -nE '/^Subcommands:$/,/^$/s/^  ([a-z]+) .*/\1/p')
[[ $count -gt 1 ]] || fail "--help names $count subcommands"
