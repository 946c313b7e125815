"""A record as one line of glyphs, and back, value for value.

    from saiql_delta.core.loretoken_symbolic import SymbolicLoreToken

    text = SymbolicLoreToken.encode("RECORD", "RAW", {"symbol": "BTC-USD", "open": "117391.31"})
    # ⟆⟐.RAW:[§₿»↗117391.31,✓]
    type_, subtype, record, status = SymbolicLoreToken.decode(text)

A record is a dict of str to what JSON holds. A str stands as it is. Everything else begins with
`=` and is JSON; a timestamp from 0 to 2^32 - 1 is eight digits in base 16. A key that has no glyph
stands before a colon. Of what would be read as something else, characters are escaped:

    \\\\ is \\    \\> »    \\; ,    \\( [    \\) ]    \\& ⟆    \\n \\r line ends
    and in names    \\c :    \\d . of a type    \\x80 to \\xff a byte that is no UTF-8 (U+DC80 to U+DCFF)

and `\\"` in front says that what follows is a str, or a name, and no glyph. Plain values need none.
"""

import json
import re
from types import MappingProxyType
from typing import Any, Dict, List, Mapping, Tuple

__all__ = ["SymbolicLoreToken"]

_ESCAPES = {
    "\\": "\\\\", "»": "\\>", ",": "\\;", "[": "\\(", "]": "\\)", "⟆": "\\&", "\n": "\\n",
    "\r": "\\r",
}  # fmt: skip
_MEANINGS = {escape[1]: meaning for meaning, escape in _ESCAPES.items()}
_BYTES = {chr(0xDC00 + byte): f"\\x{byte:x}" for byte in range(0x80, 0x100)}
_NAME_ESCAPES = {**_ESCAPES, **_BYTES, ":": "\\c"}
_MEANINGS.update({"c": ":", "d": "."})
_IS_STR = '\\"'
_TIME = re.compile(r"[0-9a-f]{8}")
_LINE = re.compile(r"⟆([^.:\[\]\r\n]*)\.([^:\[\]\r\n]*):\[([^\[\]\r\n]*),([^,\[\]\r\n]*)\]\n?")


