"""What the adapter is told, by the environment or by the program."""

import fnmatch
import os
from dataclasses import dataclass
from typing import Mapping, Optional

from hoist.errors import InvalidArgument

_ON = {"1": True, "on": True, "true": True, "yes": True}
_OFF = {"0": False, "off": False, "false": False, "no": False}


@dataclass(frozen=True)
class Settings:
    """enabled: whether sessions that do not say otherwise use Hoist.
    nodes: patterns of the knowledge bases' names, as a shell has them, separated by commas.
    device, max_memory (bytes), sync_patterns, sync_interval (seconds): as `hoist.match.Index`.
    refresh: seconds between looks at ClickHouse for what other processes learned; 0: each prediction.
    """

    enabled: bool = True
    nodes: str = "*"
    device: str = "auto"
    max_memory: Optional[int] = None
    sync_patterns: int = 65_536
    sync_interval: int = 300
    refresh: float = 0.0

    @staticmethod
    def from_environment(environment: Optional[Mapping[str, str]] = None) -> "Settings":
        """InvalidArgument names a variable with an impossible value."""
        values = os.environ if environment is None else environment
        base = Settings()
        memory = _number(values, "HOIST_KATO_MAX_MEMORY", 0, int)
        return Settings(
            enabled=_switch(values, "HOIST_KATO", base.enabled),
            nodes=values.get("HOIST_KATO_NODES") or base.nodes,
            device=values.get("HOIST_KATO_DEVICE") or base.device,
            max_memory=memory or None,
            sync_patterns=_number(values, "HOIST_KATO_SYNC_PATTERNS", base.sync_patterns, int),
            sync_interval=_number(values, "HOIST_KATO_SYNC_INTERVAL", base.sync_interval, int),
            refresh=_number(values, "HOIST_KATO_REFRESH", base.refresh, float),
        )

    def wants(self, knowledge_base: str, session: object) -> bool:
        """A session's own attribute `hoist` comes first, then the names, then `enabled`."""
        own = getattr(session, "hoist", None)
        if own is not None:
            return bool(own)
        return self.enabled and any(
            fnmatch.fnmatchcase(knowledge_base, name.strip()) for name in self.nodes.split(",")
        )


def _switch(values: Mapping[str, str], name: str, default: bool) -> bool:
    text = values.get(name, "").strip().lower()
    if not text:
        return default
    if text in _ON or text in _OFF:
        return text in _ON
    raise InvalidArgument(f"{name} is {text!r}: 1 or 0")


def _number(values: Mapping[str, str], name: str, default: float, kind: type) -> "int":
    text = values.get(name, "").strip()
    if not text:
        return default  # type: ignore[return-value]
    try:
        number = kind(text)
    except ValueError:
        number = -1
    if not number >= 0:
        raise InvalidArgument(f"{name} is {text!r}: a number, 0 or more")
    return number  # type: ignore[no-any-return]
