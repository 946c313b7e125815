"""difflib's SequenceMatcher and get_close_matches, with the same results in less time."""

import difflib
import heapq
from typing import Any, Callable, Dict, Hashable, List, Optional, Sequence, Set, Tuple

from hoist import _native

# Its attributes are typed by assignments that those below would not fit.
_Base: Any = difflib.SequenceMatcher

_match = difflib.Match._make


class SequenceMatcher(_Base):  # type: ignore[misc]
    """`difflib.SequenceMatcher`: its arguments, methods, attributes and results.

    SequenceMatcher(isjunk=None, a="", b="", autojunk=True) compares sequences of hashable elements.
    `b` is prepared once, when something is first asked about it: compare one `b` with many `a` by
    `set_seq1`. Changing a sequence in place after that changes no result.
    """

    def __init__(
        self,
        isjunk: Optional[Callable[[Any], bool]] = None,
        a: Sequence[Hashable] = "",
        b: Sequence[Hashable] = "",
        autojunk: bool = True,
    ):
        self.isjunk = isjunk
        self.autojunk = autojunk
        self.a: Any = None
        self.b: Any = None
        self.matching_blocks: Optional[List[difflib.Match]] = None
        self.opcodes: Optional[List[Tuple[str, int, int, int, int]]] = None
        self.set_seqs(a, b)

    def __getstate__(self) -> Dict[str, Any]:
        """All but what is prepared, which a copy prepares again when it is asked."""
        return {**self.__dict__, "_pair": None, "_first": None}

    def set_seqs(self, a: Sequence[Any], b: Sequence[Any]) -> None:
        self.set_seq1(a)
        self.set_seq2(b)

    def set_seq1(self, a: Sequence[Any]) -> None:
        if a is self.a:
            return
        self.a = a
        self._first: Any = None
        self.matching_blocks = self.opcodes = None

    def set_seq2(self, b: Sequence[Any]) -> None:
        if b is self.b:
            return
        self.b = b
        self._pair: Optional[_native.SequencePair] = None
        self._positions: Optional[Dict[Any, List[int]]] = None
        self._junk: Optional[Set[Any]] = None
        self.matching_blocks = self.opcodes = None
        if self.isjunk is not None:
            self._junk = set(filter(self.isjunk, dict.fromkeys(b)))

    def _compared(self) -> "_native.SequencePair":
        pair = self._pair
        if pair is None:
            pair = self._pair = _native.SequencePair(self.b, bool(self.autojunk), self._junk)
            self._first = None
        if self._first is not pair:
            pair.set_first(self.a)
            self._first = pair
        return pair

    def find_longest_match(
        self, alo: int = 0, ahi: Optional[int] = None, blo: int = 0, bhi: Optional[int] = None
    ) -> difflib.Match:
        """The longest match in a[alo:ahi] and b[blo:bhi]; size 0 where nothing matches."""
        if ahi is None:
            ahi = len(self.a)
        if bhi is None:
            bhi = len(self.b)
        return _match(self._compared().longest_match(alo, ahi, blo, bhi))

    def get_matching_blocks(self) -> List[difflib.Match]:
        """Matches in ascending order, and the terminator (len(a), len(b), 0)."""
        if self.matching_blocks is None:
            blocks = self._compared().matching_blocks()
            self.matching_blocks = list(map(_match, blocks))
        return self.matching_blocks

    def get_opcodes(self) -> List[Tuple[str, int, int, int, int]]:
        """(tag, i1, i2, j1, j2): what makes b of a."""
        if self.opcodes is None:
            self.opcodes = self._compared().opcodes()
        return self.opcodes

    def ratio(self) -> float:
        """2 * elements in matching blocks / elements of both; 1.0 where both are empty."""
        return self._compared().ratio()

    def quick_ratio(self) -> float:
        """Not less than ratio(): elements in common whatever their order."""
        return self._compared().quick_ratio()

    # What difflib keeps besides; made when it is asked for.

    def _occurrences(self) -> Dict[Any, List[int]]:
        if self._positions is None:
            positions: Dict[Any, List[int]] = {}
            for place, element in enumerate(self.b):
                positions.setdefault(element, []).append(place)
            self._positions = positions
        return self._positions

    @property
    def bjunk(self) -> Set[Any]:
        """Elements of b that isjunk() takes for junk."""
        return set() if self._junk is None else self._junk

    @property
    def bpopular(self) -> Set[Any]:
        """Elements of b that autojunk leaves out: those of more than 1 % of at least 200."""
        size = len(self.b)
        if not self.autojunk or size < 200:
            return set()
        most = size // 100 + 1
        junk = self.bjunk
        return {
            element
            for element, places in self._occurrences().items()
            if len(places) > most and element not in junk
        }

    @property
    def b2j(self) -> Dict[Any, List[int]]:
        """Places of each element of b that is neither junk nor popular."""
        left_out = self.bjunk | self.bpopular
        return {
            element: places
            for element, places in self._occurrences().items()
            if element not in left_out
        }


def get_close_matches(
    word: Sequence[Any], possibilities: Any, n: int = 3, cutoff: float = 0.6
) -> List[Any]:
    """The best n of the possibilities whose ratio to `word` reaches the cut-off, best first."""
    if not n > 0:
        raise ValueError(f"n must be > 0: {n!r}")
    if not 0.0 <= cutoff <= 1.0:
        raise ValueError(f"cutoff must be in [0.0, 1.0]: {cutoff!r}")
    close: List[Tuple[float, Any]] = _native.SequencePair(word, True, None).close(
        possibilities, cutoff
    )
    return [item for _, item in heapq.nlargest(n, close)]
