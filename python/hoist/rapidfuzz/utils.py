"""What a processor may be."""

from typing import Any, Dict

__all__ = ["default_process"]


class _Table(Dict[int, str]):
    """What each character becomes, found out once."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        lower = character.lower()
        # A character becomes one: of "İ" stays the i.
        to = lower[0] if character.isalnum() else " "
        self[code] = to
        return to


_TABLE = _Table()


def default_process(sentence: Any) -> str:
    """In lower case, with a space for what is neither letter nor digit, without spaces around."""
    if isinstance(sentence, bytes):
        sentence = sentence.decode("latin-1")
    if isinstance(sentence, str):
        return sentence.translate(_TABLE).strip()
    raise TypeError("sentence must be a String")
