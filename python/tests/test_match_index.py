"""hoist.match.Index: what it finds against RapidFuzz and difflib, records against the command."""

import ctypes
import difflib
import hashlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from rapidfuzz import distance

from hoist import errors
from hoist.match import Index

SCORERS = {
    "lcs": distance.LCSseq,
    "indel": distance.Indel,
    "levenshtein": distance.Levenshtein,
}


def random_patterns(random, count, longest=8, alphabet=12, least=2):
    """Events of one to three symbols, sorted as the index has them."""
    patterns = []
    for _ in range(count):
        symbols = [f"s{x}" for x in random.integers(0, alphabet, random.integers(least, longest))]
        events = []
        while symbols:
            size = int(random.integers(1, 4))
            events.append(sorted(symbols[:size]))
            symbols = symbols[size:]
        patterns.append(events)
    return patterns


def flat(events):
    return [symbol for event in events for symbol in event]


def name_of(events):
    return hashlib.sha1(repr(events).encode()).hexdigest()


@pytest.fixture
def random():
    return np.random.default_rng(20261122)


def expected_hits(patterns, state, scorer, threshold):
    """[(normalized, name)], best first, each name once."""
    hits = []
    for name, events in {name_of(events): events for events in patterns}.items():
        if scorer == "difflib":
            score = difflib.SequenceMatcher(None, flat(events), flat(state), False).ratio()
        else:
            score = SCORERS[scorer].normalized_similarity(flat(events), flat(state))
        if score >= threshold:
            hits.append((score, name))
    return sorted(hits, key=lambda hit: (-hit[0], hit[1]))


@pytest.mark.parametrize("scorer", [*SCORERS, "difflib"])
@pytest.mark.parametrize("synced", [False, True])
def test_search_finds_what_comparing_all_finds(random, scorer, synced):
    patterns = random_patterns(random, 300)
    states = random_patterns(random, 12, least=1) + [[["unknown"]]]
    with Index() as index:
        assert index.learn_many(patterns) == [name_of(events) for events in patterns]
        if synced:
            index.sync()
        for threshold in (0, 0.3, 0.5, 1):
            found = index.search(states, threshold=threshold, scorer=scorer)
            scores, ids = found
            for i, state in enumerate(states):
                expected = expected_hits(patterns, state, scorer, threshold)
                assert list(zip(scores[i], found.names()[i])) == expected
                assert index.names(ids[i]) == found.names()[i]
                assert len(ids[i]) == len(set(ids[i])) == len(expected)
        found = index.search(states, k=7, scorer=scorer)
        assert found.scores.shape == found.ids.shape == (len(states), 7)
        for i, state in enumerate(states):
            best = expected_hits(patterns, state, scorer, 0)[:7]
            assert list(zip(found.scores[i], found.names()[i])) == best
        assert index.search([], k=3).scores.shape == (0, 3)
        assert index.search([]) == ([], [])


def test_fewer_than_k_are_padded():
    with Index() as index:
        index.learn_many([[["a"], ["b"]], [["c"], ["d"]], [["e"], ["f"]], [["g"], ["h"]]])
        scores, ids = index.search([[["a"]], [["x"]]], k=3, threshold=0.2)
        assert scores[0, 0] == 0.5 and np.isnan(scores[0, 1:]).all() and np.isnan(scores[1]).all()
        assert ids.tolist() == [[0, -1, -1], [-1, -1, -1]]
        counted = index.search([[["a"]]], scorer="levenshtein", threshold=0.4, normalized=False)
        assert counted.scores[0].tolist() == [1.0]


