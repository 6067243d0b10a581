#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# run.sh PYTHON PACKAGE-DIRECTORY: the tests of the Python package. 4: skipped.
set -euo pipefail

for module in pytest scipy ml_dtypes hypothesis; do
  "$1" -c "import $module" 2>/dev/null || { printf 'skipped: %s has no module %s\n' "$1" "$module" && exit 4; }
done
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
PYTHONPATH="$2" PYTHONDONTWRITEBYTECODE=1 exec "$1" -m pytest -q -rs -p no:cacheprovider .
