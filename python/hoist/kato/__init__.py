"""Inside KATO: its own searcher takes candidates and scores from a Hoist index.

    import hoist.kato

    hoist.kato.install()        # before KATO's first prediction

KATO keeps its stores, its learning and its API. For each knowledge base (a node) Hoist keeps an index
in memory, filled from ClickHouse at the first prediction and from then on by what is learned. A
prediction asks the index instead of loading every pattern into Python; what KATO computes from the
candidates afterwards, it computes as before. The answers are the same.

Where Hoist cannot answer, KATO's own code does: `stats()` counts why, and the first error is logged
as a warning. Settings come from the environment (HOIST_KATO, HOIST_KATO_NODES, HOIST_KATO_DEVICE,
HOIST_KATO_MAX_MEMORY, HOIST_KATO_SYNC_PATTERNS, HOIST_KATO_SYNC_INTERVAL, HOIST_KATO_REFRESH) or from
a `Settings`. A session's configuration object with an attribute `hoist` decides for itself.
docs/reference/kato.md is the manual.
"""

from hoist.kato._patch import install, installed, uninstall
from hoist.kato._service import stats, sync
from hoist.kato._settings import Settings

__all__ = ["Settings", "install", "installed", "stats", "sync", "uninstall"]
