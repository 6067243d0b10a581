# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Any call of any filter against SciPy's: the same bits of integers, sums within their bounds, the same errors."""

import dataclasses
import itertools
import warnings

import numpy as np
import pytest
import scipy.ndimage as theirs
from conftest import ALL, SEED
from filter_bounds import bound, separable_passes
from filter_calls import NAMES, Array, Call, calls
from hypothesis import HealthCheck, given, seed, settings

from tessera import ndimage as ours

BATCHES, EXAMPLES = (100, 1000) if ALL else (1, 400)


def outcome(call: Call, library):
    """(input, frame, output, result) or the error. SciPy warns where types are converted: that is no error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return call.run(library)
        except Exception as error:  # noqa: BLE001: the error is the result
            return error


def kind_of(error: Exception) -> type:
    """The class of Python's own that an error is of: what a program catches."""
    return next(base for base in type(error).__mro__ if base.__module__ == "builtins")


def compare(mine: np.ndarray, other: np.ndarray, call: Call) -> None:
    assert mine.shape == other.shape, f"shape {mine.shape}, SciPy's {other.shape}"
    assert mine.dtype == other.dtype, f"type {mine.dtype.str}, SciPy's {other.dtype.str}"
    if other.dtype.kind == "b":
        assert (mine.view(np.uint8) <= 1).all(), "a bool that is not 0 or 1"
    if other.dtype.kind in "iub":
        np.testing.assert_array_equal(mine, other)
    elif other.size:
        limit = bound(call, other)
        for part in ("real", "imag") if other.dtype.kind == "c" else ("real",):
            within(getattr(mine, part).astype(np.float64), getattr(other, part).astype(np.float64), limit)


def within(mine: np.ndarray, other: np.ndarray, limit: np.ndarray) -> None:
    """The same infinities and NaN, and finite numbers no further apart than the limit."""
    number = np.isfinite(other)
    np.testing.assert_array_equal(np.isfinite(mine), number, "finite where SciPy's is")
    np.testing.assert_array_equal(mine[~number], other[~number])
    with np.errstate(all="ignore"):
        worst = np.max(np.where(number, abs(mine - other) - limit, -1.0))
    assert worst <= 0.0, f"beyond the bound by {worst}:\n{mine}\nSciPy's:\n{other}\nbound:\n{limit}"


def check_same(call: Call, reference=None) -> None:
    """The call does what SciPy's does, or what SciPy does with another one."""
    mine, other = outcome(call, ours), reference or outcome(call, theirs)
    if isinstance(other, Exception) or isinstance(mine, Exception):
        assert isinstance(other, Exception), f"raised {mine!r}"
        assert isinstance(mine, Exception), f"nothing raised; SciPy: {other!r}"
        assert kind_of(mine) is kind_of(other), f"raised {mine!r}; SciPy: {other!r}"
        return
    array, frame, output, result = mine
    assert type(result) is np.ndarray, f"the result is a {type(result).__name__}"
    compare(result, other[3], call)
    if isinstance(output, np.ndarray):
        assert result is output, "the result is not the output"
    else:
        assert not np.may_share_memory(result, array), "the result is the input's memory"
        assert result.flags.writeable, "the result is read-only"
    if call.output == "view":
        assert (frame[..., 1:] == np.full((), 7).astype(frame.dtype)).all(), "written beside the output"
    if call.output not in ("input", "shifted"):
        np.testing.assert_array_equal(array, call.input.make(), "the input has changed")


# --- What differs, and is meant to: ids of the table in docs/python.md ---


def finite(call: Call) -> bool:
    cval = call.options["cval"]
    numeric = isinstance(cval, (int, float, complex, np.number))
    return bool(np.isfinite(call.input.values).all() and (not numeric or np.isfinite(cval)))


def values_of(weights):
    return weights.values if isinstance(weights, Array) else weights