# Memory is that of the answer: 10^9 columns a state would be 16 GB.
@pytest.mark.parametrize("synced", [False, True])
def test_more_wanted_than_there_are(synced):
    patterns = [[["a"], [str(n)]] for n in range(50)]
    with Index() as index:
        assert index.search([[["a"]]], k=10**9).scores.shape == (1, 0)
        index.learn_many(patterns)
        if synced:
            index.sync()
        index.delete(name_of(patterns[0]))
        states = [[["a"], ["7"]]] * 3
        few = index.search(states, k=49)
        for k in (50, 10**9, 2**31, 2**63, 10**30):
            many = index.search(states, k=k)
            assert many.scores.shape == many.ids.shape == (3, 49)
            assert many.names() == few.names() and (many.scores == few.scores).all()
        few = index.search(states * 1000, k=10**9, threshold=0.9)
        assert few.scores.shape == (3000, 1)  # 49 patterns, of which a state finds one
        with pytest.raises(errors.InvalidArgument, match="k is 0: 1 or more"):
            index.search(states, k=0)
        for most in (10**9, 2**63, 10**30):
            assert len(index.predict(states[0], max_predictions=most)) == 49


def test_a_pattern_has_a_name_a_frequency_emotives_and_metadata(tmp_path):
    with Index(tmp_path / "index") as index:
        events = [["b", "a"], [], ["c"]]
        name = index.learn(events, emotives={"joy": 1}, metadata={"source": ["x", 1]})
        assert name == name_of([["a", "b"], ["c"]])
        assert index.learn(events, frequency=4, emotives={"joy": 0.5, "fear": 2}) == name
        assert index.learn([["x"], ["y"]], name="mine") == "mine"
        assert name in index and "mine" in index and "other" not in index and 3 not in index
        assert len(index) == 2
        assert index.metadata(name) == {"source": ["x", 1]} and index.metadata("mine") is None
        record = index.predict([["a", "b"]])[0]
        assert record["frequency"] == 5 and record["emotives"] == {"joy": 0.75, "fear": 2.0}
        mine = index.search([[["x"]]]).ids[0][0]
        assert index.name(mine) == "mine"
        index.delete("mine")
        with pytest.raises(errors.NotFound):
            index.name(mine)
        assert "mine" not in index and len(index) == 1
        with pytest.raises(errors.NotFound):
            index.delete("mine")
        with pytest.raises(LookupError):
            index.metadata("mine")
    with Index(tmp_path / "index", read_only=True) as index:
        assert len(index) == 1 and index.verify() == 1
        assert index.stats()["frequencies"] == 5
        with pytest.raises(errors.Unavailable):
            index.learn([["p"], ["q"]])


def test_records_are_those_of_the_command(tmp_path, random):
    build = os.environ.get("HOIST_BUILD_DIR")
    if not build or not Path(build, "libexec/hoist/hoist-match").exists():
        pytest.skip("no build of the command")
    path = str(tmp_path / "index")
    emotives = [{"joy": float(i % 7) / 3} if i % 3 else None for i in range(200)]
    with Index(path) as index:
        index.learn_many(random_patterns(random, 200), emotives=emotives)
        states = random_patterns(random, 10) + [[["s3"]], [["unknown"], ["s1"]], [["ß", "s1"]]]
        for state in states:
            for keywords in ({}, {"threshold": 0.4}, {"rank": "frequency"}, {"fuzzy": 0.5},
                             {"max_predictions": 3}):  # fmt: skip
                options = {"max_predictions": "top"}
                arguments = [
                    text
                    for key, value in keywords.items()
                    for text in (f"--{options.get(key, key)}", str(value))
                ]
                printed = subprocess.run(
                    [f"{build}/bin/hoist", "match", "query", path, "--json", "--state",
                     json.dumps(state), *arguments],
                    check=True, stdout=subprocess.PIPE,
                )  # fmt: skip
                records = json.loads(printed.stdout)
                ours = index.predict(state, **keywords)
                assert ours == records
                assert [list(record) for record in ours] == [list(record) for record in records]


