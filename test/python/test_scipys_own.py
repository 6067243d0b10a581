# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""SciPy's own tests of the filters that tessera.ndimage has, and NumPy's of matmul, with the functions replaced."""

import own_tests
from differences import check_known

# Tests that fail on Tessera's functions, and the row of the table in docs/python.md that says why they must.
SCIPY = {}
NUMPY = {}


def test_scipys_own(tmp_path):
    outcomes = own_tests.run("scipy.ndimage", ["scipy.ndimage.tests.test_filters"], tmp_path)
    assert sum(outcome == "passed" for outcome, _ in outcomes.values()) > 1000
    own_tests.check(outcomes, {"failed"}, SCIPY)


def test_numpys_own(tmp_path):
    modules = ["numpy._core.tests.test_multiarray", "numpy.linalg.tests.test_linalg"]
    outcomes = own_tests.run("numpy", modules, tmp_path)
    assert sum(outcome == "passed" for outcome, _ in outcomes.values()) > 100
    # A test of TestMatmul that has not called Tessera is one of types alone that Tessera does not take.
    concerned = {
        name: told for name, told in outcomes.items() if told[0] != "not called" or "::TestMatmul::" in name
    }
    own_tests.check(concerned, {"failed", "not called"}, NUMPY)


def test_lists_are_explained():
    check_known({*SCIPY.values(), *NUMPY.values()})
