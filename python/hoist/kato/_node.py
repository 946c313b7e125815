"""The patterns of one knowledge base: an index beside KATO's ClickHouse table."""

import threading
import time
from typing import Any, Collection, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from hoist.kato._settings import Settings
from hoist.match import Index

Events = List[List[str]]
Row = Tuple[str, Events]

FINGERPRINT = (
    "count(), groupBitXor(reinterpretAsUInt64(right(name, 8))),"
    " groupBitXor(reinterpretAsUInt64(left(right(name, 16), 8)))"
)


class Fingerprint(NamedTuple):
    """Of the names in a table: their number, and the XOR of their ends.

    KATO's names end in hexadecimal digits of a SHA-1, so 16 of them are as good as a hash.
    """

    rows: int
    ends: int

    def with_name(self, name: str) -> "Fingerprint":
        end = name.encode()[-16:]
        low = int.from_bytes(end[-8:], "little")
        return Fingerprint(self.rows + 1, self.ends ^ low ^ int.from_bytes(end[:8], "little") << 64)


class Node:
    """Filled from the table when it is first asked; thread-safe.

    What this process learns is added at once, whether or not ClickHouse shows it yet. What others
    learned or deleted is found by the table's number of rows and by the XOR of its names, and then
    by the names. ClickHouse counts rows without reading them, so that is asked at each look. It reads
    all names for the XOR, so that is asked as often as costs it `SHARE` of its time.
    """

    SHARE = 0.05  # of ClickHouse's time for the XOR of names
    SETTLED = 30.0  # seconds after which what was learned must have reached the table

    def __init__(self, knowledge_base: str, settings: Settings):
        self.knowledge_base = knowledge_base
        self.settings = settings
        self._lock = threading.RLock()
        self._index: Optional[Index] = None
        self._learned: Dict[str, Events] = {}  # by this process, not yet seen in the table
        self._seen = Fingerprint(0, 0)  # of the table, when all of it was in the index
        self._looked = 0.0
        self._agreed = 0.0  # when the fingerprint was last explained
        self._next_fingerprint = 0.0
        self.loads = 0
        self.load_seconds = 0.0

    def add(self, name: str, events: Events) -> None:
        """KATO has just learned it."""
        with self._lock:
            if self._index is None:
                self._learned[name] = events
            elif name not in self._index:
                self._index.learn(events, name=name)
                self._learned[name] = events

    def remove(self, name: str) -> None:
        with self._lock:
            self._learned.pop(name, None)
            if self._index is not None and name in self._index:
                self._index.delete(name)

    def forget(self) -> None:
        """KATO has cleared the knowledge base; the table is read again when it is next asked."""
        with self._lock:
            self._learned.clear()
            self._close()

    def sync(self) -> None:
        """All that was learned is laid out for the scan."""
        with self._lock:
            if self._index is not None:
                self._index.sync()

    def predict(
        self, table: "Table", events: Events, threshold: float, fuzzy: float, best: Optional[int]
    ) -> List[Dict[str, Any]]:
        """Records of the patterns that reach the threshold, in the order of their names: all, or the
        ensemble from which KATO takes the `best`."""
        index = self._current(table)
        records = index.predict(
            events,
            threshold=threshold,
            max_predictions=len(index) if best is None else best,
            rank="similarity",
            fuzzy=fuzzy,
            whole_ensemble=True,
        )
        records.sort(key=lambda record: record["name"])
        return records

    def stats(self) -> Dict[str, Any]:
        with self._lock:
            known = {} if self._index is None else self._index.stats()
            return {
                "loads": self.loads,
                "load_seconds": self.load_seconds,
                "waiting_for_table": len(self._learned),
                **known,
            }

    def _current(self, table: "Table") -> Index:
        with self._lock:
            if self._index is None:
                self._load(table)
            elif time.monotonic() - self._looked >= self.settings.refresh:
                self._look(table)
            assert self._index is not None
            return self._index

    def _load(self, table: "Table") -> None:
        began = time.monotonic()
        index = Index(
            device=self.settings.device,
            sort=False,  # the table has them as they are to be compared
            max_memory=self.settings.max_memory,
            sync_patterns=self.settings.sync_patterns,
            sync_interval=self.settings.sync_interval,
        )
        seen = self._fingerprint(table)  # before the patterns: what comes between is found later
        rows = table.patterns()
        try:
            _learn(index, rows)
            _learn(index, [row for row in self._learned.items() if row[0] not in index])
        except BaseException:
            index.close()
            raise
        self._index = index
        self._saw(seen, {name for name, _ in rows})
        self.loads += 1
        self.load_seconds += time.monotonic() - began

    def _look(self, table: "Table") -> None:
        index = self._index
        assert index is not None
        self._looked = time.monotonic()
        if self._looked < self._next_fingerprint and self._rows_are_ours(table.count()):
            return
        seen = self._fingerprint(table)
        if self._is_ours(seen):
            return
        names = table.names()
        missing = [name for name in names if name not in index]
        _learn(index, table.patterns(missing) if missing else [])
        gone = set(index_names(index)) - names - set(self._learned)
        for name in gone:
            index.delete(name)
        self._saw(seen, names)

    def _fingerprint(self, table: "Table") -> "Fingerprint":
        began = time.monotonic()
        seen = table.fingerprint()
        ended = time.monotonic()
        self._next_fingerprint = ended + (ended - began) / self.SHARE
        return seen

    def _rows_are_ours(self, rows: int) -> bool:
        """Between the rows of the last look and those with what this process learned since, only
        the latter is on its way. Any other number means that somebody else wrote."""
        return self._seen.rows <= rows <= self._seen.rows + len(self._learned)

    def _is_ours(self, seen: "Fingerprint") -> bool:
        """Whether the table is as it was, with the first few of what this process learned since.
        Threads that learn can reach the table in another order: that has time to settle."""
        expected = self._seen
        arrived: Set[str] = set()
        for name in [*self._learned, None]:
            if expected == seen:
                self._saw(seen, arrived)
                return True
            if name is not None:
                expected = expected.with_name(name)
                arrived.add(name)
        settling = bool(self._learned) and time.monotonic() - self._agreed < self.SETTLED
        return settling and self._rows_are_ours(seen.rows)

    def _saw(self, seen: "Fingerprint", names: Collection[str]) -> None:
        self._seen = seen
        self._looked = self._agreed = time.monotonic()
        for name in [name for name in self._learned if name in names]:
            del self._learned[name]

    def _close(self) -> None:
        if self._index is not None:
            self._index.close()
            self._index = None


