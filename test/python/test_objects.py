# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What the package keeps of a program's types and objects, and how it ends; element types and array packages."""

import gc
import os
import re
import shutil
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest
from conftest import Foreign

import tessera


def run(program, **environment):
    """A program of its own; its output and errors."""
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    assert ran.returncode == 0, ran.stderr
    return ran.stdout, ran.stderr


def make_class():
    class Made(Foreign):
        ballast = np.ones(100_000 // 8)

    return Made


def test_classes_of_arrays_die():
    a, alive = np.ones((2, 2)), []
    for _ in range(200):
        made = make_class()
        assert (tessera.matmul(made(a), made(a)) == 2).all()
        alive.append(weakref.ref(made))
        del made
    gc.collect()
    assert sum(reference() is not None for reference in alive) == 0


def test_objects_that_outlive_python_are_no_leak():
    program = """if True:
        import ctypes, numpy as np, tessera
        system = tessera.StencilSystem((4, 5))
        u = system.state("u")
        system.update(u, 0.5 * u)
        kept = [tessera.GemmPlan(4, 4, 4), tessera.StencilPlan((4, 5), tessera.taps.laplacian(2)), u,
                tessera.SystemPlan(system, 1), system, tessera.taps.laplacian(2), tessera.Expression(1.0)]
        for made in kept:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
    """
    assert run(program) == ("", "")


def test_bfloat16_by_any_version_of_ml_dtypes():
    """Up to 0.5.0 the type in C is called "bfloat16", later "ml_dtypes.bfloat16"."""
    pytest.importorskip("ml_dtypes")
    program = """if True:
        import ctypes, sys, numpy as np, tessera
        from ml_dtypes import bfloat16
        head = object.__basicsize__ + ctypes.sizeof(ctypes.c_ssize_t)  # PyVarObject; tp_name is behind it
        name = ctypes.c_char_p.from_address(id(bfloat16) + head)
        assert name.value.rpartition(b".")[2] == b"bfloat16"
        for called in (b"bfloat16", b"ml_dtypes.bfloat16"):
            name.value = called
            a = np.arange(9).reshape(3, 3).astype(bfloat16)
            c = tessera.matmul(a, a)
            assert c.dtype == bfloat16 and (c == (a.astype("f4") @ a.astype("f4")).astype(bfloat16)).all()
        name.value = b"ml_dtypes.bfloat17"
        try:
            tessera.matmul(a, a)
        except TypeError as error:
            print(error)
    """
    assert run(program)[0].startswith("a: elements of bfloat")


def test_array_api_strict(rng):
    strict = pytest.importorskip("array_api_strict")
    for dtype in ("float32", "float64"):
        x, y = rng.integers(-8, 9, (4, 5)).astype(dtype), rng.integers(-8, 9, (5, 3)).astype(dtype)
        a, b = strict.asarray(x), strict.asarray(y)
        result = tessera.matmul(a, b)
        assert type(result) is type(a) and result.dtype == a.dtype
        assert (np.from_dlpack(result) == x @ y).all()
        taps = tessera.taps.laplacian(2)
        result = tessera.stencil(a, taps)
        assert type(result) is type(a) and (np.from_dlpack(result) == tessera.stencil(x, taps)).all()
        plan = tessera.GemmPlan(4, 3, 5, dtype=dtype)
        assert type(plan.execute(a, b)) is type(a)
    elsewhere = strict.asarray(x, device=strict.Device("device1"))
    try:
        elsewhere.__dlpack__()
    except Exception:
        return  # arrays there are of no memory that anybody knows
    assert tessera.matmul(elsewhere, elsewhere.T).device == elsewhere.device


@pytest.fixture(scope="module")
def locales(tmp_path_factory):
    """A directory with a locale whose decimal point is a comma."""
    localedef = shutil.which("localedef")
    if localedef is None or not Path("/usr/share/i18n/locales/de_DE").exists():
        pytest.skip("there is no localedef, or no definition of de_DE")
    directory = tmp_path_factory.mktemp("locales")
    made = subprocess.run([localedef, "-c", "-i", "de_DE", "-f", "UTF-8", str(directory / "de_DE.UTF-8")])
    assert made.returncode in (0, 1) and (directory / "de_DE.UTF-8" / "LC_NUMERIC").exists()
    return directory


def test_numbers_in_a_locale_with_commas(locales):
    program = """if True:
        import locale, numpy as np, tessera
        locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
        assert locale.str(1.5) == "1,5"
        taps, x = tessera.taps.laplacian(2), np.ones((4, 5))
        print(tessera.StencilPlan((4, 5), taps, boundary=("constant", 1234.5)))
        tessera.stencil(x, taps, effort="measure")
        def refused(call):
            try:
                call()
            except ValueError as error:
                print(error)
        refused(lambda: tessera.taps.gaussian(2, -0.5))
        refused(lambda: tessera.taps.laplacian(2, 2, -1.5))
        refused(lambda: tessera.StencilPlan((4, 5), 1e300 * taps, dtype="float32"))
        refused(lambda: tessera.StencilPlan((4, 5), taps, boundary=("constant", 1.5e300)))
    """
    out, err = run(program, LOCPATH=str(locales), TESSERA_VERBOSE="2")
    plan = out.splitlines()[0]
    assert "constant:1234.5" in plan
    for text in ("sigma = -0.5", "spacing = -1.5"):
        assert text in out
    wrong = [line for line in (out + err).splitlines() if re.search(r"\d,\d{1,3}(e[+-]| ms| us|\D)", line)]
    assert not wrong
    assert re.search(r"\d\.\d{3} ms", err), "the program told no times"
