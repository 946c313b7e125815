"""An index of patterns: learned, searched, and predicted from."""

import importlib
import json
import os
from types import TracebackType
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, Type, Union

import numpy as np

from hoist._ownership import OwnsResources
from hoist.errors import InvalidArgument, NotFound

if TYPE_CHECKING:
    from hoist import _index

PathLike = Union[str, "os.PathLike[str]"]
Events = Sequence[Sequence[str]]

_MOST = 2**32 - 1  # id, frequency; an index has no more patterns


class Found(Tuple[Any, Any]):
    """(scores, ids) of a search, best first, equal ones by name.

    With `k`: matrices with a row a state, padded with NaN and -1 where fewer were found. Without:
    for each state an array of what it found.
    """

    _hits: Union["_index.Hits", "_KnownNames"]
    _index: Optional["_index.Index"] = None

    @property
    def scores(self) -> Any:
        return self[0]

    @property
    def ids(self) -> Any:
        return self[1]

    def names(self) -> List[List[str]]:
        """Of the patterns that each state found, as they were at the moment of the search."""
        return self._hits.names()

    def patterns(self) -> List[List[List[List[str]]]]:
        """The patterns that each state found, a list of events each. The index must be open; a pickled
        result has none."""
        hits = self._hits
        if self._index is None or isinstance(hits, _KnownNames):
            raise InvalidArgument("a pickled result has names, and no patterns")
        return [
            self._index.patterns(hits, state, 0, _MOST, "events") for state in range(len(self[0]))
        ]

    def __copy__(self) -> "Found":
        return self  # nobody changes it

    def __reduce__(self) -> Any:
        return _found, (self[0], self[1], self.names())


class _KnownNames:
    """The hits of a copy, which stands for itself: the index may be gone."""

    def __init__(self, names: List[List[str]]):
        self._names = names

    def names(self) -> List[List[str]]:
        return self._names


def _found(scores: Any, ids: Any, names: List[List[str]]) -> Found:
    """What a pickled result is read as."""
    found = Found((scores, ids))
    found._hits = _KnownNames(names)
    return found


