"""Edits that lead from one sequence to another, as operations and as blocks."""

from typing import Any, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from hoist._native import edit_script, is_missing


class MatchingBlock(NamedTuple):
    a: int
    b: int
    size: int


class Editop(NamedTuple):
    tag: str
    src_pos: int
    dest_pos: int


class Opcode(NamedTuple):
    tag: str
    src_start: int
    src_end: int
    dest_start: int
    dest_end: int


class ScoreAlignment(NamedTuple):
    score: float
    src_start: int
    src_end: int
    dest_start: int
    dest_end: int


# How far an operation moves in each sequence.
_STEPS = {"equal": (1, 1), "replace": (1, 1), "insert": (0, 1), "delete": (1, 0)}
_INVERSE = {"equal": "equal", "replace": "replace", "insert": "delete", "delete": "insert"}
_INVALID = "List of edit operations invalid"


def _steps(tag: Any) -> Tuple[int, int]:
    if tag not in _STEPS:
        raise ValueError("Invalid Edit Type")
    return _STEPS[tag]


def _width(operations: Sequence[Any]) -> int:
    """3 where they are edits (or there are none), 5 where they are blocks."""
    widths = {len(operation) for operation in operations} or {3}
    if widths not in ({3}, {5}):
        raise TypeError("Expected list of 3-tuples, or a list of 5-tuples")
    return widths.pop()


class Editops:
    """Edits, each of one element; what is between them is equal."""

    __hash__ = None  # type: ignore[assignment]
    _operations: List[Editop]

    def __init__(
        self, editops: Optional[Iterable[Any]] = None, src_len: int = 0, dest_len: int = 0
    ) -> None:
        self.src_len = src_len
        self.dest_len = dest_len
        operations: List[Any] = [] if editops is None else list(editops)
        if _width(operations) == 5:
            self._operations = Opcodes(operations, src_len, dest_len).as_editops()._operations
        else:
            checked = [self._checked(*operation) for operation in operations]
            self._operations = [operation for operation in checked if operation.tag != "equal"]
            self._refuse_order()

    def _checked(self, tag: str, src_pos: int, dest_pos: int) -> Editop:
        source, destination = _steps(tag)
        if not 0 <= src_pos <= self.src_len - source:
            raise ValueError(_INVALID)
        if not 0 <= dest_pos <= self.dest_len - destination:
            raise ValueError(_INVALID)
        return Editop(tag, src_pos, dest_pos)

    def _refuse_order(self) -> None:
        for before, after in zip(self._operations, self._operations[1:]):
            if after.src_pos < before.src_pos or after.dest_pos < before.dest_pos:
                raise ValueError("List of edit operations out of order")
            if after == before:
                raise ValueError("Duplicated edit operation")

    @classmethod
    def _of(cls, operations: List[Editop], src_len: int, dest_len: int) -> "Editops":
        made = cls([], src_len, dest_len)
        made._operations = operations
        return made

    @classmethod
    def from_opcodes(cls, opcodes: "Opcodes") -> "Editops":
        return opcodes.as_editops()

    def as_opcodes(self) -> "Opcodes":
        blocks: List[Opcode] = []
        source = destination = 0
        for tag, src_pos, dest_pos in self._operations:
            if source < src_pos or destination < dest_pos:
                blocks.append(Opcode("equal", source, src_pos, destination, dest_pos))
                source, destination = src_pos, dest_pos
            src_step, dest_step = _STEPS[tag]
            last = blocks[-1] if blocks else None
            if last is not None and last.tag == tag:
                blocks[-1] = last._replace(
                    src_end=src_pos + src_step, dest_end=dest_pos + dest_step
                )
            else:
                blocks.append(Opcode(tag, source, source + src_step, destination, destination + dest_step))
            source += src_step
            destination += dest_step
        if source < self.src_len or destination < self.dest_len:
            blocks.append(Opcode("equal", source, self.src_len, destination, self.dest_len))
        return Opcodes._of(blocks, self.src_len, self.dest_len)

    def as_matching_blocks(self) -> List[MatchingBlock]:
        return self.as_opcodes().as_matching_blocks()

    def as_list(self) -> List[Editop]:
        return list(self._operations)

    def copy(self) -> "Editops":
        return self._of(list(self._operations), self.src_len, self.dest_len)

    def inverse(self) -> "Editops":
        """From the destination to the source."""
        turned = [
            Editop(_INVERSE[tag], dest_pos, src_pos) for tag, src_pos, dest_pos in self._operations
        ]
        return self._of(turned, self.dest_len, self.src_len)

    def remove_subsequence(self, subsequence: "Editops") -> "Editops":
        """What is left to do once `subsequence` was applied to the source."""
        left = []
        removed = iter(subsequence)
        next_removed = next(removed, None)
        shift = 0
        for operation in self._operations:
            if operation == next_removed:
                source, destination = _STEPS[operation.tag]
                shift += destination - source
                next_removed = next(removed, None)
            else:
                left.append(operation._replace(src_pos=operation.src_pos + shift))
        if next_removed is not None:
            raise ValueError("subsequence is not a subsequence")
        return self._of(left, self.src_len, self.dest_len)

    def apply(self, source_string: str, destination_string: str) -> str:
        """The source with these edits, inserted elements being those of the destination."""
        return self.as_opcodes().apply(source_string, destination_string)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Editops):
            return False
        return (self.src_len, self.dest_len, self._operations) == (
            other.src_len,
            other.dest_len,
            other._operations,
        )

    def __len__(self) -> int:
        return len(self._operations)

    def __iter__(self) -> Iterator[Editop]:
        return iter(self._operations)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            if key.step is not None and key.step < 0:
                raise ValueError("step sizes below 0 lead to an invalid order of editops")
            return self._of(self._operations[key], self.src_len, self.dest_len)
        if not isinstance(key, int):
            raise TypeError("Expected index or slice")
        if not -len(self) <= key < len(self):
            raise IndexError("Editops index out of range")
        return self._operations[key]

    def __delitem__(self, key: Union[int, slice]) -> None:
        del self._operations[key]

    def __repr__(self) -> str:
        edits = ", ".join(map(repr, self._operations))
        return f"Editops([{edits}], src_len={self.src_len}, dest_len={self.dest_len})"


