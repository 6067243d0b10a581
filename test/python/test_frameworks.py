# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays of PyTorch, CuPy and JAX, on the host and on a device. What is not installed is skipped with that reason."""

import gc
import threading

import numpy as np
import pytest
from conftest import assert_product

import tessera

HEAT = tessera.taps.identity(2) + 0.1 * tessera.taps.laplacian(2)


def has_device() -> bool:
    return any(b["name"] == "cuda" and b["available"] for b in tessera.info()["backends"])


class Torch:
    def __init__(self, place):
        self.torch = pytest.importorskip("torch")
        if place == "cuda" and not self.torch.cuda.is_available():
            pytest.skip("PyTorch sees no device")
        self.place = place

    def array(self, values):
        return self.torch.from_numpy(np.ascontiguousarray(values)).to(self.place)

    def numpy(self, array):
        return array.float().cpu().numpy() if array.dtype == self.torch.bfloat16 else array.cpu().numpy()

    def is_own(self, array):
        return isinstance(array, self.torch.Tensor) and array.device.type == self.place


class Cupy:
    def __init__(self, place):
        if place == "cpu":
            pytest.skip("CuPy has no arrays on the host")
        self.cupy = pytest.importorskip("cupy")
        if not self.cupy.is_available():
            pytest.skip("CuPy sees no device")

    def array(self, values):
        return self.cupy.asarray(np.ascontiguousarray(values))

    def numpy(self, array):
        return self.cupy.asnumpy(array)

    def is_own(self, array):
        return isinstance(array, self.cupy.ndarray)


class Jax:
    def __init__(self, place):
        self.jax = pytest.importorskip("jax")
        if place == "cuda" and self.jax.default_backend() != "gpu":
            pytest.skip("JAX sees no device")
        self.device = self.jax.devices("cpu" if place == "cpu" else "gpu")[0]

    def array(self, values):
        return self.jax.device_put(np.ascontiguousarray(values), self.device)

    def numpy(self, array):
        return np.asarray(array)

    def is_own(self, array):
        return isinstance(array, self.jax.Array) and array.device == self.device


@pytest.fixture(params=["cpu", "cuda"])
def place(request):
    if request.param == "cuda" and not has_device():
        pytest.skip("the backend cuda finds no device")
    return request.param


@pytest.fixture(params=[Torch, Cupy, Jax])
def framework(request, place):
    return request.param(place)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("a, b", [((33, 17), (17, 20)), ((2, 3, 9), (9, 5)), ((7,), (7, 3)), ((4, 6, 5), (4, 5, 2))])
def test_matmul(rng, framework, dtype, a, b):
    x, y = (rng.uniform(-1, 1, s).astype(dtype) for s in (a, b))
    result = tessera.matmul(framework.array(x), framework.array(y))
    assert framework.is_own(result)
    assert_product(framework.numpy(result), x, y)


def test_stencil(rng, framework):
    u = rng.uniform(-1, 1, (40, 50)).astype(np.float32)
    result = tessera.stencil(framework.array(u), HEAT, boundary="periodic", steps=3)
    assert framework.is_own(result)
    there = tessera.stencil(u, HEAT, boundary="periodic", steps=3)
    # Each of three steps rounds at most 7 times, and values stay below 1.
    np.testing.assert_allclose(framework.numpy(result), there, rtol=0, atol=2 * 3 * 7 * 2.0**-24)


def test_ndimage(rng, framework):
    u = rng.uniform(-1, 1, (40, 50)).astype(np.float32)
    for name, arguments in (("laplace", ()), ("gaussian_filter", (2.0,)), ("sobel", (0,)), ("uniform_filter", (5,))):
        filtered = getattr(tessera.ndimage, name)
        result = filtered(framework.array(u), *arguments)
        assert framework.is_own(result)
        np.testing.assert_allclose(framework.numpy(result), filtered(u, *arguments), rtol=0, atol=8 * 40 * 2.0**-24)


@pytest.fixture(params=["cpu", "cuda"])
def torch_place(request, place):
    if request.param != place:
        pytest.skip("the other place")
    return Torch(place)


