# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Any value as each argument of each function: what is refused is told by name, value and what it must be."""

import inspect
import re
import sys

import numpy as np
import pytest
from conftest import ALL, SEED
from known_calls import CALLS, FILTERS, GOOD_OF_FILTERS, OBJECTS, BadDlpack, BadStream, Mine, Raising, system

import tessera
from tessera import taps

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies

EXAMPLES = 30_000 if ALL else 400

# What C++ and nanobind say when nobody translates them.
BARE = ("std::", "nanobind", "incompatible function", "bad_cast", "vector::", "basic_string", "PyCapsule", "is a bug")


DEMANDS = ("must", "the plan takes", "leave ", "give ")


def own_names(scope):
    """The functions and methods of a module or class that a program may call by name."""
    for name, member in sorted(vars(scope).items()):
        public = not name.startswith("_") or name in ("__getitem__",)
        if public and type(member).__name__ in ("nb_func", "nb_method"):
            yield name


def test_each_function_has_a_case():
    expected = {name for name in tessera.__all__ if type(getattr(tessera, name)).__name__ == "nb_func"}
    expected |= {f"taps.{name}" for name in own_names(taps)}
    for name in tessera.__all__:
        made = getattr(tessera, name)
        if isinstance(made, type):
            expected |= {name} | {f"{name}.{method}" for method in own_names(made)}
    expected -= {"SystemField", "PreparedMatrix"}  # nobody makes one by its class
    assert expected == set(CALLS)


def parameters(function):
    signatures = getattr(function, "__nb_signature__", None)
    if signatures is None:
        return set(inspect.signature(function).parameters)
    inner = signatures[0][0].split("(", 1)[1].rsplit(") -> ", 1)[0]
    return {part.split(":")[0].split("=")[0].strip() for part in re.split(r", (?![^\[]*\])", inner)} - {"self", "*", ""}


def test_each_argument_has_a_value():
    for name, (_, good) in CALLS.items():
        scope, _, member = name.rpartition(".")
        owner = getattr(tessera, scope) if scope else tessera
        function = getattr(owner, member)
        function = function.__init__ if isinstance(function, type) else function
        assert set(good()) - {"u"} == parameters(function), name


def numbers():
    return st.sampled_from(
        [0, 1, 2, 3, 4, 5, 7, 100, -1, -2, 2**31 - 1, 2**31, -(2**31) - 1, 2**62, 2**63, -(2**63) - 1, 10**400]
        + [True, False, 0.0, 0.5, 1.0, -1.5, 1e39, 1e300, float("nan"), float("inf"), -float("inf"), 1j]
        + [np.float16(2), np.float32(0.5), np.float64(1e300), np.int8(1), np.uint64(2**63), np.bool_(True)]
        + [np.complex64(1j), np.complex128(1)]
    )


def texts():
    known = ["fixed", "periodic", "halo", "wrap", "constant", "float32", "float16", "bfloat16", "int8", "cpu", "cuda"]
    known += ["cuda:7", "abacus", "host", "device", "row", "column", "relu", "tf32", "measure", "estimate", "u", "7"]
    known += ["\udc80", "a\udfffb", "a\0b", "", "é", "x" * 10_000]
    return st.sampled_from(known) | st.text(max_size=4)


def arrays():
    shapes = st.sampled_from([(), (0,), (3,), (4,), (4, 4), (4, 5), (6, 6), (2, 1), (0, 4), (2, 4, 4), (1,) * 17])
    types = ["f2", "f4", "f8", ">f8", "i4", "u1", "?", "c8", "c16", "O", "U2", "M8[s]", "g", "i4,f4"]

    def made(shape, dtype, way):
        array = np.zeros(shape, dtype)
        if way == 1:
            array.flags.writeable = False
        if way == 2:
            array = np.broadcast_to(np.zeros((), dtype), shape)
        if way == 3 and array.ndim:
            array = array[..., ::-1]
        return array

    return st.builds(made, shapes, st.sampled_from(types), st.integers(0, 3))


def strange():
    return st.sampled_from(
        [None, ..., object, object(), int, np.float32, np.dtype("f8"), b"ab", bytearray(b"ab"), slice(1), Raising()]
        + [BadDlpack(None), BadDlpack((1, 0)), BadDlpack((2, 0)), BadDlpack(("x", 0)), BadDlpack((1, 0), 5)]
        + [BadStream(ptr=-1), BadStream(ptr="x"), BadStream(cuda_stream=None), BadStream(ptr=2**70)]
        + [tessera.Taps(1), taps.laplacian(3), tessera.Expression(1.0), memoryview(b"abc")]
    ) | st.builds(lambda: system().field("u"))


def values():
    simple = numbers() | texts() | strange() | arrays()
    few = st.lists(simple, max_size=3)
    nested = few | few.map(tuple) | st.lists(few, max_size=3) | st.dictionaries(texts() | numbers(), simple, max_size=2)
    pair = st.tuples(st.sampled_from(["constant", "fixed", "a\udc80"]), simple)
    short = few.filter(lambda items: not is_large(items))
    lazy = short.map(iter) | st.builds(lambda items: (x for x in items), short)
    return simple | nested | pair | st.lists(pair, max_size=2) | lazy


def is_large(value):
    """Whether it is a large number, or holds one: of a dictionary, keys count, as where it stands for a sequence."""
    if isinstance(value, (list, tuple, dict)):
        return any(map(is_large, value))
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and value > 200


def takes_for_ever(argument, value):
    """Right arguments for which nobody wants to wait, or that take all memory."""
    return argument in ("steps", "sigma", "truncate", "size", "radius", "order") and is_large(value)


