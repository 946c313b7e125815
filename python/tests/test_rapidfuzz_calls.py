"""How the functions of hoist.rapidfuzz are called: as Python's own functions, and as RapidFuzz's."""

import copy
import functools
import gc
import inspect
import pickle
import weakref

import pytest

from hoist.rapidfuzz import distance, fuzz

FUNCTIONS = [fuzz.ratio, fuzz.WRatio, distance.Levenshtein.distance, distance.Hamming.similarity]
FUNCTIONS += [distance.JaroWinkler.normalized_similarity, distance.OSA.normalized_distance]


@pytest.mark.parametrize("function", FUNCTIONS, ids=repr)
def test_they_are_functions_of_their_module(function):
    module = inspect.importlib.import_module(function.__module__)
    assert getattr(module, function.__name__) is function
    assert function.__qualname__ == function.__name__
    assert function.__name__ in repr(function)
    assert function.__name__ in function.__doc__
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.copy(function) is copy.deepcopy(function) is function
    assert callable(function)
    assert weakref.ref(function)() is function
    assert len({function, function}) == 1


def test_signatures():
    assert list(inspect.signature(fuzz.ratio).parameters) == ["s1", "s2", "processor", "score_cutoff"]
    of = {
        distance.Levenshtein.distance: ("weights", (1, 1, 1)),
        distance.Hamming.distance: ("pad", True),
        distance.JaroWinkler.similarity: ("prefix_weight", 0.1),
    }
    for function, (name, default) in of.items():
        parameters = inspect.signature(function).parameters
        assert list(parameters) == ["s1", "s2", name, "processor", "score_cutoff", "score_hint"]
        assert parameters[name].default == default
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
    assert inspect.signature(distance.OSA.distance).return_annotation is int
    assert inspect.signature(distance.Jaro.distance).return_annotation is float


def test_every_way_to_pass_arguments():
    levenshtein = distance.Levenshtein.distance
    assert levenshtein("kitten", "sitting") == 3
    assert levenshtein("kitten", s2="sitting") == 3
    assert levenshtein(s2="sitting", s1="kitten") == 3
    # Names that are not the interpreter's own copies.
    assert levenshtein(**{"".join(["s", "1"]): "kitten", "".join("s2"): "sitting"}) == 3
    assert levenshtein("a", "b", **{"score_" + "cutoff": 0}) == 1
    assert levenshtein("a", "b", weights=None, processor=None, score_cutoff=None, score_hint=None) == 1
    assert levenshtein("A", "a", processor=str.lower) == 0
    assert functools.partial(levenshtein, weights=(1, 1, 5))("a", "b") == 2
    assert functools.partial(levenshtein, "kitten")("sitting") == 3
    assert isinstance(levenshtein("a", "b"), int)
    assert isinstance(fuzz.ratio("a", "b"), float)


@pytest.mark.parametrize(
    "arguments, named, expected",
    [
        ((), {}, TypeError),
        (("a",), {}, TypeError),
        (("a", "b", "c"), {}, TypeError),
        (("a", "b"), {"s1": "c"}, TypeError),
        (("a", "b"), {"unknown": 1}, TypeError),
        (("a", "b"), {"pad": True}, TypeError),
        (("a", "b"), {"score_cutoff": "x"}, TypeError),
        (("a", "b"), {"score_cutoff": -1}, OverflowError),
        (("a", "b"), {"score_cutoff": float("inf")}, ValueError),
        (("a", "b"), {"weights": (1, 1)}, ValueError),
        (("a", "b"), {"weights": 1}, TypeError),
        (("a", "b"), {"weights": (1, 1, "x")}, ValueError),
        (("a", "b"), {"weights": (1, -1, 1)}, OverflowError),
        (("a", "b"), {"weights": (1, 1, 2**70)}, OverflowError),
        (("a", "b"), {"weights": (2**53 + 1,) * 3}, OverflowError),
        (("a", "b"), {"processor": 7}, TypeError),
        (("a", 5), {}, TypeError),
        (("a", None), {}, TypeError),
        ((iter("a"), "b"), {}, TypeError),
        (([[]], [[]]), {}, TypeError),
    ],
)
def test_wrong_calls_say_so(arguments, named, expected):
    for _ in range(3):  # and lose nothing
        with pytest.raises(expected):
            distance.Levenshtein.distance(*arguments, **named)


def test_what_pad_raises_is_raised():
    class Undecided:
        def __bool__(self):
            raise LookupError("neither")

    with pytest.raises(LookupError):
        distance.Hamming.distance("a", "b", pad=Undecided())


def test_what_processors_and_elements_raise_is_raised():
    class Odd(Exception):
        pass

    def processor(text):
        raise Odd(text)

    class Element:
        def __hash__(self):
            raise Odd("hash")

    with pytest.raises(Odd):
        fuzz.ratio("a", "b", processor=processor)
    with pytest.raises(Odd):
        fuzz.ratio([Element()], ["a"])


def test_attributes_stay_and_nothing_leaks():
    function = copy.copy(fuzz.ratio)
    function.mine = 1
    assert fuzz.ratio.mine == 1
    del function.mine
    with pytest.raises(AttributeError):
        _ = fuzz.ratio.mine

    class Text(str):
        pass

    text = Text("abc")
    gone = weakref.ref(text)
    for _ in range(100):
        fuzz.ratio(text, "abd", processor=lambda t: t + "x", score_cutoff=10.0)
    del text
    gc.collect()
    assert gone() is None


def test_sequences_of_every_width_in_one_pair():
    texts = ["", "a", "abc" * 30, "äöü", "日本語" * 40, "a😀b" * 30, "x" * 300, "日" * 256]
    for a in texts:
        for b in texts:
            assert distance.Levenshtein.distance(a, b) == distance.Levenshtein.distance(list(a), b)
            assert distance.OSA.distance(a, b) == distance.OSA.distance(list(a), tuple(b))
            assert distance.Jaro.similarity(a, b) == distance.Jaro.similarity(list(a), b)
            assert fuzz.ratio(a, b) == fuzz.ratio(tuple(a), list(b))
    assert distance.Indel.distance(b"abc", "abd") == 2
    assert distance.Hamming.distance(b"abcdefghij", [97, 98, 0]) == 8