def test_arrays_give_the_same_index_as_lists(random):
    patterns = random_patterns(random, 500)
    vocabulary = sorted({symbol for events in patterns for symbol in flat(events)})
    places = {symbol: place for place, symbol in enumerate(vocabulary)}
    symbols = np.array([places[s] for events in patterns for s in flat(events)], np.int32)
    sizes = [len(event) for events in patterns for event in events]
    event_offsets = np.cumsum([0, *sizes])
    offsets = np.cumsum([0] + [len(events) for events in patterns]).astype(np.uint16)
    frequencies = random.integers(1, 9, len(patterns))
    by_lists, by_arrays = Index(), Index()
    names = by_lists.learn_many(patterns, frequencies=frequencies.tolist())
    new = by_arrays.learn_arrays(symbols, offsets, event_offsets, vocabulary, frequencies)
    assert new == len(set(names)) == len(by_arrays)
    states = random_patterns(random, 10)
    assert [by_arrays.predict(state) for state in states] == [
        by_lists.predict(state) for state in states
    ]
    flat_index = Index()
    token_offsets = np.cumsum([0] + [len(flat(events)) for events in patterns])
    flat_index.learn_arrays(symbols, token_offsets)
    name = name_of([[str(places[s])] for s in flat(patterns[0])])
    assert name in flat_index


def test_a_large_bulk_is_learned_and_kept(tmp_path, random):
    patterns = random_patterns(random, 6000, alphabet=40)
    names = [f"name {i}" for i in range(6000)]
    with Index(tmp_path / "index") as index:
        assert index.learn_many(patterns, names=names, metadata=list(range(6000))) == names
        assert index.stats()["recent_patterns"] == 0
        index.learn([["later"], ["on"]])
    with Index(tmp_path / "index") as index:
        assert len(index) == index.verify() == 6001
        assert index.metadata("name 17") == 17
    with Index(tmp_path / "search", search_only=True) as index:
        index.learn_many(patterns[:50])
        with pytest.raises(errors.Unsupported):
            index.learn([["a"], ["b"]])


def test_arrow_arrays(random):
    pyarrow = pytest.importorskip("pyarrow")
    patterns = random_patterns(random, 100)
    by_lists = Index()
    by_lists.learn_many(patterns)
    states = random_patterns(random, 5)
    expected = [by_lists.predict(state) for state in states]
    for text in (pyarrow.string(), pyarrow.large_string()):
        for nested in (pyarrow.list_, pyarrow.large_list):
            index = Index()
            arrow = pyarrow.array(patterns, nested(nested(text)))
            index.learn_arrow(arrow[:40])
            index.learn_arrow(arrow[40:])
            assert [index.predict(state) for state in states] == expected
            chunked = Index()
            assert chunked.learn_arrow(pyarrow.chunked_array([arrow[:40], arrow[40:]])) == len(index)
            assert [chunked.predict(state) for state in states] == expected
    tokens = [flat(events) for events in patterns]
    plain, coded, numbers = Index(), Index(), Index()
    plain.learn_many([[[token] for token in row] for row in tokens])
    coded_values = pyarrow.array(flat(tokens)).dictionary_encode()
    offsets = np.cumsum([0] + [len(row) for row in tokens]).astype(np.int32)
    coded.learn_arrow(pyarrow.ListArray.from_arrays(offsets, coded_values))
    assert len(plain) == len(coded)
    numbers.learn_arrow(pyarrow.array([[1, 2], [3, 4, 5]], pyarrow.list_(pyarrow.uint8())))
    assert name_of([["1"], ["2"]]) in numbers
    for wrong in (pyarrow.array([["a", None]]), pyarrow.array([["a", "b"], None]),
                  pyarrow.array(["a"]), pyarrow.array([[0.5, 1.5]])):  # fmt: skip
        with pytest.raises(errors.Unsupported):
            Index().learn_arrow(wrong)


def test_one_state_is_no_list_of_states():
    with Index() as index:
        index.learn([["shoe"], ["sock"]])
        for call in (index.search, index.learn_many):
            with pytest.raises(TypeError, match="goes into a list of its own"):
                call([["shoe"], ["sock"]])
        assert len(index.search([[["shoe"], ["sock"]]]).names()) == 1


