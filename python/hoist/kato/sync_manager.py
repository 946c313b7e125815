"""When a matcher's recent patterns become stable: the interface of KATO's `kato.gpu.sync_manager`."""

import logging
import threading
import time
from typing import Any, Dict, Optional

from hoist.kato.matcher import GPUConfig, HybridGPUMatcher

logger = logging.getLogger("hoist.kato")


class SyncManager:
    """Syncs by number of recent patterns, by time, at the end of training, and when asked.

    The background thread looks at both triggers `checks_per_interval` times an interval, at least
    once a second.
    """

    checks_per_interval = 10

    def __init__(self, matcher: HybridGPUMatcher, config: Optional[GPUConfig] = None):
        self.matcher = matcher
        self.config = config or matcher.config
        self.total_syncs = 0
        self.total_patterns_synced = 0
        self.last_sync_duration_ms = 0.0
        self.training_mode = False
        self._stop = threading.Event()
        self._thread: Optional[threading.Thread] = None

    def start_background_sync(self) -> None:
        """Nothing where it runs, or where the configuration switches it off."""
        if not self.config.enable_background_sync or self._runs():
            return
        self._stop.clear()
        self._thread = threading.Thread(target=self._loop, name="hoist-kato-sync", daemon=True)
        self._thread.start()

    def stop_background_sync(self) -> None:
        """Returns when a sync that is under way is done."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def check_sync_needed(self, trigger_source: str = "manual") -> bool:
        """In training only what is asked for is due."""
        if self.training_mode and trigger_source != "manual":
            return False
        return self.matcher.check_sync_needed()

    def trigger_sync(self, source: str = "manual") -> int:
        """Syncs; how many patterns became stable. In training only "manual" and "training" do."""
        if self.training_mode and source not in ("manual", "training"):
            return 0
        began = time.perf_counter()
        synced = self.matcher.sync_cpu_to_gpu()
        self.last_sync_duration_ms = (time.perf_counter() - began) * 1000
        self.total_syncs += 1
        self.total_patterns_synced += synced
        return synced

    def enter_training_mode(self) -> None:
        self.training_mode = True

    def exit_training_mode(self, trigger_sync: bool = True) -> None:
        self.training_mode = False
        if trigger_sync and self.matcher.recent > 0:
            self.trigger_sync("training")

    def get_stats(self) -> Dict[str, Any]:
        return {
            "total_syncs": self.total_syncs,
            "total_patterns_synced": self.total_patterns_synced,
            "last_sync_duration_ms": self.last_sync_duration_ms,
            "background_sync_enabled": self.config.enable_background_sync,
            "background_sync_running": self._runs(),
            "training_mode": self.training_mode,
        }

    def __repr__(self) -> str:
        return f"SyncManager(syncs={self.total_syncs}, training={self.training_mode})"

    def _runs(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _loop(self) -> None:
        pause = min(1.0, self.config.sync_interval_seconds / self.checks_per_interval)
        while not self._stop.wait(pause):
            try:
                if self.check_sync_needed("background"):
                    self.trigger_sync("background")
            except Exception:  # the next round tries again
                logger.warning("a background sync failed", exc_info=True)
