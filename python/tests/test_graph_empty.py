"""Arrays without elements: their text, reshape() with -1, parts along an axis of length 0."""

import numpy as np
import pytest

from hoist import errors, graph


@pytest.mark.parametrize("shape", [(2**62, 2**62, 0), (0, 2**62), (2**40, 0), (0,), (0, 3)])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool"])
def test_text(shape, dtype):
    array = graph.zeros(shape, dtype=dtype)
    of_shape = f"shape={shape}, " if len(shape) > 1 else ""
    assert repr(array) == f"array([], {of_shape}dtype={dtype})"


@pytest.mark.parametrize("shape", [(0, -1), (-1, 0), (3, 0, -1)])
def test_reshape_with_two_unknowns_is_refused(shape):
    with pytest.raises(ValueError):
        np.zeros((0, 3)).reshape(shape)
    with pytest.raises(errors.InvalidArgument, match="reshape"):
        graph.zeros((0, 3)).reshape(*shape)
    with pytest.raises(errors.InvalidArgument, match="-1 beside 0"):
        graph.reshape(np.zeros((0, 3)), shape)
    with pytest.raises(errors.InvalidArgument, match="reshape of"):
        graph.reshape(np.zeros((3, 1)), shape)


@pytest.mark.parametrize("shape", [(-1,), (-1, 3), (0, 4), (3, -1), (0,)])
def test_reshape_is_numpys(shape):
    expected = np.zeros((0, 3)).reshape(shape).shape
    assert graph.zeros((0, 3)).reshape(*shape).shape == expected
    assert graph.reshape(np.zeros((0, 3)), shape).shape == expected


def test_the_refused_shape_is_the_given_one():
    with pytest.raises(errors.InvalidArgument, match=r"\(2, 3\) to \(4, -1\)"):
        graph.reshape(np.zeros((2, 3)), (4, -1))


def test_parts_along_an_axis_of_length_0():
    for _ in range(2):
        assert graph.unstack(np.zeros((0, 2))) == ()
        assert graph.unstack(graph.zeros((2, 0)), axis=1) == ()
    joined = graph.compile(lambda x: graph.concat([*graph.unstack(x), graph.zeros(2)]))
    assert joined(np.zeros((0, 2))).tolist() == [0, 0]
    with pytest.raises(graph.TraceError, match="returns no array"):
        graph.compile(graph.unstack)(np.zeros((0, 2)))