class SymbolicLoreToken:
    """The glyphs, which may be added to, and both directions."""

    TYPES: Dict[str, str] = {
        "RECORD": "⟐",
        "TABLE": "⊤",
        "META": "◊",
        "TRANSACTION": "⟡",
        "CHECKPOINT": "⟢",
    }
    FIELDS: Dict[str, str] = {
        "symbol": "§",
        "timestamp": "⏱",
        "open": "↗",
        "high": "⤊",
        "low": "⤋",
        "close": "↘",
        "volume": "▣",
        "granularity": "⌘",
        "created": "⊱",
        "version": "⋁",
        "compression": "⊜",
        "tables": "⊞",
        "hash": "♯",
        "count": "№",
        "schema": "⊡",
    }
    TICKERS: Dict[str, str] = {
        "BTC-USD": "₿",
        "ETH-USD": "Ξ",
        "SOL-USD": "◎",
        "XRP-USD": "✕",
        "DOGE-USD": "Ð",
        "ADA-USD": "₳",
        "AVAX-USD": "△",
        "DOT-USD": "●",
        "MATIC-USD": "▽",
        "LINK-USD": "⬡",
    }
    STATUSES: Dict[str, str] = {
        "ACTIVE": "✓",
        "INACTIVE": "✗",
        "COMMITTED": "◉",
        "PENDING": "◯",
        "FAILED": "⊗",
        "WARNING": "⚠",
    }

    @classmethod
    def encode(
        cls, type_: str, subtype: str, record: Mapping[str, Any], status: str = "ACTIVE"
    ) -> str:
        """The line, without a line feed. TypeError where JSON has no such value."""
        cls._check_fields()
        fields = [cls._encoded_field(key, value) for key, value in record.items()]
        kind = _encoded_name(type_, cls.TYPES)
        name = _escaped(subtype, _NAME_ESCAPES)
        return f"⟆{kind}.{name}:[{'»'.join(fields)},{_encoded_name(status, cls.STATUSES)}]"

    @classmethod
    def decode(cls, text: str) -> Tuple[str, str, Dict[str, Any], str]:
        """(type, subtype, record, status) of a line. ValueError where it is none.

        FIELDS must be those that it was encoded with. A timestamp that is not eight digits in base 16
        comes as the str that it is.
        """
        cls._check_fields()
        line = _LINE.fullmatch(text)
        if line is None:
            raise ValueError(f"no symbolic line: {text[:80]!r}")
        kind, subtype, fields, status = line.groups()
        record: Dict[str, Any] = {}
        for field in fields.split("»") if fields else []:
            key, value = cls._decoded_field(field)
            if key in record:
                raise ValueError(f"the key {key!r} comes twice")
            record[key] = value
        return (
            _decoded_name(kind, cls.TYPES),
            _unescaped(subtype),
            record,
            _decoded_name(status, cls.STATUSES),
        )

    @classmethod
    def _check_fields(cls) -> None:
        glyphs = list(cls.FIELDS.values())
        for glyph in glyphs:
            if not glyph or any(c in _ESCAPES or c in ':"' for c in glyph):
                raise ValueError(f"no glyph for a field: {glyph!r}")
        for glyph in glyphs:
            if sum(other.startswith(glyph) for other in glyphs) > 1:
                raise ValueError(f"another field's glyph begins as {glyph!r} does")

    @classmethod
    def _encoded_field(cls, key: str, value: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(f"keys are str, not {type(key).__name__}")
        written = cls._encoded_value(key, value)
        if key in cls.FIELDS:
            return cls.FIELDS[key] + written
        name = _escaped(key, _NAME_ESCAPES)
        is_glyph = any(name.startswith(glyph) for glyph in cls.FIELDS.values())
        return (_IS_STR if is_glyph else "") + name + ":" + written

    @classmethod
    def _encoded_value(cls, key: str, value: Any) -> str:
        if not isinstance(value, str) or not _is_unicode(value):
            _check_value(value)
            if key == "timestamp" and type(value) is int and 0 <= value < 2**32:
                return f"{value:08x}"
            return "=" + _escaped(json.dumps(value, ensure_ascii=not _is_unicode_tree(value)))
        if key == "symbol" and value in cls.TICKERS:
            return cls.TICKERS[value]
        is_other = (
            value.startswith("=")
            or (key == "symbol" and value in cls.TICKERS.values())
            or (key == "timestamp" and _TIME.fullmatch(value) is not None)
        )
        return (_IS_STR if is_other else "") + _escaped(value)

    @classmethod
    def _decoded_field(cls, field: str) -> Tuple[str, Any]:
        for key, glyph in cls.FIELDS.items():
            if field.startswith(glyph):
                return key, cls._decoded_value(key, field[len(glyph) :])
        name, colon, value = field.partition(":")
        if not colon:
            raise ValueError(f"a field without a glyph or a key: {field!r}")
        key = _unescaped(name[2:] if name.startswith(_IS_STR) else name)
        return key, cls._decoded_value(key, value)

    @classmethod
    def _decoded_value(cls, key: str, text: str) -> Any:
        if text.startswith(_IS_STR):
            return _unescaped(text[2:])
        if text.startswith("="):
            return json.loads(_unescaped(text[1:]))
        if key == "timestamp" and _TIME.fullmatch(text):
            return int(text, 16)
        if key == "symbol":
            for ticker, glyph in cls.TICKERS.items():
                if text == glyph:
                    return ticker
        return _unescaped(text)


def _escaped(text: str, escapes: Mapping[str, str] = MappingProxyType(_ESCAPES)) -> str:
    return "".join(escapes.get(c, c) for c in text)


def _unescaped(text: str) -> str:
    out: List[str] = []
    characters = iter(text)
    for c in characters:
        if c == "\\":
            c = next(characters, "")
            c = _byte(next(characters, "") + next(characters, "")) if c == "x" else _MEANINGS.get(c, "")
            if not c:
                raise ValueError(f"no such escape in {text!r}")
        out.append(c)
    return "".join(out)


def _byte(digits: str) -> str:
    if re.fullmatch("[0-9a-f]{2}", digits) is None:
        return ""
    byte = int(digits, 16)
    return chr(byte if byte < 0x80 else 0xDC00 + byte)


def _encoded_name(name: str, glyphs: Mapping[str, str]) -> str:
    if name in glyphs:
        return glyphs[name]
    mark = _IS_STR if name in glyphs.values() else ""
    return mark + _escaped(name, {**_NAME_ESCAPES, ".": "\\d"})


def _decoded_name(text: str, glyphs: Mapping[str, str]) -> str:
    for name, glyph in glyphs.items():
        if text == glyph:
            return name
    return _unescaped(text[2:] if text.startswith(_IS_STR) else text)


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= c <= "\udfff" for c in text)


def _is_unicode_tree(value: Any) -> bool:
    return _is_unicode(json.dumps(value, ensure_ascii=False))


def _check_value(value: Any) -> None:
    if type(value) is list:
        for each in value:
            _check_value(each)
    elif type(value) is dict:
        for key, each in value.items():
            if type(key) is not str:
                raise TypeError(f"keys are str, not {type(key).__name__}")
            _check_value(each)
    elif value is not None and type(value) not in (str, int, float, bool):
        raise TypeError(f"JSON has no {type(value).__name__}")
