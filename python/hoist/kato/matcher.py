"""Patterns in two tiers: the interface of KATO's `kato.gpu.matcher`, on an index of Hoist."""

import threading
import time
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence

from hoist.kato.memory_manager import GPUMemoryManager
from hoist.match import Index


@dataclass(frozen=True)
class GPUConfig:
    """sync_threshold: recent patterns after which a sync is due; sync_interval_seconds: the same by
    time, with enable_background_sync. device, max_memory (bytes): as `hoist.match.Index`."""

    sync_threshold: int = 1000
    sync_interval_seconds: float = 300
    enable_background_sync: bool = True
    device: str = "auto"
    max_memory: Optional[int] = None


class HybridGPUMatcher:
    """A stable tier laid out for the scan (on a GPU where one pays) and a recent one. A search looks
    at both, by the same rule: a pattern's similarity does not depend on its tier, and a pattern of
    any length is compared as a whole.

    encoder: not needed, the index numbers symbols itself; it is kept for who asks for it.
    patterns_cache: names and flat patterns to begin with.
    """

    def __init__(
        self,
        encoder: Any = None,
        config: Optional[GPUConfig] = None,
        patterns_cache: Optional[Mapping[str, Sequence[str]]] = None,
    ):
        self.encoder = encoder
        self.config = config or GPUConfig()
        self.last_sync_time = time.time()
        self.stats = {"queries": 0, "patterns_learned": 0, "syncs_triggered": 0}
        self._lock = threading.Lock()
        self._begin()
        if patterns_cache:
            names = list(patterns_cache)
            self._index.learn_many([[list(patterns_cache[name])] for name in names], names=names)
            self.sync_cpu_to_gpu()

    def match_patterns(
        self, state: Sequence[str], threshold: float, max_predictions: int = 100
    ) -> List[Dict[str, Any]]:
        """`pattern_name` and `similarity` of the best patterns, best first, equal ones by name."""
        with self._lock:
            self.stats["queries"] += 1
        found = self._index.search(
            [[list(state)]], k=max_predictions, threshold=threshold, scorer="kato"
        )
        return [
            {"pattern_name": name, "similarity": float(score)}
            for name, score in zip(found.names()[0], found.scores[0])
        ]

    def add_new_pattern(self, pattern_name: str, pattern_sequence: Sequence[Sequence[str]]) -> bool:
        """In the next search. False where the name is known."""
        with self._lock:
            if pattern_name in self._index:
                return False
            self._index.learn(pattern_sequence, name=pattern_name)
            self.stats["patterns_learned"] += 1
            return True

    def check_sync_needed(self) -> bool:
        recent = self.recent
        if recent >= self.config.sync_threshold:
            return True
        late = time.time() - self.last_sync_time >= self.config.sync_interval_seconds
        return self.config.enable_background_sync and late and recent > 0

    def sync_cpu_to_gpu(self) -> int:
        """Makes recent patterns stable; how many there were. None is lost where that fails."""
        with self._lock:
            recent = self.recent
            self._index.sync()
            self.stats["syncs_triggered"] += 1
            self.last_sync_time = time.time()
            return recent

    def get_stats(self) -> Dict[str, Any]:
        stats = self._index.stats()
        capacity = self.memory_manager.get_capacity_info()
        return {
            "use_gpu": stats["search_device"] != "cpu",
            "gpu_tier_patterns": capacity["pattern_count"],
            "cpu_tier_patterns": stats["recent_patterns"],
            "total_patterns": stats["patterns"],
            "gpu_memory_gb": capacity["memory_used_gb"],
            **self.stats,
        }

    def clear_all(self) -> None:
        with self._lock:
            self._index.close()
            self._begin()
            self.last_sync_time = time.time()

    @property
    def recent(self) -> int:
        """Patterns of the recent tier."""
        return int(self._index.stats()["recent_patterns"])

    def close(self) -> None:
        self._index.close()

    def __repr__(self) -> str:
        recent = self.recent
        return f"HybridGPUMatcher(stable={len(self._index) - recent:,}, recent={recent:,})"

    def _begin(self) -> None:
        self._index = Index(
            device=self.config.device,
            sort=False,
            max_memory=self.config.max_memory,
            sync_patterns=0,  # syncs are asked for
            sync_interval=0,
        )
        self.memory_manager = GPUMemoryManager(self._index, self.config.max_memory)