class Index(OwnsResources):
    """Patterns, each a list of events, an event a list of symbols (str).

        with Index("shop.index") as index:
            name = index.learn([["shoe"], ["sock"], ["hat"]])
            for record in index.predict([["shoe"], ["sock"]], threshold=0.5):
                print(record["name"], record["similarity"], record["future"])

    path: a folder, made where nothing is there yet; None: in memory, gone with the object.
    device: where large segments are searched: "cpu", "cuda:0", "cuda:0,cuda:1", or "auto", a GPU
    once it pays (docs/design/match-gpu.md); answers are the same.
    create: True refuses what is there already, False makes nothing (NotFound).
    read_only: beside a process that writes; it sees what is there now.
    For a new index: search_only (no store: learn_many and learn_arrays fill it, and nothing learns
    one by one), sort (symbols inside events, by code point, in patterns and in states),
    persistence (how many learnings' emotives are kept).
    durability: "batch": what was learned survives the process; "sync": also a power cut.
    max_memory: bytes above which opening and learning are refused (Exhausted).
    sync_patterns, sync_interval: a sync begins after so many recent patterns, or seconds; 0: never.

    What is learned is in the very next query, whoever asks it. Any number of threads may use one
    index. Using it after close() raises InvalidArgument.
    """

    def __init__(
        self,
        path: Optional[PathLike] = None,
        device: str = "auto",
        *,
        create: Optional[bool] = None,
        read_only: bool = False,
        search_only: bool = False,
        sort: bool = True,
        persistence: int = 5,
        durability: str = "batch",
        max_memory: Optional[int] = None,
        sync_patterns: int = 65_536,
        sync_interval: int = 300,
    ):
        folder = "" if path is None else os.fspath(path)
        if path is not None and not folder:
            raise InvalidArgument("an empty path: None keeps the index in memory")
        if create is None:
            create = not read_only and (not folder or not os.path.exists(folder))
        native: Any = importlib.import_module("hoist._index")
        self._native = native
        self._index: "_index.Index" = native.Index(
            folder,
            device,
            create,
            read_only,
            search_only,
            sort,
            persistence,
            durability,
            max_memory,
            sync_patterns,
            sync_interval,
        )

    def __enter__(self) -> "Index":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the folder, once calls that are under way are done. What was learned since the
        last sync is in the store."""
        self._index.close()

    def learn(
        self,
        events: Events,
        name: Optional[str] = None,
        frequency: int = 1,
        emotives: Optional[Mapping[str, float]] = None,
        metadata: Any = None,
    ) -> str:
        """The pattern's name: the given one, else a digest of its events.

        Known patterns gain the frequency and the emotives. metadata: anything that JSON holds; it
        replaces what was there unless it is None. Raises InvalidArgument for fewer than 2 symbols
        or more than 65 535, and for a name that stands for another pattern.
        """
        return self._index.learn(
            events,
            name or "",
            frequency,
            None if emotives is None else dict(emotives),
            "" if metadata is None else _json(metadata),
        )

    def learn_many(
        self,
        patterns: Sequence[Events],
        names: Optional[Sequence[str]] = None,
        frequencies: Optional[Sequence[int]] = None,
        emotives: Optional[Sequence[Optional[Mapping[str, float]]]] = None,
        metadata: Optional[Sequence[Any]] = None,
    ) -> List[str]:
        """Names of the patterns. The others are as many, or None.

        From 4096 patterns on they are made durable together at the end, which takes much less time
        than one by one. Patterns that cannot be learned by themselves are refused before the first
        is learned; a name that is taken leaves those before it. What other threads learn meanwhile
        is durable with them, when this call returns.
        """
        for what in (names, frequencies, emotives, metadata):
            if what is not None and len(what) != len(patterns):
                raise InvalidArgument(f"{len(what)} values for {len(patterns)} patterns")
        texts = None
        if metadata is not None:
            texts = ["" if value is None else _json(value) for value in metadata]
        if emotives is not None:
            emotives = [None if value is None else dict(value) for value in emotives]
        return self._index.learn_many(patterns, names, frequencies, emotives, texts)

    def learn_arrays(
        self,
        symbols: Any,
        offsets: Any,
        event_offsets: Any = None,
        vocabulary: Optional[Sequence[str]] = None,
        frequencies: Any = None,
    ) -> int:
        """Learns patterns that lie one after the other in arrays; how many of them were new.

        symbols: integers, places in `vocabulary`, or without one symbols whose text is the number.
        offsets: one more than patterns; pattern i is symbols[offsets[i]:offsets[i + 1]], each an
        event of its own. With event_offsets it is the events offsets[i]:offsets[i + 1], and event j
        is symbols[event_offsets[j]:event_offsets[j + 1]]. frequencies: one for each pattern.
        """
        return self._index.learn_arrays(
            [
                self._native.ArrayPatterns.of_arrays(
                    _integers(symbols, "symbols"),
                    _integers(offsets, "offsets"),
                    None if event_offsets is None else _integers(event_offsets, "event_offsets"),
                    vocabulary,
                    None if frequencies is None else _frequencies(frequencies),
                )
            ]
        )

    def learn_arrow(self, patterns: Any) -> int:
        """The same for an Arrow array (anything with __arrow_c_array__), or for several of one type
        as a chunked array or another stream (__arrow_c_stream__) has them: a list of symbols a
        pattern, each an event of its own, or a list of lists of symbols. Symbols are strings,
        dictionary-encoded strings, or integers. Nothing may be null."""
        native = self._native.ArrayPatterns
        if hasattr(patterns, "__arrow_c_array__"):
            arrays = [native.of_arrow(patterns.__arrow_c_array__())]
        elif hasattr(patterns, "__arrow_c_stream__"):
            arrays = native.of_arrow_stream(patterns.__arrow_c_stream__())
        else:
            raise TypeError(
                "expected an Arrow array (__arrow_c_array__) or chunks of one "
                f"(__arrow_c_stream__), not {type(patterns).__name__}"
            )
        return self._index.learn_arrays(arrays)

    def predict(
        self,
        state: Events,
        threshold: float = 0.1,
        max_predictions: int = 100,
        rank: str = "potential",
        fuzzy: Optional[float] = None,
        *,
        characters: bool = False,
        affinity_emotive: Optional[str] = None,
        whole_pattern_entropy: bool = False,
        whole_ensemble: bool = False,
    ) -> List[Dict[str, Any]]:
        """Records of the patterns that the state recalls, best first, ties by name.

        Keys and values are those of `hoist match query --json`. threshold: the least similarity,
        0 to 1. rank: a number of a record. fuzzy: above 0, a symbol also matches the most similar
        one if their texts' ratio reaches this, 0 to 1. characters: similarity of the texts joined by
        spaces. affinity_emotive: weighted fields by it. whole_ensemble: not only the best
        max_predictions, but all records of the ensemble, up to three times as many, for a caller
        that ranks them himself.
        """
        if max_predictions < 0:
            raise InvalidArgument(f"max_predictions is {max_predictions}: 0 or more")
        return self._index.predict(
            state,
            _share(threshold, "threshold"),
            min(max_predictions, _MOST),
            rank,
            0.0 if fuzzy is None else _share(fuzzy, "fuzzy"),
            characters,
            affinity_emotive or "",
            whole_pattern_entropy,
            whole_ensemble,
        )

    def search(
        self,
        states: Sequence[Events],
        k: Optional[int] = None,
        threshold: Optional[float] = None,
        scorer: str = "lcs",
        *,
        normalized: bool = True,
    ) -> Found:
        """(scores, ids) of the patterns most similar to each of several states, by one pass.

        With k the best k, in matrices of len(states) rows and k columns, padded with NaN and -1; if
        the index has fewer patterns than k, of as many columns as the state that found most. Without
        k all, in one array a state.
        threshold: the least normalized score, 0 to 1; without one 0 with k, else 0.1.
        scorer: "lcs", "indel", "levenshtein", "kato", "difflib", "difflib-autojunk". Scores are
        float64 in 0 to 1, or with normalized=False what the scorer counts. An id stands for its
        pattern for as long as that is in the index; the result's names() has the names.
        """
        if k is not None and k < 1:
            raise InvalidArgument(f"k is {k}: 1 or more")
        if threshold is None:
            threshold = 0.1 if k is None else 0.0
        hits = self._index.search(states, scorer, _share(threshold, "threshold"), min(k or 0, _MOST))
        scores, ids, ends = hits.arrays(normalized)
        if k is None:
            found = Found((np.split(scores, ends[:-1]), np.split(ids, ends[:-1])))
            if not len(ends):
                found = Found(([], []))
        else:
            counts = np.diff(ends, prepend=0)
            # A k that asks for all patterns takes no columns that no state fills.
            columns = k if k <= len(self) else int(counts.max(initial=0))
            shape = (len(ends), columns)
            filled = np.arange(columns) < counts[:, None]
            padded_scores = np.full(shape, np.nan)
            padded_ids = np.full(shape, -1, dtype=np.int64)
            padded_scores[filled] = scores
            padded_ids[filled] = ids
            found = Found((padded_scores, padded_ids))
        found._hits = hits
        found._index = self._index
        return found

    def names(self, ids: Any) -> List[str]:
        """Of ids that a search gave, in time in proportion to the patterns of the index; the
        result's own names() is faster. NotFound for an id whose pattern is gone."""
        wanted = _integers(np.asarray(ids).reshape(-1), "ids")
        for id in wanted[(wanted < 0) | (wanted > _MOST)][:1]:
            raise NotFound(f"no pattern with the id {id} (-1 pads what a search with k found)")
        return self._index.names(wanted.tolist())

    def name(self, id: int) -> str:
        """The same of one id."""
        return self.names([id])[0]

    def delete(self, name: str) -> None:
        """NotFound where there is no such pattern."""
        self._index.remove(name)

    def metadata(self, name: str) -> Any:
        """What it was learned with; None where there is nothing. NotFound as above."""
        text = self._index.metadata(name)
        return json.loads(text) if text else None

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._index.contains(name)

    def __len__(self) -> int:
        patterns: int = self._index.stats()["patterns"]
        return patterns

    def sync(self) -> None:
        """When it returns, all that was learned before is laid out for the scan."""
        self._index.sync()

    def stats(self) -> Dict[str, Any]:
        """The keys of `hoist match stats --json`, and syncs, last_sync_seconds, last_sync_error, and
        search_device: where large segments are searched now, "cpu" or "cuda:0"."""
        return self._index.stats()

    def verify(self) -> int:
        """Compares memory, snapshot and store; how many patterns. Corrupt where they differ or are
        damaged; opening raises it where something that was acknowledged is missing. `hoist match
        repair` makes a new index of the rest."""
        return self._index.verify()


def _integers(values: Any, what: str) -> Any:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InvalidArgument(f"{what}: a one-dimensional array of integers is needed")
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise InvalidArgument(f"{what}: integers above 2^63 - 1")
    return np.ascontiguousarray(array, dtype=np.int64)


def _frequencies(values: Any) -> Any:
    array = _integers(values, "frequencies")
    if array.size and (array.min() < 1 or array.max() > _MOST):
        raise InvalidArgument("frequencies: 1 to 2^32 - 1")
    return array.astype(np.uint32)


def _share(value: float, what: str) -> float:
    if not 0 <= value <= 1:  # NaN neither
        raise InvalidArgument(f"{what} is {value}: 0 to 1")
    return value


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False)  # which no JSON has