class ArrowSchema(ctypes.Structure):
    pass


class ArrowArray(ctypes.Structure):
    pass


ArrowSchema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowSchema))),
    ("dictionary", ctypes.POINTER(ArrowSchema)), ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]  # fmt: skip
ArrowArray._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))),
    ("dictionary", ctypes.POINTER(ArrowArray)), ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]  # fmt: skip


class Arrow:
    """One array of the C data interface, without a library that makes them."""

    def __init__(self, format, length, offset, buffers, child=None, dictionary=None):
        self._kept = [np.ascontiguousarray(b) if b is not None else None for b in buffers]
        self._parts = (child, dictionary)
        pointers = [None if b is None else b.ctypes.data for b in self._kept]
        self._buffers = (ctypes.c_void_p * len(pointers))(*pointers)
        self._name = format.encode()
        some = 1  # released by nobody: any address says that it is there
        self.schema = ArrowSchema(self._name, None, None, 0, 0, None, None, some, None)
        nulls = 0 if buffers[0] is None else -1
        self.array = ArrowArray(
            length, nulls, offset, len(pointers), 0, self._buffers, None, None, some, None
        )
        for part, kind in ((self.schema, ArrowSchema), (self.array, ArrowArray)):
            which = "schema" if kind is ArrowSchema else "array"
            if child is not None:
                children = (ctypes.POINTER(kind) * 1)(ctypes.pointer(getattr(child, which)))
                self._kept.append(children)
                part.n_children = 1
                part.children = children
            if dictionary is not None:
                part.dictionary = ctypes.pointer(getattr(dictionary, which))

    def __arrow_c_array__(self):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return (
            new(ctypes.addressof(self.schema), b"arrow_schema", None),
            new(ctypes.addressof(self.array), b"arrow_array", None),
        )


def test_slices_of_arrow_arrays():
    """An offset at every level; what is null or wrong outside of a slice is not looked at."""
    text = np.frombuffer(b"xxaabbccddee", np.uint8)
    ends = np.array([0, 2, 4, 6, 8, 10, 12], np.int32)
    valid = np.array([0b1110], np.uint8)  # the first is null
    texts = Arrow("u", 5, 1, [None, ends, text])  # aa bb cc dd ee
    numbers = Arrow("s", 5, 2, [None, np.array([9, 9, 1, 2, 3, 4, 5], np.int16)])
    dictionary = Arrow("u", 4, 2, [None, ends, text])  # bb cc dd ee
    coded = Arrow("c", 5, 1, [None, np.array([99, 3, 2, 1, 0, 3], np.int8)], None, dictionary)
    wanted = {
        texts: [["aa", "bb"], ["cc", "dd", "ee"]],
        numbers: [["1", "2"], ["3", "4", "5"]],
        coded: [["ee", "dd"], ["cc", "bb", "ee"]],
    }
    for symbols, expected in wanted.items():
        index = Index()
        lists = Arrow("+l", 2, 1, [valid, np.array([-7, 0, 2, 5], np.int32)], symbols)
        assert index.learn_arrow(lists) == 2
        assert all(name_of([[symbol] for symbol in row]) in index for row in expected)
        # Lists of lists: the events are those of `lists`, of which the last is a pattern's first.
        index = Index()
        events = Arrow("+L", 3, 1, [valid, np.array([-7, 0, 2, 4, 5], np.int64)], symbols)
        nested = Arrow("+l", 1, 2, [None, np.array([0, 0, 1, 3], np.int32)], events)
        assert index.learn_arrow(nested) == 1
        flat_row = [symbol for row in expected for symbol in row]
        assert name_of([sorted(flat_row[2:4]), flat_row[4:]]) in index
    with pytest.raises(errors.Unsupported, match="nulls"):
        Index().learn_arrow(
            Arrow("+l", 3, 0, [valid, np.array([0, 0, 2, 5], np.int32)], texts)
        )