def explained(call: Call) -> str | None:
    """The id of the difference that a call may meet, if any."""
    axes = call.options.get("axes")
    if call.name in ("correlate", "convolve"):
        if isinstance(axes, int) and axes < 0:
            return "negative-axis"
        if call.input.layout == "broadcast" and 0 in call.input.make().strides:
            return "stride-0"
    given = call.output not in ("none", "input", "shifted") and call.input.values.dtype.kind != "c"  # stays complex
    types = [call.input.values.dtype] + [np.dtype(call.output_type)] * given
    if call.name.startswith("uniform") and not finite(call) and not any(dtype.kind in "iub" for dtype in types):
        return "mean-window"  # integers are summed as SciPy sums them
    rereads = call.name == "laplace" or np.iscomplexobj(values_of(call.options.get("weights")))
    if call.output == "shifted" or call.output == "input" and rereads:
        return "overlap"
    return None


def means(call: Call):
    """SciPy's sums of each window on its own: as weights, which NaN beyond the window does not reach."""
    outer = outcome(call, theirs)
    if isinstance(outer, Exception):
        return outer
    array, dtype = call.input.make(), outer[3].dtype
    for axis, weights, mode, origin in separable_passes(call, array.ndim):
        options = {"mode": mode, "cval": call.options["cval"], "origin": origin}
        array = theirs.correlate1d(array, weights, axis, output=dtype, **options)
    return (*outer[:3], array.astype(dtype))


def instead(call: Call) -> Call:
    """The call that SciPy does as it should do this one."""
    array, axes = call.input.make(), call.options.get("axes")
    if call.name in ("correlate", "convolve"):
        if isinstance(axes, int):
            call = dataclasses.replace(call, options=call.options | {"axes": axes % array.ndim})
        call = dataclasses.replace(call, input=Array(array, "packed" if array.flags.writeable else "read-only"))
    if call.output == "shifted" or call.output == "input" and array.flags.writeable:
        call = dataclasses.replace(call, output="array", output_type=array.dtype.str)
    return call


