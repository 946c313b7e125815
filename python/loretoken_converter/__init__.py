"""Lines of `key>>value` with words, glyphs or underscores for keys, and back.

    from loretoken_converter import DBMode, LoreTokenConverter

    line = "sensor_id>>A17 timestamp>>1755392220 status>>ACTIVE"
    LoreTokenConverter.convert_line(line, target_format=DBMode.LTS)
    # "sensor_id>>A17 ⏱>>1755392220 📊>>ACTIVE\\n"

Only keys change. White space, values of several words, words without `>>` and keys that come twice
stay where they are, so a line goes to another form and back without a loss.

    LT     id>>7 __init>>1 🔑>>x
    LTS    🔑>>7 __init>>1 \\🔑>>x       a key that is a glyph, with or without \\, gets a \\
    LTU    __id>>7 ____init>>1 __🔑>>x
"""

import enum
import re
from typing import Callable, Dict, List, Optional

__all__ = ["DBMode", "LoreTokenConverter"]


class DBMode(enum.Enum):
    """The forms of a line; AUTO is what it looks like, and LT as a target."""

    LT = "lt"
    LTS = "lts"
    LTU = "ltu"
    AUTO = "auto"


_WORD = re.compile(r"\S+")
_PLAIN_VARIANTS = {"info": "ℹ", "warning": "⚠", "count": "#⃣"}  # without U+FE0F


class LoreTokenConverter:
    """The glyphs, and conversions of single lines."""

    SYMBOL_MAP: Dict[str, str] = {
        "id": "🔑",
        "name": "📛",
        "type": "🏷",
        "value": "💎",
        "timestamp": "⏱",
        "status": "📊",
        "priority": "⚡",
        "category": "📁",
        "description": "📝",
        "user": "👤",
        "action": "⚙",
        "data": "💾",
        "config": "⚙️",
        "error": "❌",
        "warning": "⚠️",
        "info": "ℹ️",
        "success": "✅",
        "count": "#️⃣",
        "size": "📏",
        "path": "📂",
    }

    @classmethod
    def detect_format(cls, line: str) -> Optional[DBMode]:
        """LTU where all keys begin with `__`, LTS where one is a glyph, else LT; None without keys."""
        keys = _keys(line)
        if not keys:
            return None
        if all(key.startswith("__") for key in keys):
            return DBMode.LTU
        words = cls._words()
        is_glyph = any(key.lstrip("\\") in words for key in keys)
        return DBMode.LTS if is_glyph else DBMode.LT

    @classmethod
    def convert_line(
        cls,
        line: str,
        target_format: DBMode = DBMode.AUTO,
        source_format: DBMode = DBMode.AUTO,
    ) -> str:
        """The line in another form, with a line feed; a line without keys as it is.

        What a line looks like decides its form unless `source_format` does: give it where words of
        LT may be glyphs or begin with `__`. ValueError where a key of LTU does not begin with `__`.
        """
        found = cls.detect_format(line)
        if found is None:
            return line
        source = found if source_format is DBMode.AUTO else source_format
        read, write = cls._reader(source), cls._writer(target_format)

        def convert(word: "re.Match[str]") -> str:
            key, mark, value = word.group().partition(">>")
            return write(read(key)) + mark + value if mark else key

        return _WORD.sub(convert, line[:-1] if line.endswith("\n") else line) + "\n"

    @classmethod
    def _words(cls) -> Dict[str, str]:
        words = {_PLAIN_VARIANTS[key]: key for key in _PLAIN_VARIANTS if key in cls.SYMBOL_MAP}
        return {**words, **{glyph: key for key, glyph in cls.SYMBOL_MAP.items()}}

    @classmethod
    def _reader(cls, source: DBMode) -> Callable[[str], str]:
        if source is DBMode.LTU:
            return _without_underscores
        if source is not DBMode.LTS:
            return lambda key: key
        words = cls._words()
        return lambda key: (
            key[1:]
            if key.startswith("\\") and key.lstrip("\\") in words
            else words.get(key, key)
        )

    @classmethod
    def _writer(cls, target: DBMode) -> Callable[[str], str]:
        if target is DBMode.LTU:
            return lambda key: "__" + key
        if target is not DBMode.LTS:
            return lambda key: key
        words = cls._words()
        return lambda key: (
            "\\" + key if key.lstrip("\\") in words else cls.SYMBOL_MAP.get(key, key)
        )


def _keys(line: str) -> List[str]:
    return [word.partition(">>")[0] for word in _WORD.findall(line) if ">>" in word]


def _without_underscores(key: str) -> str:
    if not key.startswith("__"):
        raise ValueError(f"a key of an LTU line begins with __, not {key!r}")
    return key[2:]
