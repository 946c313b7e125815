"""The nodes of this process, and what they were asked."""

import collections
import logging
import threading
import time
from typing import Any, Counter, Dict, List, Optional

from hoist.errors import NotFound
from hoist.kato._node import Events, Node, Table
from hoist.kato._settings import Settings

logger = logging.getLogger("hoist.kato")


class Service:
    """One for a process."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self._lock = threading.Lock()
        self._nodes: Dict[str, Node] = {}
        self._warned = False
        self.queries = 0
        self.seconds = 0.0
        self.candidates = 0
        self.left: Counter[str] = collections.Counter()  # to KATO's own code, by reason
        self.fallbacks: Counter[str] = collections.Counter()  # errors, by class

    def node(self, knowledge_base: str) -> Node:
        with self._lock:
            if knowledge_base not in self._nodes:
                self._nodes[knowledge_base] = Node(knowledge_base, self.settings)
            return self._nodes[knowledge_base]

    def nodes(self) -> Dict[str, Node]:
        with self._lock:
            return dict(self._nodes)

    def predict(
        self,
        knowledge_base: str,
        client: Any,
        events: Events,
        threshold: float,
        fuzzy: float,
        best: Optional[int],
    ) -> List[Dict[str, Any]]:
        began = time.perf_counter()
        table = Table(client, knowledge_base)
        records = self.node(knowledge_base).predict(table, events, threshold, fuzzy, best)
        with self._lock:
            self.queries += 1
            self.candidates += len(records)
            self.seconds += time.perf_counter() - began
        return records

    def leave(self, reason: str) -> None:
        with self._lock:
            self.left[reason] += 1

    def fell_back(self, error: BaseException, doing: str) -> None:
        """Counts it; the first is a warning."""
        with self._lock:
            self.fallbacks[type(error).__name__] += 1
            first, self._warned = not self._warned, True
        level = logging.WARNING if first else logging.DEBUG
        logger.log(
            level,
            "Hoist cannot %s, KATO's own code does: %s: %s%s",
            doing,
            type(error).__name__,
            error,
            " (said once; hoist.kato.stats() counts)" if first else "",
        )

    def stats(self) -> Dict[str, Any]:
        nodes = {name: node.stats() for name, node in self.nodes().items()}
        with self._lock:
            return {
                "queries": self.queries,
                "query_seconds": self.seconds,
                "candidates": self.candidates,
                "left_to_kato": dict(self.left),
                "fallbacks": sum(self.fallbacks.values()),
                "fallbacks_by_error": dict(self.fallbacks),
                "nodes": nodes,
            }


current: Optional[Service] = None


def stats() -> Dict[str, Any]:
    """Counts since install(): queries, their seconds and candidates; left_to_kato (predictions that
    KATO's own code made because of what they asked for, by reason); fallbacks (errors); and for each
    knowledge base what Index.stats() says, loads, load_seconds and waiting_for_table."""
    if current is None:
        raise NotFound("hoist.kato is not installed: call install() first")
    return current.stats()


def sync(knowledge_base: Optional[str] = None) -> None:
    """All that was learned, by one node or by each, is laid out for the scan."""
    if current is None:
        raise NotFound("hoist.kato is not installed: call install() first")
    nodes = current.nodes()
    if knowledge_base is not None and knowledge_base not in nodes:
        raise NotFound(f"no knowledge base {knowledge_base!r} was asked or taught yet")
    for name, node in nodes.items():
        if knowledge_base in (None, name):
            node.sync()
