"""What an index takes: the interface of KATO's `kato.gpu.memory_manager`."""

from typing import Any, Dict, Optional

from hoist.match import Index


class GPUMemoryManager:
    """Of the index of a `HybridGPUMatcher`. max_bytes: its limit, if it has one."""

    def __init__(self, index: Index, max_bytes: Optional[int] = None):
        self._index = index
        self._max_bytes = max_bytes

    @property
    def pattern_count(self) -> int:
        """Of the stable tier."""
        stats = self._index.stats()
        return int(stats["patterns"] - stats["recent_patterns"])

    def get_memory_usage_gb(self) -> float:
        return float(self._index.stats()["memory_bytes"]) / 1e9

    def get_capacity_info(self) -> Dict[str, Any]:
        """pattern_count; memory_used_gb; memory_limit_gb and utilization, None without a limit;
        device: where large segments are searched now."""
        used = self.get_memory_usage_gb()
        limit = None if self._max_bytes is None else self._max_bytes / 1e9
        return {
            "pattern_count": self.pattern_count,
            "memory_used_gb": used,
            "memory_limit_gb": limit,
            "utilization": used / limit if limit else None,
            "device": self._index.stats()["search_device"],
        }

    def __repr__(self) -> str:
        return (
            f"GPUMemoryManager(patterns={self.pattern_count:,}, "
            f"memory={self.get_memory_usage_gb():.2f}GB)"
        )
