# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""SciPy's own tests of the filters that tessera.ndimage has, and NumPy's of matmul, with the functions replaced."""

import own_tests

# Tests that fail on Tessera's functions, and the row of the table in docs/python.md that says why they must.
SCIPY = {
    "test_filters.py::TestNdimageFilters::test_gauss03*": "f32-sum",
    "test_filters.py::TestNdimageFilters::test_gaussian_laplace0[12]*-float32]": "f32-sum",
    "test_filters.py::TestNdimageFilters::test_gaussian_laplace0[12]*-complex64]": "f32-sum",
    "test_filters.py::test_multiple_modes_sequentially*": "fewer-passes",
    "test_filters.py::test_gaussian_filter_float16*": "more-types",
    "test_filters.py::TestNdimageFilters::test_correlate_complex_kernel_invalid_cval*": "error-order",
}
NUMPY = {
    "test_multiarray.py::TestBinop::test_ufunc_binop_interaction": "matmul-function",
    "test_multiarray.py::TestMatmul::test_result_types": "matmul-0d",
    "test_multiarray.py::TestMatmul::test_out_arg": "matmul-out",
    "test_multiarray.py::TestMatmul::test_empty_out": "matmul-out",
    "test_multiarray.py::TestMatmul::test_matmul_object_type_scalar": "matmul-types",
    "test_multiarray.py::TestMatmul::test_matmul_empty": "matmul-types",
    "test_multiarray.py::TestMatmul::test_matmul_exception_multiply": "matmul-types",
    "test_multiarray.py::TestMatmul::test_matmul_exception_add": "matmul-types",
    "test_multiarray.py::TestMatmul::test_matmul_bool": "matmul-types",
    "test_linalg.py::TestEig::test_sq_cases": "matmul-two-types",
    "test_linalg.py::TestEig::test_generalized_sq_cases": "matmul-two-types",
}


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
