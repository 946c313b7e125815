"""The patterns of one knowledge base: an index beside KATO's ClickHouse table."""

import threading
import time
from typing import Any, Dict, List, Optional, Sequence, Tuple

from hoist.kato._settings import Settings
from hoist.match import Index

Events = List[List[str]]
Row = Tuple[str, Events]


class Node:
    """Filled from the table when it is first asked; thread-safe.

    What this process learns is added at once, whether or not ClickHouse shows it yet. What others
    learned or deleted is found by the table's number of rows, and then by its names.
    """

    def __init__(self, knowledge_base: str, settings: Settings):
        self.knowledge_base = knowledge_base
        self.settings = settings
        self._lock = threading.RLock()
        self._index: Optional[Index] = None
        self._learned: Dict[str, Events] = {}  # by this process, not yet seen in the table
        self._rows = 0  # of the table, when it was last looked at
        self._looked = 0.0
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
        rows = table.patterns()
        try:
            _learn(index, rows)
            _learn(index, [row for row in self._learned.items() if row[0] not in index])
        except BaseException:
            index.close()
            raise
        self._index = index
        self._saw(table, {name for name, _ in rows}, len(rows))
        self.loads += 1
        self.load_seconds += time.monotonic() - began

    def _look(self, table: "Table") -> None:
        """Between the rows of the last look and those with what this process learned since, only
        the latter is on its way. Any other number means that somebody else wrote."""
        index = self._index
        assert index is not None
        rows = table.count()
        self._looked = time.monotonic()
        if self._rows <= rows <= self._rows + len(self._learned):
            return
        names = table.names()
        missing = [name for name in names if name not in index]
        _learn(index, table.patterns(missing) if missing else [])
        gone = set(index_names(index)) - names - set(self._learned)
        for name in gone:
            index.delete(name)
        self._saw(table, names, rows)

    def _saw(self, table: "Table", names: "set[str]", rows: int) -> None:
        self._rows = rows
        self._looked = time.monotonic()
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

    def count(self) -> int:
        found = self._client.query(f"SELECT count() FROM patterns_data WHERE {self._where}")
        return int(found.result_rows[0][0])

    def _rows(self, where: str) -> List[Row]:
        found = self._client.query(f"SELECT name, pattern_data, length FROM patterns_data WHERE {where}")
        return [(row[0], [list(event) for event in row[1]]) for row in found.result_rows]


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")

