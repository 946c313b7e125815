"""Arguments of hoist.records, checked: each error names the argument, what was given and what is expected."""

import difflib
import operator
import os
from typing import Any, Iterable, List, Mapping, Optional, Tuple

from hoist.errors import InvalidArgument, NotFound


def wrong_type(name: str, expected: str, given: Any) -> TypeError:
    return TypeError(f"{name}: expected {expected}, not {type(given).__name__} ({given!r:.60})")


def checked_path(path: Any, name: str = "path") -> str:
    if isinstance(path, (str, os.PathLike)):
        text = os.fspath(path)
        if isinstance(text, str):
            return text
    raise wrong_type(name, "a path of str or os.PathLike", path)


def checked_text(name: str, text: Any, is_optional: bool = True) -> None:
    if not isinstance(text, str) and not (text is None and is_optional):
        raise wrong_type(name, "str or None" if is_optional else "str", text)


def checked_flags(**flags: Any) -> None:
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise wrong_type(name, "True or False", flag)


def checked_threads(threads: Any) -> int:
    if isinstance(threads, bool) or not hasattr(threads, "__index__"):
        raise wrong_type("threads", "an int, 0 for all cores", threads)
    count = operator.index(threads)
    if not 0 <= count <= 4096:
        raise InvalidArgument(f"threads: expected 0 (all cores) to 4096, not {count}")
    return count


def checked_rows(rows: Any, count: int) -> Tuple[int, int]:
    if rows is None:
        return 0, count
    expected = "(first, end), a slice or a range"
    try:
        if isinstance(rows, slice):
            first, end, step = rows.indices(count)
        elif isinstance(rows, range):
            first, end, step = rows.start, rows.stop, rows.step
        elif isinstance(rows, (tuple, list)) and len(rows) == 2:
            (first, end), step = map(operator.index, rows), 1
        else:
            raise wrong_type("rows", expected, rows)
    except (TypeError, ValueError):
        raise wrong_type("rows", f"{expected} of integers", rows) from None
    if step != 1 or first < 0 or (end < first and not isinstance(rows, (slice, range))):
        raise InvalidArgument(f"rows are (first, end), or a range of step 1, not {rows!r}")
    first = min(first, count)
    return first, max(first, min(end, count))


def _texts(name: str, expected: str, given: Any) -> List[str]:
    if isinstance(given, (bytes, bytearray, memoryview, Mapping)) or not hasattr(given, "__iter__"):
        raise wrong_type(name, expected, given)
    texts = list(given)
    for text in texts:
        if not isinstance(text, str):
            raise wrong_type(name, f"{expected}, all of str", text)
    return texts


def checked_names(names: Any) -> List[str]:
    if isinstance(names, str):
        raise TypeError(f"names: expected a list of str, not str: [{names!r}]")
    return _texts("names", "a list of str", names)


def conditions(where: Any) -> Tuple[str, ...]:
    if where is None:
        return ()
    if isinstance(where, str):
        return (where,)
    return tuple(_texts("where", "a condition as str, or a list of them", where))


def checked_device(device: Any) -> None:
    if not isinstance(device, str):
        raise wrong_type("device", 'str: "cuda", "cuda:1", "cpu" or "auto"', device)


def checked_types(types: Any) -> Mapping[str, str]:
    if types is None:
        return {}
    expected = "a mapping of names of columns to types, both str"
    if not isinstance(types, Mapping):
        raise wrong_type("types", expected, types)
    for name, type_ in types.items():
        if not isinstance(name, str) or not isinstance(type_, str):
            raise wrong_type("types", expected, name if not isinstance(name, str) else type_)
    return types


def no_column(name: str, known: Iterable[str]) -> NotFound:
    """With the names that may have been meant, or all."""
    names = list(known)
    near = difflib.get_close_matches(name.removeprefix("/"), names, n=3)
    if near:
        return NotFound(f"no column {name}: did you mean {' or '.join(near)}?")
    return NotFound(f"no column {name}: there are {', '.join(names) or 'none'}")


def checked_output(output: Any) -> Optional[Any]:
    if output is None or isinstance(output, (str, os.PathLike)) or hasattr(output, "write"):
        return output
    raise wrong_type("output", "None, a path or an object with write", output)