class ArrowStream:
    """Arrays of one type, one after the other; with `fails`, something is wrong after them."""

    def __init__(self, arrays, fails=False):
        self._left = list(arrays)
        self.released = 0
        function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        text = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
        release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

        def copy(structure, out):
            ctypes.memmove(out, ctypes.addressof(structure), ctypes.sizeof(structure))
            type(structure).from_address(out).release = ctypes.cast(self._release, ctypes.c_void_p)
            return 0

        def get_next(_, out):
            if self._left:
                return copy(self._left.pop(0).array, out)
            ctypes.memset(out, 0, ctypes.sizeof(ArrowArray))
            return 5 if fails else 0

        def released(_):
            self.released += 1

        self._kept = arrays
        self._release = release(released)
        self._error = ctypes.create_string_buffer(b"the wire was cut")
        self._functions = (
            function(lambda _, out: copy(arrays[0].schema, out)), function(get_next),
            text(lambda _: ctypes.addressof(self._error)), self._release,
        )  # fmt: skip
        self._stream = (ctypes.c_void_p * 5)(
            *(ctypes.cast(each, ctypes.c_void_p).value for each in self._functions)
        )

    def __arrow_c_stream__(self):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self._stream), b"arrow_array_stream", None)


def numbers_of(*patterns):
    values = np.array(flat(patterns), np.int32)
    ends = np.cumsum([0, *map(len, patterns)]).astype(np.int32)
    return Arrow("+l", len(patterns), 0, [None, ends], Arrow("i", len(values), 0, [None, values]))


def test_streams_of_arrow_arrays():
    arrays = [numbers_of([1, 2], [3, 4]), numbers_of(), numbers_of([5, 6, 7]), numbers_of([1, 2])]
    stream = ArrowStream(arrays)
    index = Index()
    assert index.learn_arrow(stream) == 3
    for row in ([1, 2], [3, 4], [5, 6, 7]):
        assert name_of([[str(symbol)] for symbol in row]) in index
    assert stream.released == len(arrays) + 1  # and the schema
    assert Index().learn_arrow(ArrowStream([numbers_of()])) == 0
    many = [numbers_of(*([i, i + j] for i in range(3000))) for j in (1, 2)]  # a bulk
    assert index.learn_arrow(ArrowStream(many)) == 6000 - 2  # which are known

    failing = Index()
    with pytest.raises(errors.InvalidArgument, match="the wire was cut"):
        failing.learn_arrow(ArrowStream(arrays, fails=True))
    assert len(failing) == 0
    with pytest.raises(errors.InvalidArgument, match="pattern 3"):  # of all
        failing.learn_arrow(ArrowStream([arrays[0], numbers_of([1, 2, 3], [4])]))
    assert len(failing) == 3
    with pytest.raises(errors.Unsupported, match="patterns are lists"):
        failing.learn_arrow(ArrowStream([Arrow("i", 0, 0, [None, np.zeros(1, np.int32)])]))
    for wrong in ([[1, 2]], None):
        with pytest.raises(TypeError, match="__arrow_c_stream__"):
            failing.learn_arrow(wrong)


