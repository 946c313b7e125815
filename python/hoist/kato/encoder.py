"""Symbols and their numbers, kept in a collection: the interface of KATO's `kato.gpu.encoder`.

Hoist's indexes number symbols themselves. This is for programs that use the class by its own.
"""

import sys
import threading
from itertools import chain
from typing import Any, Dict, Iterable, List, Optional

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]
_KEY = {"class": "gpu_vocabulary"}
_PADDING = -1


class SymbolVocabularyEncoder:
    """Numbers from 0 on, in the order in which symbols come. Thread-safe.

    metadata: a collection with `find_one(query)` and `update_one(query, change, upsert=True)`, as
    MongoDB's, where the vocabulary is kept; None: nowhere. It is written once a call that meets new
    symbols, however many there are.
    """

    def __init__(self, metadata: Any = None):
        self._collection = metadata
        self._lock = threading.RLock()
        self.symbol_to_id: Dict[str, int] = {}
        self.id_to_symbol: Dict[int, str] = {}
        self.next_id = 0
        kept = None if metadata is None else metadata.find_one(dict(_KEY))
        if kept:
            self.symbol_to_id = dict(kept["symbol_to_id"])
            self.id_to_symbol = {int(id): symbol for id, symbol in kept["id_to_symbol"].items()}
            self.next_id = kept["next_id"]

    @property
    def vocab_size(self) -> int:
        return len(self.symbol_to_id)

    def encode_symbol(self, symbol: str) -> int:
        """Its number; a new one for a new symbol."""
        return int(self.encode_sequence([symbol])[0])

    def decode_symbol(self, symbol_id: int) -> Optional[str]:
        """None where no symbol has that number."""
        return self.id_to_symbol.get(symbol_id)

    def encode_sequence(self, sequence: Iterable[str]) -> Ids:
        """int32, one number a symbol."""
        symbols = list(sequence)
        with self._lock:
            self._add(symbols)
            return np.array([self.symbol_to_id[symbol] for symbol in symbols], dtype=np.int32)

    def decode_sequence(self, encoded: Iterable[Any]) -> List[str]:
        """Without padding (-1) and numbers of no symbol."""
        symbols = (self.decode_symbol(int(id)) for id in encoded if id != _PADDING)
        return [symbol for symbol in symbols if symbol is not None]

    def encode_pattern(self, pattern_data: Iterable[Iterable[str]]) -> List[Ids]:
        """An array an event."""
        events = [list(event) for event in pattern_data]
        with self._lock:
            self._add(chain.from_iterable(events))
            return [self.encode_sequence(event) for event in events]

    def decode_pattern(self, encoded_pattern: Iterable[Iterable[Any]]) -> List[List[str]]:
        return [self.decode_sequence(event) for event in encoded_pattern]

    def build_from_patterns(self, patterns_collection: Any, batch_size: int = 1000) -> None:
        """Adds the symbols of all patterns, new ones in alphabetical order, so that the same
        patterns give the same numbers. patterns_collection: has `find()`, as MongoDB's, or is an
        iterable; of dicts with `pattern_data`. batch_size changes nothing here."""
        find = getattr(patterns_collection, "find", None)
        patterns = find() if find is not None else patterns_collection
        symbols = {
            symbol for pattern in patterns for event in pattern["pattern_data"] for symbol in event
        }
        with self._lock:
            if not self._add(sorted(symbols)):
                self._keep()

    def clear(self) -> None:
        with self._lock:
            self.symbol_to_id.clear()
            self.id_to_symbol.clear()
            self.next_id = 0
            self._keep()

    def get_stats(self) -> Dict[str, int]:
        """vocab_size, next_id, memory_usage_bytes (of the two dicts, without the texts)."""
        return {
            "vocab_size": self.vocab_size,
            "next_id": self.next_id,
            "memory_usage_bytes": sys.getsizeof(self.symbol_to_id) + sys.getsizeof(self.id_to_symbol),
        }

    def __repr__(self) -> str:
        return f"SymbolVocabularyEncoder(vocab_size={self.vocab_size})"

    def _add(self, symbols: Iterable[str]) -> bool:
        """Whether there were new ones, which are then kept."""
        before = self.next_id
        for symbol in symbols:
            if symbol not in self.symbol_to_id:
                self.symbol_to_id[symbol] = self.next_id
                self.id_to_symbol[self.next_id] = symbol
                self.next_id += 1
        if self.next_id == before:
            return False
        self._keep()
        return True

    def _keep(self) -> None:
        if self._collection is None:
            return
        self._collection.update_one(
            dict(_KEY),
            {
                "$set": {
                    "symbol_to_id": dict(self.symbol_to_id),
                    "id_to_symbol": {str(id): symbol for id, symbol in self.id_to_symbol.items()},
                    "vocab_size": self.vocab_size,
                    "next_id": self.next_id,
                }
            },
            upsert=True,
        )
