# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""words.py REPOSITORY: a word means one thing. The glossary of docs/architecture.md says which word is used for what,
and which others are not: sources and pages have none of these."""

import re
import sys
from pathlib import Path

import pages
import source_files

PAGE = "docs/architecture.md"
MOST = 40
ROW = re.compile(r"^\| \*\*([^*]+)\*\* \|[^|]+\|([^|]*)\|$", re.MULTILINE)


def glossary(page):
    """Word to the words that are not used for it."""
    rows = ROW.findall(page[page.index("## Glossary"):])
    return {word: [other.strip() for other in others.split(",") if other.strip()] for word, others in rows}


def offenders(text, banned):
    """(line, word, what is said instead). Words are found in names as well: of_pool, PoolOf."""
    found = []
    for other, word in banned.items():
        name = other[0].upper() + other[1:]
        pattern = re.compile(rf"(?<![A-Za-z])(?:{other}|{name})(?![a-z])|(?<=[a-z]){name}(?![a-z])")
        found += [(text.count("\n", 0, match.start()) + 1, match.group(), word) for match in pattern.finditer(text)]
    return sorted(found)


def main(root):
    root = Path(root)
    words = glossary((root / PAGE).read_text())
    banned = {other: word for word, others in words.items() for other in others}
    broken = 0
    if not banned or len(words) > MOST:
        print(f"{PAGE}: a glossary of {len(words)} words, {len(banned)} not used; at most {MOST}, and some of these")
        broken = 1
    prose = [path.relative_to(root) for path in pages.pages(root)]
    for path in [*source_files.find(root), *(page for page in prose if str(page) not in pages.HISTORY)]:
        text = (root / path).read_text()
        if str(path) == PAGE:  # which names them
            text = text[:text.index("## Glossary")]
        for line, found, word in offenders(text, banned):
            print(f"{path}:{line}: {found}: say {word} ({PAGE})")
            broken += 1
    print(f"{len(words)} words, {len(banned)} that are not used: {broken} breaches")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