def test_what_is_wrong_is_said(tmp_path):
    with pytest.raises(errors.Error):
        Index(device="cuda:99")
    with pytest.raises(errors.InvalidArgument, match="no such device"):
        Index(device="tpu")
    with pytest.raises(errors.InvalidArgument):
        Index("")
    with pytest.raises(errors.NotFound):
        Index(tmp_path / "none", create=False)
    with pytest.raises(errors.NotFound):
        Index(tmp_path / "none", read_only=True)
    with pytest.raises(errors.InvalidArgument):
        Index(tmp_path, create=True)
    with pytest.raises(errors.InvalidArgument, match="durability"):
        Index(durability="none")
    index = Index()
    for events in ([["a"]], [[]], []):
        with pytest.raises(errors.InvalidArgument):
            index.learn(events)
    for events in ("ab", ["ab", "c"], [["a", 3]], [b"ab"], 3):
        with pytest.raises(TypeError):
            index.learn(events)
        with pytest.raises(TypeError):
            index.predict(events)
    with pytest.raises(TypeError):  # one state where several are asked for
        index.search([["a"], ["b"]])
    with pytest.raises(ValueError):
        index.learn([["\ud800", "a"]])
    with pytest.raises(errors.InvalidArgument, match="frequency"):
        index.learn([["a"], ["b"]], frequency=0)
    with pytest.raises(errors.InvalidArgument, match="pattern 1"):
        index.learn_many([[["a", "b"]], [["c"]]])
    assert len(index) == 0
    with pytest.raises(errors.InvalidArgument):
        index.learn_many([[["a", "b"]]], names=[])
    index.learn([["a"], ["b"]], name="x")
    with pytest.raises(errors.InvalidArgument, match="another pattern"):
        index.learn([["a"], ["c"]], name="x")
    for keywords in ({"scorer": "none"}, {"k": 0}):
        with pytest.raises(errors.InvalidArgument):
            index.search([[["a"]]], **keywords)
    with pytest.raises(errors.InvalidArgument, match="rank"):
        index.predict([["a"], ["b"]], rank="none")
    nan = float("nan")
    for keywords in ({"threshold": nan}, {"threshold": -0.1}, {"threshold": 1.5}, {"fuzzy": nan},
                     {"fuzzy": 2}, {"max_predictions": -1}):  # fmt: skip
        with pytest.raises(errors.InvalidArgument):
            index.predict([["a"], ["b"]], **keywords)
    for threshold in (nan, -0.1, 1.5):
        with pytest.raises(errors.InvalidArgument, match="threshold"):
            index.search([[["a"]]], threshold=threshold)
    with pytest.raises(errors.InvalidArgument, match="emotive"):
        index.learn([["a"], ["b"]], emotives={"joy": nan})
    with pytest.raises(ValueError, match="JSON"):
        index.learn([["a"], ["b"]], metadata={"n": nan})
    for ids in ([-1], [2**32], [[0, -1]]):
        with pytest.raises(errors.NotFound, match="no pattern with the id"):
            index.names(ids)
    for frequencies in ([-1], [0], [2**32]):
        with pytest.raises(errors.InvalidArgument, match="frequencies"):
            index.learn_arrays([0, 1], [0, 2], frequencies=frequencies)
    with pytest.raises(errors.InvalidArgument, match="2\\^63"):
        index.learn_arrays(np.array([2**63, 1], dtype=np.uint64), [0, 2])
    with pytest.raises(errors.InvalidArgument, match="65536 symbols"):
        index.learn_arrays(np.arange(65536), [0, 65536])
    assert len(index) == 1 and index.stats()["frequencies"] == 1
    for symbols, offsets in (([0, 1], [0, 3]), ([0, 1], [1, 0]), ([0, 1], [-1, 2]), ([0, 1], []),
                             ([0, 5], [0, 2]), ([0.5, 1], [0, 2])):  # fmt: skip
        with pytest.raises(errors.InvalidArgument):
            index.learn_arrays(symbols, offsets, vocabulary=["a", "b"])
    index.close()
    index.close()
    with pytest.raises(errors.InvalidArgument, match="closed"):
        index.predict([["a"]])
    with pytest.raises(errors.Exhausted):
        small = Index(max_memory=1)
        small.learn([["a"], ["b"]])


def test_emotives_are_ordered_by_name_whatever_their_order():
    index = Index()
    index.learn([["a"], ["b"]], emotives={"zest": 1.0, "anger": 2.0})
    (record,) = index.predict([["a"], ["b"]])
    assert list(record["emotives"].items()) == [("anger", 2.0), ("zest", 1.0)]


def test_any_number_of_predictions_may_be_asked_for():
    index = Index()
    index.learn_many([[["a"], [f"b{i}"]] for i in range(9)])
    most = 2**64 // 3 + 1  # three times this is 2 in 64 bits
    assert len(index.predict([["a"], ["c"]], max_predictions=most)) == 9