def test_torch_views_and_out(rng, torch_place):
    torch, f = torch_place.torch, torch_place
    a, b = f.array(rng.uniform(-1, 1, (6, 5))), f.array(rng.uniform(-1, 1, (6, 4)))
    out = torch.zeros((5, 8), dtype=torch.float64, device=f.place)[:, ::2]
    assert tessera.matmul(a.T, b, out=out) is out
    assert_product(f.numpy(out), f.numpy(a).T, f.numpy(b))
    assert_product(f.numpy(tessera.matmul(a.T, b)), f.numpy(a).T, f.numpy(b))
    strided = f.array(rng.uniform(-1, 1, (12, 10)))[::2, ::2]
    assert_product(f.numpy(tessera.matmul(strided, b[:5])), f.numpy(strided), f.numpy(b[:5]))


def test_torch_bfloat16(rng, torch_place):
    torch, f = torch_place.torch, torch_place
    a = f.array(rng.uniform(-1, 1, (64, 48)).astype(np.float32)).bfloat16()
    b = f.array(rng.uniform(-1, 1, (48, 40)).astype(np.float32)).bfloat16()
    bias = f.array(rng.uniform(-1, 1, 40).astype(np.float32))
    result = tessera.matmul(a, b, bias=bias, dtype="float32")
    assert result.dtype == torch.float32
    wide = f.numpy(a).astype(np.float64) @ f.numpy(b) + f.numpy(bias)
    size = abs(f.numpy(a)).astype(np.float64) @ abs(f.numpy(b)) + abs(f.numpy(bias))
    assert (abs(f.numpy(result) - wide) <= (48 + 5) * 2.0**-23 * size).all()
    assert tessera.matmul(a, b).dtype == torch.bfloat16


def test_mixed_memory(rng):
    if not has_device():
        pytest.skip("the backend cuda finds no device")
    f = Torch("cuda")
    a = rng.uniform(-1, 1, (4, 4))
    with pytest.raises(ValueError, match="must be in one"):
        tessera.matmul(a, f.array(a))
    with pytest.raises(ValueError, match="does not reach"):
        tessera.matmul(f.array(a), f.array(a), backend="cpu")
    with pytest.raises(TypeError, match="stream"):
        tessera.matmul(f.array(a), f.array(a), stream="main")


def test_stream_order(rng):
    """Work goes behind what is queued on the stream that is current, or that the call names."""
    if not has_device():
        pytest.skip("the backend cuda finds no device")
    f = Torch("cuda")
    torch = f.torch
    a = rng.uniform(-1, 1, (256, 256)).astype(np.float32)
    for named in (False, True):
        stream = torch.cuda.Stream()
        x = f.array(np.zeros_like(a))
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(20_000_000)
            x.copy_(f.torch.from_numpy(a).pin_memory(), non_blocking=True)
            if not named:
                result = tessera.matmul(x, x)
        if named:
            out = torch.empty_like(x)
            result = tessera.matmul(x, x, out=out, stream=stream)
        stream.synchronize()
        assert_product(f.numpy(result), a, a)


def test_lifetimes(rng):
    """Arrays may be dropped at once; a loop does not take more and more memory."""
    if not has_device():
        pytest.skip("the backend cuda finds no device")
    f = Torch("cuda")
    a = rng.uniform(-1, 1, (512, 512)).astype(np.float32)
    x = f.array(a)
    exact = f.numpy(tessera.matmul(x, x))
    f.torch.cuda.synchronize()
    before = f.torch.cuda.memory_allocated()
    for _ in range(200):
        result = tessera.matmul(x.clone(), x.clone())
    assert (f.numpy(result) == exact).all()
    del result
    gc.collect()
    assert f.torch.cuda.memory_allocated() == before


def test_threads(rng, framework):
    x = rng.uniform(-1, 1, (64, 64)).astype(np.float32)
    a = framework.array(x)
    exact, wrong = framework.numpy(tessera.matmul(a, a)), []

    def work():
        for _ in range(50):
            if not (framework.numpy(tessera.matmul(a, a)) == exact).all():
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_jax_is_never_written(rng):
    f = Jax("cpu")
    x = rng.uniform(-1, 1, (4, 4)).astype(np.float32)
    with pytest.raises(TypeError, match="never change"):
        tessera.matmul(x, x, out=f.array(x))
