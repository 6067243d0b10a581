# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m tessera info`: what there is, and why the rest is not."""

import sys

from . import info


def main(arguments: list[str]) -> int:
    if arguments != ["info"]:
        print("usage: python -m tessera info", file=sys.stderr)
        return 2
    found = info()
    print(f"tessera {found['version']}")
    for backend in found["backends"]:
        name = backend["name"] + (f"-{backend['variant']}" if backend["variant"] else "")
        print(f"{name}: {'available' if backend['available'] else 'not available: ' + backend['reason']}")
        for device in backend["devices"]:
            print(f"  device: {device['name']}, {device['memory_bytes'] / 2**30:.1f} GiB")
        for operation in ("gemm", "stencil", "system"):
            print(f"  {operation}: {', '.join(backend[operation + '_algorithms'])}")
    for directory in found["directories"]:
        print(f"searched: {directory['path']} ({directory['origin']}) {directory['error']}".rstrip())
    return 0


sys.exit(main(sys.argv[1:]))