class Opcodes:
    """Blocks that cover both sequences, those that are equal included."""

    __hash__ = None  # type: ignore[assignment]
    _operations: List[Opcode]

    def __init__(
        self, opcodes: Optional[Iterable[Any]] = None, src_len: int = 0, dest_len: int = 0
    ) -> None:
        self.src_len = src_len
        self.dest_len = dest_len
        operations: List[Any] = [] if opcodes is None else list(opcodes)
        if _width(operations) == 3:
            self._operations = Editops(operations, src_len, dest_len).as_opcodes()._operations
        else:
            self._operations = self._merged([self._checked(*block) for block in operations])

    def _checked(
        self, tag: str, src_start: int, src_end: int, dest_start: int, dest_end: int
    ) -> Opcode:
        source, destination = _steps(tag)
        width = max(src_end - src_start, dest_end - dest_start)
        is_valid = (
            width > 0
            and (src_end - src_start, dest_end - dest_start) == (source * width, destination * width)
            and 0 <= src_start <= src_end <= self.src_len
            and 0 <= dest_start <= dest_end <= self.dest_len
        )
        if not is_valid:
            raise ValueError(_INVALID)
        return Opcode(tag, src_start, src_end, dest_start, dest_end)

    def _merged(self, blocks: List[Opcode]) -> List[Opcode]:
        """Neighbours of one kind as one block; refuses what does not cover both sequences."""
        if blocks[0].src_start != 0 or blocks[0].dest_start != 0:
            raise ValueError("List of edit operations does not start at position 0")
        if blocks[-1].src_end != self.src_len or blocks[-1].dest_end != self.dest_len:
            raise ValueError("List of edit operations does not end at the string ends")
        merged = [blocks[0]]
        for block in blocks[1:]:
            last = merged[-1]
            if (last.src_end, last.dest_end) != (block.src_start, block.dest_start):
                raise ValueError("List of edit operations is not continuous")
            if last.tag == block.tag:
                merged[-1] = last._replace(src_end=block.src_end, dest_end=block.dest_end)
            else:
                merged.append(block)
        return merged

    @classmethod
    def _of(cls, operations: List[Opcode], src_len: int, dest_len: int) -> "Opcodes":
        made = cls.__new__(cls)
        made.src_len = src_len
        made.dest_len = dest_len
        made._operations = operations
        return made

    @classmethod
    def from_editops(cls, editops: Editops) -> "Opcodes":
        return editops.as_opcodes()

    def as_editops(self) -> Editops:
        edits = []
        for tag, src_start, src_end, dest_start, dest_end in self._operations:
            if tag == "equal":
                continue
            source, destination = _STEPS[tag]
            for i in range(max(src_end - src_start, dest_end - dest_start)):
                edits.append(Editop(tag, src_start + i * source, dest_start + i * destination))
        return Editops._of(edits, self.src_len, self.dest_len)

    def as_matching_blocks(self) -> List[MatchingBlock]:
        """As difflib has them: the last one is empty, at the ends."""
        blocks = [
            MatchingBlock(block.src_start, block.dest_start, size)
            for block in self._operations
            for size in (min(block.src_end - block.src_start, block.dest_end - block.dest_start),)
            if block.tag == "equal" and size > 0
        ]
        return [*blocks, MatchingBlock(self.src_len, self.dest_len, 0)]

    def as_list(self) -> List[Opcode]:
        return list(self._operations)

    def copy(self) -> "Opcodes":
        return self._of(list(self._operations), self.src_len, self.dest_len)

    def inverse(self) -> "Opcodes":
        """From the destination to the source."""
        turned = [
            Opcode(_INVERSE[block.tag], block.dest_start, block.dest_end, block.src_start, block.src_end)
            for block in self._operations
        ]
        return self._of(turned, self.dest_len, self.src_len)

    def apply(self, source_string: str, destination_string: str) -> str:
        """The source with these edits, inserted elements being those of the destination."""
        parts = []
        for block in self._operations:
            if block.tag == "equal":
                parts.append(source_string[block.src_start : block.src_end])
            elif block.tag != "delete":
                parts.append(destination_string[block.dest_start : block.dest_end])
        return "".join(parts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Opcodes):
            return False
        return (self.src_len, self.dest_len, self._operations) == (
            other.src_len,
            other.dest_len,
            other._operations,
        )

    def __len__(self) -> int:
        return len(self._operations)

    def __iter__(self) -> Iterator[Opcode]:
        return iter(self._operations)

    def __getitem__(self, key: int) -> Opcode:
        if not isinstance(key, int):
            raise TypeError("Expected index")
        if not -len(self) <= key < len(self):
            raise IndexError("Opcodes index out of range")
        return self._operations[key]

    def __repr__(self) -> str:
        blocks = ", ".join(map(repr, self._operations))
        return f"Opcodes([{blocks}], src_len={self.src_len}, dest_len={self.dest_len})"


def edits_between(s1: Any, s2: Any, processor: Any, replaces: bool) -> Editops:
    if processor is not None and not is_missing(s1) and not is_missing(s2):
        s1, s2 = processor(s1), processor(s2)
    operations, src_len, dest_len = edit_script(s1, s2, replaces)
    return Editops._of([Editop(*operation) for operation in operations], src_len, dest_len)
