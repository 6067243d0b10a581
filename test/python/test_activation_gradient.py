# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What training needs of a product: the value before the activation, its derivative there, the gradient of a bias."""

import numpy as np
import pytest

import tessera

ACTIVATIONS = ["relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh"]


def random(*shape, dtype="float64", seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("shape", [(5, 7), (7,), (2, 3, 7), (0, 7)])
def test_the_value_before_an_activation(activation, shape):
    a, b, bias = random(*shape, dtype="float32"), random(7, 9, dtype="float32", seed=1), random(9, dtype="float32")
    before = np.full((*shape[:-1], 9), np.nan, "float32")
    result = tessera.matmul(a, b, bias=bias, activation=activation, aux=before)
    assert np.array_equal(result, tessera.matmul(a, b, bias=bias, activation=activation))
    assert np.array_equal(before, tessera.matmul(a, b, bias=bias))


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradients_are_quotients_of_differences(activation):
    step, x = 1e-6, random(40, 30) * 4
    one = np.eye(30)

    def act(values):
        return tessera.matmul(values, one, activation=activation)

    gradient, sums = random(40, 30, seed=1), np.empty(30)
    made = tessera.activation_gradient(gradient, x, activation, bias_gradient=sums)
    slope = (act(x + step) - act(x - step)) / (2 * step)
    # The third derivative is below 3, so that the quotient errs by 3 / 6 step^2 and by roundings of 4 values / step.
    bound = step * step + 64 * 4 * 2.0**-53 / step
    smooth = np.abs(x) > step if activation == "relu" else np.ones(x.shape, bool)
    assert np.all(np.abs(made - gradient * slope)[smooth] <= bound)
    assert np.all(np.abs(sums - made.sum(0)) <= 41 * 2.0**-52 * np.abs(made).sum(0))


def test_places_and_types():
    g, z = random(6, 4, dtype="float16"), random(6, 4, dtype="float16", seed=1)
    expected = tessera.activation_gradient(g, z, "silu")
    assert expected.dtype == np.float16
    sums = np.empty(4, "float32")
    turned = tessera.activation_gradient(g.T.copy().T, z.T.copy().T, "silu", bias_gradient=sums)
    assert turned.tobytes() == expected.tobytes()
    assert np.all(np.abs(sums - expected.astype("float64").sum(0)) <= 7 * 2.0**-24 * np.abs(expected).sum(0))
    in_place = g.copy()
    assert tessera.activation_gradient(in_place, z, "silu", out=in_place) is in_place
    assert in_place.tobytes() == expected.tobytes()
    none = np.ones(4)
    assert tessera.activation_gradient(np.empty((0, 4)), np.empty((0, 4)), "silu", bias_gradient=none).shape == (0, 4)
    assert np.array_equal(none, np.zeros(4))


def test_what_does_not_fit_is_refused():
    a, b, z = random(3, 4), random(4, 5), np.empty((3, 5))
    c, square = random(4, 4), np.empty((4, 4))
    wrong = [
        (ValueError, "aux has shape (5, 3)", lambda: tessera.matmul(a, b, activation="relu", aux=np.empty((5, 3)))),
        (TypeError, "aux is of float32", lambda: tessera.matmul(a, b, activation="relu", aux=z.astype("float32"))),
        (ValueError, "C order", lambda: tessera.matmul(a, b, activation="relu", aux=np.empty((5, 3)).T)),
        (ValueError, "set activation", lambda: tessera.matmul(a, b, aux=z)),
        (ValueError, "shares memory", lambda: tessera.matmul(a, b, activation="relu", out=z, aux=z)),
        (ValueError, "shares memory", lambda: tessera.matmul(c, c, activation="relu", out=square.T, aux=square)),
        (ValueError, "shares memory", lambda: tessera.activation_gradient(z, z, "relu", out=z, bias_gradient=z[1])),
        (ValueError, "aux has shape", lambda: tessera.activation_gradient(z, z[:2], "relu")),
        (TypeError, "aux is of float32", lambda: tessera.activation_gradient(z, z.astype("float32"), "relu")),
        (ValueError, "activation", lambda: tessera.activation_gradient(z, z, "none")),
        (ValueError, "(5,)", lambda: tessera.activation_gradient(z, z, "relu", bias_gradient=np.empty(3))),
    ]
    for kind, words, call in wrong:
        with pytest.raises(kind) as raised:
            call()
        assert words in str(raised.value)
    tessera.matmul(a, b, activation="relu", aux=z)
    assert np.array_equal(z, tessera.matmul(a, b))
