"""Functions that move elements, against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hoist import graph
from hoist.errors import InvalidArgument

SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=6)
MODES = {"constant": "constant", "replicate": "edge", "reflect": "reflect", "circular": "wrap"}


def counted(shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) - 3


def same(found, expected):
    expected = np.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)


@settings(max_examples=80, deadline=None)
@given(shape=SHAPES, data=st.data())
def test_order_is_numpys(shape, data):
    x = counted(shape)
    axes = st.integers(-len(shape), len(shape) - 1)
    axis, other = data.draw(axes), data.draw(axes)
    several = data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1).map(tuple))
    shift = data.draw(st.integers(-15, 15))
    for given_axes in (None, axis, several):
        same(graph.flip(x, axis=given_axes), np.flip(x, given_axes))
        same(graph.roll(x, shift, axis=given_axes), np.roll(x, shift, given_axes))
    shifts = tuple(shift + i for i in range(len(several)))
    same(graph.roll(x, shifts, axis=several), np.roll(x, shifts, several))
    same(graph.swapaxes(x, axis, other), np.swapaxes(x, axis, other))
    same(graph.moveaxis(x, axis, other), np.moveaxis(x, axis, other))
    places = data.draw(st.permutations(several))
    same(graph.moveaxis(x, several, tuple(places)), np.moveaxis(x, several, places))
    same(graph.roll(x > 0, shift, axis=axis), np.roll(x > 0, shift, axis))


@settings(max_examples=80, deadline=None)
@given(shape=SHAPES, data=st.data(), count=st.integers(0, 3))
def test_repetition_is_numpys(shape, data, count):
    x = counted(shape)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    same(graph.repeat(x, count, axis=axis), np.repeat(x, count, axis))
    same(graph.repeat(x, count), np.repeat(x, count))
    counts = data.draw(st.lists(st.integers(0, 3), max_size=5))
    same(graph.tile(x, counts), np.tile(x, counts))


@settings(max_examples=80, deadline=None)
@given(shape=SHAPES, data=st.data(), size=st.integers(1, 7))
def test_parts_are_numpys(shape, data, size):
    x = counted(shape)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    extent = shape[axis]
    parts = graph.split(x, size, axis=axis)
    expected = np.split(x, range(size, extent, size), axis)
    assert len(parts) == len(expected)
    for found, wanted in zip(parts, expected):
        same(found, wanted)
    if extent:
        sections = (1, extent - 1, 0)
        for found, wanted in zip(graph.split(x, sections, axis=axis), np.split(x, [1, extent], axis)):
            same(found, wanted)
        parts = graph.unstack(x, axis=axis)
        assert len(parts) == extent
        for i, found in enumerate(parts):
            same(found, np.take(x, i, axis))
        same(graph.diff(x, axis=axis, n=2 if extent > 1 else 1), np.diff(x, 2 if extent > 1 else 1, axis))


@settings(max_examples=80, deadline=None)
@given(
    shape=hnp.array_shapes(min_dims=2, max_dims=4, min_side=0, max_side=7), k=st.integers(-9, 9)
)
def test_triangles_and_diagonals_are_numpys(shape, k):
    x = counted(shape)
    x[x == 0] = np.nan
    same(graph.tril(x, k=k), np.tril(x, k))
    same(graph.triu(x, k=k), np.triu(x, k))
    same(graph.tril(x > 0, k=k), np.tril(x > 0, k))
    rows, columns = shape[-2:]
    if -rows <= k <= columns:
        same(graph.diagonal(x, offset=k), np.diagonal(x, k, -2, -1).copy())


@settings(max_examples=120, deadline=None)
@given(shape=SHAPES, data=st.data(), mode=st.sampled_from(sorted(MODES)))
def test_padding_is_numpys(shape, data, mode):
    x = counted(shape)
    if mode != "constant" and 0 in shape:
        return
    most = {"reflect": min(shape) - 1, "circular": min(shape)}.get(mode, 4)
    pairs = st.tuples(st.integers(0, most), st.integers(0, most))
    widths = data.draw(st.lists(pairs, max_size=len(shape)))
    flat = [one for pair in widths for one in pair]  # the last axis first
    whole = [(0, 0)] * (len(shape) - len(widths)) + widths[::-1]
    keywords = {"constant_values": 2.5} if mode == "constant" else {}
    found = graph.pad(x, flat, mode=mode, value=2.5)
    same(found, np.pad(x, whole, mode=MODES[mode], **keywords))
    if mode == "constant":
        same(graph.pad(x > 0, flat), np.pad(x > 0, whole))


def test_negative_padding_cuts():
    x = counted((3, 6))
    same(graph.pad(x, (-1, 2)), np.pad(x[:, 1:], ((0, 0), (0, 2))))
    same(graph.pad(x, (-4, 2), mode="replicate"), np.pad(x[:, 4:], ((0, 0), (0, 2)), mode="edge"))
    same(graph.pad(x, (-2, -3, -1, 0)), x[1:, 2:3])


def test_shapes_for_several():
    a, b, c = counted((3,)), counted((4,)), counted((2,))
    for indexing in ("xy", "ij"):
        expected = np.meshgrid(a, b, c, indexing=indexing)
        for found, wanted in zip(graph.meshgrid(a, b, c, indexing=indexing), expected):
            same(found, wanted)
    x, y = counted((2, 1, 3)), counted((4, 1))
    for found, wanted in zip(graph.broadcast_arrays(x, y), np.broadcast_arrays(x, y)):
        same(found, wanted.copy())
    same(graph.flatten(counted((2, 3, 4)), start_dim=1), counted((2, 12)))
    same(graph.flatten(counted((2, 3, 4)), end_dim=-2), counted((6, 4)))
    same(graph.flatten(np.zeros((2, 0, 3), np.float32)), np.zeros(0, np.float32))


def test_wrong_arguments_are_refused():
    x = counted((2, 3))
    for call in (
        lambda: graph.flip(x, axis=2),
        lambda: graph.flip(x, axis=(0, -2)),
        lambda: graph.roll(x, 1, axis=-3),
        lambda: graph.roll(x, (1, 2), axis=0),
        lambda: graph.roll(x, (1, 2)),
        lambda: graph.repeat(x, -1),
        lambda: graph.tile(x, (-1, 2)),
        lambda: graph.split(x, 0),
        lambda: graph.split(x, (1, 1, 1)),
        lambda: graph.split(x, (3, -1)),
        lambda: graph.unstack(x, axis=2),
        lambda: graph.moveaxis(x, (0, 1), 0),
        lambda: graph.swapaxes(x, 0, 2),
        lambda: graph.flatten(x, start_dim=1, end_dim=0),
        lambda: graph.meshgrid(x, x),
        lambda: graph.meshgrid(x[0].copy(), indexing="yx"),
        lambda: graph.broadcast_arrays(x, counted((2, 4))),
        lambda: graph.tril(x[0].copy()),
        lambda: graph.diagonal(x[0].copy()),
        lambda: graph.diff(x, n=-1),
        lambda: graph.pad(x, (1,)),
        lambda: graph.pad(x, (1, 1, 1, 1, 1, 1)),
        lambda: graph.pad(x, (1, 1), mode="edge"),
        lambda: graph.pad(x, (3, 0), mode="reflect"),
        lambda: graph.pad(x, (4, 0), mode="circular"),
        lambda: graph.pad(x, (-2, -2)),
        lambda: graph.pad(counted((0,)), (1, 0), mode="replicate"),
    ):
        with pytest.raises(InvalidArgument):
            call()