def index_names(index: Index) -> List[str]:
    """Of all patterns: a threshold of 0 finds each."""
    found = index.search([[["", ""]]], threshold=0.0, scorer="lcs")
    return found.names()[0]


def _learn(index: Index, rows: Sequence[Row]) -> None:
    unique = dict(rows)
    index.learn_many(list(unique.values()), names=list(unique))


class Table:
    """KATO's table of patterns, by its own ClickHouse client."""

    BATCH = 10_000  # names in one question

    def __init__(self, client: Any, knowledge_base: str):
        self._client = client
        self._where = f"kb_id = '{_quoted(knowledge_base)}'"

    def patterns(self, names: Optional[Sequence[str]] = None) -> List[Row]:
        """Name and events of all, or of the named ones."""
        if names is None:
            return self._rows(self._where)
        rows: List[Row] = []
        for first in range(0, len(names), self.BATCH):
            part = ", ".join(f"'{_quoted(name)}'" for name in names[first : first + self.BATCH])
            rows += self._rows(f"{self._where} AND name IN ({part})")
        return rows

    def names(self) -> "set[str]":
        found = self._client.query(f"SELECT name FROM patterns_data WHERE {self._where}")
        return {row[0] for row in found.result_rows}

    def fingerprint(self) -> Fingerprint:
        found = self._client.query(f"SELECT {FINGERPRINT} FROM patterns_data WHERE {self._where}")
        rows, low, high = map(int, found.result_rows[0])
        return Fingerprint(rows, low | high << 64)

    def count(self) -> int:
        found = self._client.query(f"SELECT count() FROM patterns_data WHERE {self._where}")
        return int(found.result_rows[0][0])

    def _rows(self, where: str) -> List[Row]:
        found = self._client.query(f"SELECT name, pattern_data, length FROM patterns_data WHERE {where}")
        return [(row[0], [list(event) for event in row[1]]) for row in found.result_rows]


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")