def check(call: Call) -> None:
    """The call does what SciPy's does; where a difference is meant, what SciPy does without its cause."""
    difference, reference = explained(call), None
    if difference == "mean-window":
        with np.errstate(all="ignore"):
            reference = means(call)
    elif difference == "negative-axis" and call.options["axes"] < -call.input.values.ndim:
        assert isinstance(outcome(call, ours), ValueError)
        return
    elif difference:
        reference = outcome(instead(call), theirs)
    check_same(call, reference)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_any_call(batch):
    @seed(SEED + batch)
    @settings(max_examples=EXAMPLES, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(calls())
    def run(call):
        check(call)

    run()


@pytest.mark.parametrize("cval", ["a", None, [1.0], 10**400])
def test_wrong_cval(cval):
    """Not drawn above: SciPy leaves an exception behind where it has copied an operand first."""
    needed = {"co": {"weights": [1.0, 2.0]}, "ga": {"sigma": 1.0}, "un": {"size": 3}}
    wrong = []
    for name, dtype in itertools.product(NAMES, [np.float32, np.float64, np.uint8]):
        options = needed.get(name[:2], {}) | {"cval": cval, "mode": "constant"}
        call = Call(name, Array(np.ones(5, dtype), "packed"), options)
        mine, other = outcome(call, ours), outcome(call, theirs)
        if not isinstance(mine, Exception) or kind_of(mine) is not kind_of(other):
            wrong.append(f"{name} of {dtype.__name__}: {mine!r}; SciPy: {other!r}")
    assert not wrong, "\n".join(wrong)


NAN = np.array([np.nan, 1.0, 2.0, 3.0])
DIFFERENCES = {
    "negative-axis": Call("correlate", Array(np.ones((3, 3)), "packed"), {"weights": [1.0, 2.0], "axes": -1}),
    "stride-0": Call(
        "correlate", Array(np.full((3, 1), -3.0), "broadcast"),
        {"weights": [[1.0, 2.0], [3.0, 4.0]], "mode": "constant", "cval": 1.0},
    ),
    "overlap": Call("laplace", Array(np.arange(9.0).reshape(3, 3) ** 2, "packed"), {}, output="input"),
    "mean-window": Call("uniform_filter1d", Array(NAN, "packed"), {"size": 2}),
}  # fmt: skip


@pytest.mark.parametrize("difference", DIFFERENCES)
def test_differs(difference):
    """What the table says is so: SciPy's result or error is another one."""
    call = DIFFERENCES[difference]
    call.options = {"mode": "reflect", "cval": 0.0} | call.options
    call.output_shape = call.input.values.shape
    if call.name == "uniform_filter1d":
        call.options |= {"axis": -1}
    assert explained(call) == difference
    check(call)
    with pytest.raises(AssertionError):
        check_same(call)


IMAGE = np.random.default_rng(0).uniform(-1, 1, (30, 40))
GAUSSIAN = {"sigma": 2.0, "order": 0, "radius": None, "truncate": 4.0}
ROUNDED = {
    "f32-sum": Call("correlate1d", Array(IMAGE.astype("f"), "packed"), {"weights": [0.1] * 9, "axis": 1}),
    "f64-order": Call("correlate", Array(IMAGE, "packed"), {"weights": IMAGE[:3, :3].tolist()}),
    "fewer-passes": Call("gaussian_filter", Array(IMAGE, "packed"), GAUSSIAN | {"radius": 1}),
    "float-between": Call("gaussian_filter", Array(IMAGE, "packed"), GAUSSIAN, "type", "f"),
}


@pytest.mark.parametrize("difference", ROUNDED)
def test_rounded_otherwise(difference):
    """What the table says is so, within the bounds: other bits than SciPy's."""
    call = ROUNDED[difference]
    call.options |= {"mode": "reflect", "cval": 0.0}
    check(call)
    assert (outcome(call, ours)[3] != outcome(call, theirs)[3]).mean() > 0.1


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble, np.clongdouble])
def test_more_types(dtype):
    """more-types: what SciPy makes of the values in float64, rounded once to the type."""
    array = IMAGE.astype(dtype)
    with pytest.raises(RuntimeError):
        theirs.uniform_filter(array, 3)
    exact = theirs.uniform_filter(array.astype("D" if array.dtype.kind == "c" else "d"), 3)
    mine = ours.uniform_filter(array, 3)
    assert mine.dtype == dtype
    unit = 2.0**-11 if dtype is np.float16 else 0.0
    # Sums of 9 in float64, of 3 and 3 in SciPy's running sums along 30 and 40 points: none errs by more than 200 units.
    assert (abs(mine.astype(exact.dtype) - exact) <= 200 * 2.0**-53 + unit * abs(exact)).all()


def test_bool_bytes():
    """bool-bytes: 0 or 1 where SciPy's bytes hold the sum."""
    array = np.ones(5, bool)
    assert (theirs.correlate1d(array, [1, 1, 1]).view(np.uint8) == 3).all()
    assert (ours.correlate1d(array, [1, 1, 1]).view(np.uint8) == 1).all()


def test_output_kind():
    """output-kind: a list is refused, where SciPy fills a copy that the caller does not see."""
    theirs.correlate1d(np.ones(3), [1.0], output=[0.0] * 3)
    with pytest.raises(TypeError):
        ours.correlate1d(np.ones(3), [1.0], output=[0.0] * 3)


def test_error_order():
    """error-order: weights of two axes, and a complex cval of a real image."""
    weights = np.ones((2, 2), complex)
    for library, error in ((ours, RuntimeError), (theirs, ValueError)):
        with pytest.raises(error):
            library.convolve1d(np.ones((2, 3)), weights, mode="constant", cval=1j, output=complex)
