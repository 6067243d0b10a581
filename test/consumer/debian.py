# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""debian.py REPOSITORY STAGED VERSION LIBDIR PYTHONDIR COMPONENT...: debian/ fits what the components install.

Below STAGED is a folder for each component, which was installed there. Each file must belong to the package that has
its component, each line of debian/*.install must find a file of it, and names and versions must be those of the build.
"""

from __future__ import annotations

import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Iterator

# The package that has a component's files, those that match; "" where nobody installs them.
SHARES = [
    ("tessera_runtime", r".*/libtessera\.so\..*", "libtessera0.3"),
    ("tessera_runtime", r".*/libtessera_blas\.so\..*", "libtessera-blas0.3"),
    ("tessera_runtime", r".*/libtessera_distributed\.so\..*", "libtessera-distributed0.3"),
    ("tessera_runtime", r".*/LICENSE", ""),
    ("tessera_development", ".*", "libtessera-dev"),
    ("tessera_tools", ".*", "tessera-bin"),
    ("tessera_backend_cpu", ".*", "tessera-backend-cpu"),
    ("tessera_backend_cuda", ".*", "tessera-backend-cuda"),
    ("tessera_backend_kokkos-openmp", ".*", "tessera-backend-kokkos"),
    ("tessera_backend_kokkos-cuda", ".*", "tessera-backend-kokkos"),
    ("tessera_python", ".*", "python3-tessera"),
]


def lines_of(path: Path) -> list[str]:
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def installed(debian: Path) -> dict[str, list[str]]:
    """The patterns of each package; those of files that nobody has under ""."""
    found = {path.stem: lines_of(path) for path in sorted(debian.glob("*.install"))}
    return {**found, "": lines_of(debian / "not-installed")}


def matches(pattern: str, file: str) -> bool:
    """As dh_install: a pattern names a file or a folder, and its '*' stays within a folder."""
    parts, wanted = file.split("/"), pattern.split("/")
    return len(parts) >= len(wanted) and all(map(fnmatchcase, parts, wanted))


def names(root: Path, version: str, packages: dict[str, list[str]]) -> Iterator[str]:
    control = (root / "debian/control").read_text(encoding="utf-8")
    declared = set(re.findall(r"^Package: (\S+)$", control, re.MULTILINE))
    for what, these in (("debian/*.install", set(packages)), ("this test", {package for _, _, package in SHARES})):
        if these - {""} != declared:
            yield f"debian/control and {what} differ in {sorted(declared ^ (these - {''}))}"
    first = (root / "debian/changelog").read_text(encoding="utf-8").splitlines()[0]
    if not re.match(rf"tessera \({re.escape(version)}[-~]", first):
        yield f"debian/changelog begins with '{first}', but this is {version}"


def as_packaged(file: str, libdir: str, pythondir: str) -> str:
    """Where debian/rules has a file installed: below usr, with Debian's directories."""
    for here, there in ((pythondir, "lib/python3/dist-packages"), (libdir, "lib/x86_64-linux-gnu")):
        if here and file.startswith(here + "/"):
            return f"usr/{there}{file[len(here):]}"
    return f"usr/{file}"


def files(staged: dict[str, list[str]], packages: dict[str, list[str]]) -> Iterator[str]:
    used = set()
    for component, found in staged.items():
        if not found:
            yield f"{component} has no files"
        for file in found:
            shares = [(of, package) for name, of, package in SHARES if name == component]
            owner = next((package for of, package in shares if re.fullmatch(of, file)), None)
            hits = {(package, pattern) for package, patterns in packages.items() for pattern in patterns
                    if matches(pattern, file)}
            used |= hits
            if {package for package, _ in hits} != {owner}:
                yield f"{file} of {component} is for '{owner}', but debian/ gives it to {sorted(hits)}"
    here = {package for component, _, package in SHARES if component in staged}
    for package in sorted(here):
        name = f"{package}.install" if package else "not-installed"
        yield from (f"debian/{name}: no file is {pattern}" for pattern in packages.get(package, [])
                    if (package, pattern) not in used)


def library_names(staged: dict[str, list[str]]) -> Iterator[str]:
    """The name of a library's package is that of its SONAME."""
    for name in ("tessera", "tessera_blas", "tessera_distributed"):
        versions = {found[1] for file in staged["tessera_runtime"]
                    if (found := re.search(rf"/lib{name}\.so\.(\d+\.\d+)$", file))}
        wanted = {f"lib{name.replace('_', '-')}{version}" for version in versions}
        if not wanted or not wanted <= {package for _, _, package in SHARES}:
            yield f"the SONAME of {name} asks for {sorted(wanted)}"


def main() -> int:
    root, place, version, libdir, pythondir, *components = sys.argv[1:]
    packages = installed(Path(root) / "debian")
    staged = {}
    for component in components:
        folder = Path(place) / component
        staged[component] = sorted(as_packaged(str(path.relative_to(folder)), libdir, pythondir)
                                   for path in folder.rglob("*") if path.is_symlink() or path.is_file())
    breaches = [*names(Path(root), version, packages), *files(staged, packages), *library_names(staged)]
    for breach in breaches:
        print(f"FAILED: {breach}")
    print(f"{sum(map(len, staged.values()))} files of {len(staged)} components")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
