"""Losses and normalisations against their formulas in float64."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hoist import graph
from hoist.errors import InvalidArgument

SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=1, max_side=9)
REDUCTIONS = {"mean": np.mean, "sum": np.sum, "none": np.asarray}
NEAR = {"rtol": 3e-5, "atol": 2e-6}


def normal(shape, seed):
    return np.asarray(np.random.default_rng(seed).standard_normal(shape), np.float32)


def uniform(shape, seed):
    return np.asarray(np.random.default_rng(seed).random(shape), np.float32)


def signs(x):
    return np.where(x > 0, 1, -1).astype(np.float32)


def softplus(x):
    return np.log1p(np.exp(-abs(x))) + np.maximum(x, 0)


def huber(x, t, delta):
    d = abs(x - t)
    return np.where(d <= delta, d * d / 2, delta * (d - delta / 2))


def smooth(x, t, beta):
    d = abs(x - t)
    return np.where(d < beta, d * d / (2 * beta), d - beta / 2)


def binary(x, t):
    return -(t * np.log(x) + (1 - t) * np.log(1 - x))


# The formula, and the function with what it needs of x and t.
LOSSES = {
    "mse": (lambda x, t: (x - t) ** 2, lambda *a, **k: graph.mse_loss(*a, **k)),
    "l1": (lambda x, t: abs(x - t), lambda *a, **k: graph.l1_loss(*a, **k)),
    "huber": (
        lambda x, t: huber(x, t, 0.7),
        lambda *a, **k: graph.huber_loss(*a, delta=0.7, **k),
    ),
    "smooth": (
        lambda x, t: smooth(x, t, 0.7),
        lambda *a, **k: graph.smooth_l1_loss(*a, beta=0.7, **k),
    ),
    "logits": (
        lambda x, t: softplus(x) - x * abs(t),
        lambda x, t, **k: graph.binary_cross_entropy_with_logits(x, abs(t), **k),
    ),
    "kl": (
        lambda x, t: np.where(t < 0, 0, abs(t) * (np.log(abs(t)) - x)),
        lambda x, t, **k: graph.kl_div(x, np.maximum(t, 0), **k),
    ),
    "kl of logarithms": (
        lambda x, t: np.exp(t) * (t - x),
        lambda *a, **k: graph.kl_div(*a, log_target=True, **k),
    ),
    "hinge": (
        lambda x, t: np.where(t > 0, x, np.maximum(0, 0.5 - x)),
        lambda x, t, **k: graph.hinge_embedding_loss(x, signs(t), margin=0.5, **k),
    ),
    "soft margin": (
        lambda x, t: softplus(-np.sign(t) * x),
        lambda x, t, **k: graph.soft_margin_loss(x, signs(t), **k),
    ),
    "ranking": (
        lambda x, t: np.maximum(0, -np.sign(t) * (x - t) + 0.2),
        lambda x, t, **k: graph.margin_ranking_loss(x, t, signs(t), margin=0.2, **k),
    ),
    "poisson": (
        lambda x, t: np.exp(x) - t * x,
        lambda *a, **k: graph.poisson_nll_loss(*a, **k),
    ),
    "gaussian": (
        lambda x, t: 0.5 * (np.log(abs(t)) + (x - t) ** 2 / abs(t)),
        lambda x, t, **k: graph.gaussian_nll_loss(x, t, abs(t), **k),
    ),
}


@pytest.mark.parametrize("name", LOSSES)
@settings(max_examples=25, deadline=None)
@given(
    shape=SHAPES, seed=st.integers(0, 2**32), reduction=st.sampled_from(sorted(REDUCTIONS))
)
def test_losses_are_their_formulas(name, shape, seed, reduction):
    formula, loss = LOSSES[name]
    x, t = normal(shape, seed), normal(shape, seed + 1)
    t = np.asarray(np.where(abs(t) < 0.01, 0.5, t), np.float32)
    x, t = np.array(x), np.array(t)
    expected = REDUCTIONS[reduction](formula(x.astype(np.float64), t.astype(np.float64)))
    found = loss(x, np.asarray(t), reduction=reduction)
    np.testing.assert_allclose(found, expected, **NEAR)
    assert found.shape == np.shape(expected)


@settings(max_examples=30, deadline=None)
@given(shape=SHAPES, seed=st.integers(0, 2**32))
def test_binary_cross_entropy(shape, seed):
    x = np.array(uniform(shape, seed) * np.float32(0.98) + np.float32(0.01))
    t, w = np.array(uniform(shape, seed + 1)), np.array(uniform(shape, seed + 2))
    wide = binary(x.astype(np.float64), t.astype(np.float64))
    np.testing.assert_allclose(graph.binary_cross_entropy(x, t), wide.mean(), **NEAR)
    found = graph.binary_cross_entropy(x, t, w, reduction="none")
    np.testing.assert_allclose(found, wide * w, **NEAR)
    logits = normal(shape, seed + 3)
    share = 1 / (1 + np.exp(-logits.astype(np.float64)))
    weighted = -(3 * t * np.log(share) + (1 - t) * np.log(1 - share)) * w
    found = graph.binary_cross_entropy_with_logits(
        np.array(logits), t, w, pos_weight=3.0, reduction="sum"
    )
    np.testing.assert_allclose(found, weighted.sum(), **NEAR)


def test_losses_at_the_limits():
    ones, zeros = np.ones(3, np.float32), np.zeros(3, np.float32)
    assert graph.binary_cross_entropy(ones, zeros) == 100
    assert graph.binary_cross_entropy(ones, ones) == 0
    large = np.array([1000, -1000], np.float32)
    found = graph.binary_cross_entropy_with_logits(large, np.array([1, 1], np.float32), reduction="none")
    assert found.tolist() == [0, 1000]
    assert np.isnan(graph.mse_loss(zeros[:0], zeros[:0])) and graph.mse_loss(zeros[:0], zeros[:0], reduction="sum") == 0
    nan = np.full(3, np.nan, np.float32)
    for name in ("mse_loss", "l1_loss", "huber_loss", "binary_cross_entropy", "kl_div"):
        assert np.isnan(getattr(graph, name)(nan, ones)), name
        assert np.isnan(getattr(graph, name)(ones / 2, nan)), name


def class_case(batch, classes, rest, seed):
    """Logits, classes, and the logarithms of probabilities of the classes in float64."""
    x = normal((*batch, classes, *rest), seed) * 3
    target = np.random.default_rng(seed).integers(0, classes, (*batch, *rest))
    wide = x.astype(np.float64)
    axis = len(batch)
    logs = wide - np.log(np.exp(wide).sum(axis, keepdims=True))
    picked = np.take_along_axis(logs, np.expand_dims(target, axis), axis).squeeze(axis)
    return np.array(x, np.float32), target, logs, picked


@settings(max_examples=60, deadline=None)
@given(
    batch=st.integers(1, 6),
    classes=st.integers(1, 30),
    rest=st.lists(st.integers(1, 4), max_size=2).map(tuple),
    seed=st.integers(0, 2**32),
)
def test_cross_entropy_of_classes(batch, classes, rest, seed):
    x, target, logs, picked = class_case((batch,), classes, rest, seed)
    t = target.astype(np.float32)
    np.testing.assert_allclose(graph.cross_entropy(x, t, reduction="none"), -picked, **NEAR)
    np.testing.assert_allclose(graph.cross_entropy(x, t), -picked.mean(), **NEAR)
    w = np.array(uniform(classes, seed) + np.float32(0.1))
    weights = w[target].astype(np.float64)
    found = graph.cross_entropy(x, t, w)
    np.testing.assert_allclose(found, -(picked * weights).sum() / weights.sum(), **NEAR)
    found = graph.nll_loss(logs.astype(np.float32), t, w, reduction="sum")
    np.testing.assert_allclose(found, -(picked * weights).sum(), **NEAR)
    smooth = -0.8 * picked - 0.2 * logs.mean(1)
    found = graph.cross_entropy(x, t, label_smoothing=0.2, reduction="none")
    np.testing.assert_allclose(found, smooth, **NEAR)
    ignored = np.where(uniform(target.shape, seed) < 0.5, -100, t).astype(np.float32)
    kept = ignored != -100
    if kept.any():
        found = graph.cross_entropy(x, ignored)
        np.testing.assert_allclose(found, -picked[kept].mean(), **NEAR)
    found = graph.cross_entropy(x, ignored, ignore_index=-100, reduction="none")
    np.testing.assert_allclose(found, np.where(kept, -picked, 0), **NEAR)


@settings(max_examples=40, deadline=None)
@given(
    batch=st.integers(1, 6),
    classes=st.integers(1, 30),
    rest=st.lists(st.integers(1, 4), max_size=2).map(tuple),
    seed=st.integers(0, 2**32),
)
def test_cross_entropy_of_probabilities(batch, classes, rest, seed):
    x, _, logs, _ = class_case((batch,), classes, rest, seed)
    p = uniform(x.shape, seed)
    p = np.array(p / p.sum(1, keepdims=True))
    w = uniform(classes, seed + 1)
    by_class = w.reshape(-1, *[1] * len(rest))
    found = graph.cross_entropy(x, p)
    np.testing.assert_allclose(found, -(logs * p).sum(1).mean(), **NEAR)
    found = graph.cross_entropy(x, p, w, label_smoothing=0.1, reduction="sum")
    expected = -(logs * (p * 0.9 + 0.1 / classes) * by_class).sum()
    np.testing.assert_allclose(found, expected, **NEAR)


def test_cross_entropy_of_one_and_of_no_class():
    x, target, _, picked = class_case((), 5, (), 3)
    found = graph.cross_entropy(x, np.array(target, np.float32))
    np.testing.assert_allclose(found, -picked, **NEAR)
    assert graph.cross_entropy(x, np.array(5, np.float32)) == math.inf
    large = np.array([[1000, 0, -1000]], np.float32)
    assert graph.cross_entropy(large, np.array([2], np.float32)) == 2000


@settings(max_examples=30, deadline=None)
@given(shape=st.tuples(*[st.integers(1, 7)] * 2), seed=st.integers(0, 2**32))
def test_losses_of_vectors(shape, seed):
    a, b, c = (normal(shape, seed + i) for i in range(3))
    wa, wb, wc = (one.astype(np.float64) for one in (a, b, c))
    length = np.linalg.norm
    cosine = (wa * wb).sum(1) / (length(wa, axis=1) * length(wb, axis=1))
    near = {"rtol": 1e-4, "atol": 1e-5}
    np.testing.assert_allclose(graph.cosine_similarity(a, b), cosine, **near)
    target = signs(normal(shape[:1], seed + 4))
    expected = np.where(target == 1, 1 - cosine, np.maximum(0, cosine - 0.1)).mean()
    found = graph.cosine_embedding_loss(a, b, target, margin=0.1)
    np.testing.assert_allclose(found, expected, **near)
    near_by, far = length(wa - wb + 1e-6, axis=1), length(wa - wc + 1e-6, axis=1)
    expected = np.maximum(0, near_by - far + 1).mean()
    np.testing.assert_allclose(graph.triplet_margin_loss(a, b, c), expected, **near)


def test_wrong_losses_are_refused():
    x, y = normal((2, 3), 0), normal((2, 1), 1)
    classes = np.zeros(2, np.float32)
    for call in (
        lambda: graph.mse_loss(x, y),
        lambda: graph.l1_loss(x, x, reduction="average"),
        lambda: graph.huber_loss(x, x, delta=0),
        lambda: graph.smooth_l1_loss(x, x, beta=-1),
        lambda: graph.cross_entropy(x, np.zeros(3, np.float32)),
        lambda: graph.cross_entropy(x, classes, np.ones(2, np.float32)),
        lambda: graph.cross_entropy(x, classes, label_smoothing=2),
        lambda: graph.cross_entropy(x, x, np.ones(2, np.float32)),
        lambda: graph.nll_loss(x[0, 0].reshape(()), classes[0].reshape(())),
        lambda: graph.kl_div(x[0, :1].reshape(()), x[0, :1].reshape(()), reduction="batchmean"),
        lambda: graph.cosine_similarity(x, x, axis=2),
        lambda: graph.cosine_embedding_loss(x, x, np.ones(3, np.float32)),
    ):
        with pytest.raises(InvalidArgument):
            call()


def standardised(x, axes, eps):
    wide = x.astype(np.float64)
    centred = wide - wide.mean(axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axes, keepdims=True) + eps)


@settings(max_examples=50, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 5), st.sampled_from([2, 4, 6])),
    rest=st.lists(st.integers(1, 5), max_size=2).map(tuple),
    seed=st.integers(0, 2**32),
)
def test_normalisations_are_their_formulas(shape, rest, seed):
    x = normal((*shape, *rest), seed)
    channels = shape[1]
    mean, weight, bias = (normal(channels, seed + i) for i in (1, 2, 3))
    variance = uniform(channels, seed + 4) + np.float32(0.1)
    near = {"rtol": 1e-4, "atol": 2e-5}

    def wide(parameter):
        return parameter.astype(np.float64).reshape(-1, *[1] * len(rest))

    expected = (x - wide(mean)) / np.sqrt(wide(variance) + 1e-5)
    np.testing.assert_allclose(graph.batch_norm(x, mean, variance), expected, **near)
    found = graph.batch_norm(x, mean, variance, weight, bias)
    np.testing.assert_allclose(found, expected * wide(weight) + wide(bias), **near)
    axes = (0, *range(2, x.ndim))
    expected = standardised(x, axes, 0.1)
    np.testing.assert_allclose(graph.batch_norm(x, training=True, eps=0.1), expected, **near)
    expected = standardised(x.reshape(shape[0], 2, -1), 2, 0.1).reshape(x.shape)
    found = graph.group_norm(x, 2, weight, bias, eps=0.1)
    np.testing.assert_allclose(found, expected * wide(weight) + wide(bias), **near)
    if rest:
        expected = standardised(x, tuple(range(2, x.ndim)), 0.1)
        found = graph.instance_norm(x, weight, bias, eps=0.1)
        np.testing.assert_allclose(found, expected * wide(weight) + wide(bias), **near)
    double = x.astype(np.float64)
    scale = normal(x.shape[-1], seed + 5)
    expected = double / np.sqrt((double**2).mean(-1, keepdims=True) + 1e-3) * scale
    np.testing.assert_allclose(graph.rms_norm(x, scale, eps=1e-3), expected, **near)
    expected = double / np.maximum(np.sqrt((double**2).sum(1, keepdims=True)), 1e-12)
    np.testing.assert_allclose(graph.normalize(x), expected, **near)


def test_kernels_of_losses_and_normalisations():
    def report(function, *arrays):
        call = graph.compile(function)
        call(*arrays)
        return call.report()

    x, one = normal((8, 6, 5, 5), 0), np.ones(6, np.float32)
    classes = np.zeros((8, 5, 5), np.float32)
    assert len(report(lambda x, t: graph.cross_entropy(x, t), x, classes).kernels) <= 2
    assert len(report(lambda x, t: graph.mse_loss(x, t), x, x).kernels) == 1
    rms = report(lambda x, w: graph.rms_norm(x, w), x, np.ones(5, np.float32))
    assert len(rms.kernels) == 1
    batch = report(lambda x, m, v: graph.batch_norm(x, m, v), x, one, one)
    assert batch.nodes_traced == 4 and len(batch.kernels) == 1
    batch = report(lambda x, m, v, w, b: graph.batch_norm(x, m, v, w, b), x, one, one, one, one)
    assert batch.nodes_traced == 6 and len(batch.kernels) == 1
    assert len(report(lambda x, w: graph.group_norm(x, 2, w, w), x, one).kernels) == 1


def test_wrong_normalisations_are_refused():
    x, one = normal((4, 6, 5), 0), np.ones(6, np.float32)
    for call in (
        lambda: graph.batch_norm(x),
        lambda: graph.batch_norm(x, one, one[:5].copy()),
        lambda: graph.batch_norm(x[0, 0].copy(), one, one),
        lambda: graph.group_norm(x, 4),
        lambda: graph.group_norm(x, 0),
        lambda: graph.group_norm(x, 2, one.reshape(1, 6)),
        lambda: graph.instance_norm(x[0].copy()),
        lambda: graph.rms_norm(x[0, 0, :1].reshape(())),
        lambda: graph.normalize(x, axis=3),
    ):
        with pytest.raises(InvalidArgument):
            call()