def test_threads_query_while_one_learns_and_syncs(tmp_path, random):
    """What was learned is in the next query of any thread, and no answer is torn."""
    patterns = random_patterns(random, 1500, alphabet=30)
    known = {name_of(events): flat(events) for events in patterns}
    learned = []
    wrong = []
    done = threading.Event()
    with Index(tmp_path / "index") as index:

        def query(seed):
            choose = np.random.default_rng(seed)
            while not done.is_set():
                if not learned:
                    continue
                events = learned[choose.integers(0, len(learned))]
                for record in index.predict(events, threshold=0.99):
                    if known[record["name"]] != flat(record["sequence"]):
                        wrong.append(record)
                found = index.search([events, events], k=1)
                if found.scores[0, 0] != 1.0 or found.names()[0] != found.names()[1]:
                    wrong.append(found)

        threads = [threading.Thread(target=query, args=(seed,)) for seed in range(3)]
        for thread in threads:
            thread.start()
        for i, events in enumerate(patterns):
            index.learn(events)
            learned.append(events)
            if i % 500 == 250:
                index.sync()
        done.set()
        for thread in threads:
            thread.join()
        assert not wrong
        assert len(index) == len(known) == index.verify()


def test_closing_waits_for_nobody_and_breaks_nobody(random):
    index = Index()
    index.learn_many(random_patterns(random, 2000))
    states = random_patterns(random, 20)
    ends = []

    def query():
        try:
            while True:
                for state in states:
                    index.predict(state)
        except errors.InvalidArgument as error:
            ends.append(str(error))

    threads = [threading.Thread(target=query) for _ in range(3)]
    for thread in threads:
        thread.start()
    index.close()
    for thread in threads:
        thread.join()
    assert ends == ["the index is closed"] * 3


def test_without_a_store_it_may_lie_where_nobody_writes(tmp_path):
    """As it is, and as made before there were ledgers."""
    index = tmp_path / "index"
    lines = tmp_path / "lines"
    lines.write_text("a b c\n")
    tool = Path(os.environ["HOIST_BUILD_DIR"], "libexec/hoist/hoist-match")
    build = [tool, "build", "--format", "lines", "--no-store", "-i", lines, "-o", index]
    subprocess.run(build, check=True, capture_output=True)
    use = f"from hoist import match; print(len(match.Index({str(index)!r})))"
    script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && exec "$2" -c "$3"'
    for ledger in (True, False):
        if not ledger:
            (index / "ledger").unlink()
        done = subprocess.run(
            ["unshare", "-rm", "sh", "-c", script, "sh", index, sys.executable, use],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if "unshare" in done.stderr or "mount" in done.stderr:
            pytest.skip(done.stderr)
        assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr


def test_the_whole_ensemble():
    """Three times as many as are wanted, by what the potential has without the other records."""
    random = np.random.default_rng(9)
    with Index() as index:
        index.learn_many(random_patterns(random, 300))
        state = [["s1"], ["s2", "s3"], ["s4"]]

        def own_potential(record):
            whole = 0 if record["fragmentation"] == -1 else 1 / (record["fragmentation"] + 1)
            return (record["evidence"] + record["confidence"]) * record["snr"] + whole

        every = index.predict(state, max_predictions=len(index))
        assert len(every) > 60
        ordered = sorted(every, key=lambda record: (-own_potential(record), record["name"]))
        for best in (1, 5, 20, len(index)):
            got = index.predict(state, max_predictions=best, whole_ensemble=True)
            assert {one["name"] for one in got} == {one["name"] for one in ordered[: 3 * best]}
            alone = index.predict(state, max_predictions=best)
            assert [one["name"] for one in got[:best]] == [one["name"] for one in alone]
        assert index.predict(state, max_predictions=0, whole_ensemble=True) == []
