# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Turns what `tessera [SUBCOMMAND] --help` prints into a manual page.
#   awk -v name="tessera gemm" -v version=0.3.0 -v others="tessera tessera-info" -f man_page.awk
# See man_pages.sh.

# Of a line of text: what groff would take for its own language.
function escaped(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  return text ~ /^[.']/ ? "\\\&" text : text
}

function heading(text) { printf ".SH %s\n", toupper(text) }

# An entry of a list, "  NAME   what it is", whose second part may stand on the lines below.
function entry(line,    indent, gap, term) {
  match(line, /^ +/)
  indent = RLENGTH
  line = substr(line, indent + 1)
  if (indent > 8) {  # more of what stands above
    print escaped(line)
    return
  }
  gap = match(line, /  +/)
  term = gap ? substr(line, 1, gap - 1) : line
  printf ".TP\n.B %s\n", escaped(term)
  if (gap) print escaped(substr(line, gap + RLENGTH))
}

BEGIN {
  page = name
  gsub(/ /, "-", page)
  printf ".TH %s 1 \"\" \"Tessera %s\" \"User Commands\"\n", toupper(escaped(page)), version
}
NR == 1 {
  printf ".SH NAME\n%s \\- %s\n", escaped(page), escaped($0)
  next
}
/^Usage: / {
  heading("Synopsis")
  printf ".B %s\n", escaped(substr($0, 8))
  next
}
/^$/ { next }
/^ *\[Option Group: / {
  gsub(/^.*: |\]$/, "")
  printf ".SS %s\n", escaped($0)
  in_group = 1
  next
}
in_group {  # what the group is
  in_group = 0
  gsub(/^ +| +$/, "")
  print escaped($0) "."
  next
}
/^ +Options:$/ { next }
/^ *\[/ {
  gsub(/^ *\[|\]$/, "")
  print escaped($0)
  next
}
/^[A-Z][a-z ]*:$/ {
  heading(substr($0, 1, length($0) - 1))
  in_list = 1
  next
}
/^ / && in_list { entry($0); next }
{
  if (in_list || !in_notes) heading("Notes")
  else print ".PP"
  in_list = 0
  in_notes = 1
  print escaped($0)
}
END {
  heading("See also")
  count = split(others, list, " ")
  for (i = 1; i <= count; ++i) printf ".BR %s (1)%s\n", escaped(list[i]), i < count ? "," : ""
}
