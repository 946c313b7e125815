"""Calls that begin before their results are wanted."""

from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Callable, Iterable, Iterator, List, Optional, Tuple

Call = Optional[Callable[[], Any]]


def one_ahead(calls: Iterable[Tuple[Any, Call]]) -> Iterator[Tuple[Any, Call]]:
    """The same pairs, whose calls wait for a thread that makes them one after the other: while the
    caller works on a result, the next one is made, and no more. Pairs without a call pass."""
    with ThreadPoolExecutor(1) as thread:
        coming: List[Tuple[Any, Call]] = []
        for what, call in calls:
            coming.append((what, call and partial(_taken, [thread.submit(call)])))
            if len(coming) > 1:
                yield coming.pop(0)
        yield from coming


def _taken(future: "List[Future[Any]]") -> Any:
    """Once: a future would keep its result for as long as it is kept."""
    return future.pop().result()
