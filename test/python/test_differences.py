# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of meant differences in docs/python.md and the tests know of the same ones."""

import test_against_numpy
import test_against_scipy
import test_scipys_own
from differences import table


def test_table():
    rows = table()
    assert len(rows) == len(set(rows)), "an id twice"
    used = {*test_against_scipy.DIFFERENCES, *test_against_scipy.ROUNDED, *test_against_numpy.DIFFERENCES}
    used |= {*test_scipys_own.SCIPY.values(), *test_scipys_own.NUMPY.values()}
    used |= {"more-types", "bool-bytes", "output-kind", "error-order", "matmul-0d"}  # which have tests of their names
    assert used == set(rows), f"only in tests: {used - set(rows)}; only in docs/python.md: {set(rows) - used}"