def is_told(value, message):
    """Whether a simple value stands in a message."""
    if isinstance(value, str):
        return len(value) > 20 or repr(value)[1:-1] in message or value in message
    if isinstance(value, int) and abs(value) > 10**20:
        return True
    if value is None or isinstance(value, (bool, int)):
        shown = {str(value), str(int(value or 0)), f"{float(value or 0):g}", str(float(value or 0))}
        return any(text in message for text in shown)
    return True


def check(argument, value, call):
    try:
        call()
    except Mine:
        return
    except (TypeError, ValueError) as error:
        text = str(error)
        assert re.search(rf"(?<![a-z_]){argument}(?![a-z])", text), f"{argument} is not named: {text}"
        assert any(word in text for word in DEMANDS), f"does not say what it must be: {text}"
        assert "not a" in text or is_told(value, text), f"{value!r} is not told: {text}"
        assert not any(word in text for word in BARE), text
    except (RuntimeError, MemoryError) as error:
        assert not any(word in str(error) for word in BARE), error


@pytest.fixture(scope="module", autouse=True)
def told_seed():
    print(f"TESSERA_TEST_SEED={SEED}", file=sys.stderr)


def settings(examples):
    return hypothesis.settings(
        max_examples=examples, deadline=None, database=None, suppress_health_check=list(hypothesis.HealthCheck)
    )


@hypothesis.seed(SEED)
@settings(EXAMPLES)
@hypothesis.given(st.data())
def test_each_argument_of_the_module(data):
    name = data.draw(st.sampled_from([name for name in CALLS if CALLS[name][1]()]))
    call, good = CALLS[name]
    given = good()
    argument = data.draw(st.sampled_from(sorted(given)))
    value = data.draw(values())
    hypothesis.assume(not takes_for_ever(argument, value))
    given[argument] = value
    check(argument, value, lambda: call(**{k: v for k, v in given.items() if v is not ... or k == argument}))


def contents(value):
    """Of the arrays in an argument."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [contents(entry) for entry in value]
    return value.tobytes() if isinstance(value, np.ndarray) else None


def behaviour(owner, made):
    """What an object does."""
    x = np.arange(36.0)
    if owner == "Taps":
        return list(made)
    if owner == "GemmPlan":
        return made.execute(x[:16].reshape(4, 4), x[20:].reshape(4, 4)).tobytes()
    if owner == "PreparedMatrix":
        return tessera.matmul(x[:8].reshape(2, 4), made).tobytes()
    if owner == "StencilPlan":
        return made.execute(x[:20].reshape(4, 5)).tobytes()
    plan = made if owner == "SystemPlan" else tessera.SystemPlan(made, 2)
    fields, recorded = [x.reshape(6, 6).copy(), x[::-1].reshape(6, 6).copy()], np.zeros((2, 1))
    plan.execute({"u": fields}, injected=[x[5:7].reshape(2, 1)], recorded=[recorded])
    return contents([fields, recorded])


UNTOUCHED = {owner: behaviour(owner, make()) for owner, make in OBJECTS.items()}


@hypothesis.seed(SEED)
@settings(EXAMPLES)
@hypothesis.given(st.data())
def test_an_object_is_as_before_after_a_refusal(data):
    methods = [name for name, (_, good) in CALLS.items() if name.split(".")[0] in OBJECTS and "." in name and good()]
    name = data.draw(st.sampled_from(methods))
    call, good = CALLS[name]
    owner = name.split(".")[0]
    made, given = OBJECTS[owner](), good()
    argument = data.draw(st.sampled_from(sorted(given)))
    value = data.draw(values())
    hypothesis.assume(not takes_for_ever(argument, value))
    given = {k: v for k, v in given.items() if v is not ...}
    before = {k: contents(v) for k, v in given.items() if k != argument}
    try:
        call(of=made, **{**given, argument: value})
    except Exception:
        assert {k: contents(v) for k, v in given.items() if k != argument} == before, "an argument has changed"
        assert behaviour(owner, made) == UNTOUCHED[owner], "the object has changed"


@hypothesis.seed(SEED)
@settings(EXAMPLES // 2)
@hypothesis.given(st.data())
def test_each_argument_of_a_filter(data):
    """Filters raise what SciPy raises: here it counts that nothing is bare."""
    name = data.draw(st.sampled_from(sorted(FILTERS)))
    function = FILTERS[name]
    known = inspect.signature(function).parameters
    given = {p: GOOD_OF_FILTERS[p]() for p in known if p in GOOD_OF_FILTERS}
    if name in ("correlate", "convolve"):
        given["weights"] = np.ones((3, 3))
    argument = data.draw(st.sampled_from([p for p in known if known[p].kind is not inspect.Parameter.VAR_KEYWORD]))
    value = data.draw(values())
    hypothesis.assume(not takes_for_ever(argument, value))
    given[argument] = value
    try:
        function(**given)
    except Mine:
        pass
    except Exception as error:
        assert not any(word in str(error) for word in BARE), f"{name}({argument}={value!r}): {error}"


@hypothesis.seed(SEED)
@settings(EXAMPLES // 4)
@hypothesis.given(st.data())
def test_operators(data):
    left = data.draw(st.sampled_from([taps.laplacian(2), tessera.Expression(2.0), system().field("u")]))
    value, operator = data.draw(values()), data.draw(st.sampled_from(["+", "-", "*"]))
    call = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}[operator]
    for pair in ((left, value), (value, left)):
        try:
            call(*pair)
        except Mine:
            pass
        except (TypeError, ValueError, OverflowError) as error:
            assert not any(word in str(error) for word in BARE), error
