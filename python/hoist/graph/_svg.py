"""A picture of a program: a box for each kernel with its nodes, and lines for what flows."""

from html import escape
from typing import Dict, List, Optional, Sequence, Set, Tuple

_Node = Tuple[int, str, Tuple[int, ...], List[int], int, Optional[float]]

_LINE = 16
_WIDTH = 250
_GAP = 40
_COLOURS = ("#e8f0fe", "#e6f4ea", "#fef7e0", "#fce8e6", "#f3e8fd", "#e0f7fa")


def _text(node: _Node) -> str:
    _, op, shape, _, _, number = node
    return f"{op} {number:g}" if number is not None else f"{op} {shape}"


def _levels(boxes: Dict[int, List[_Node]], needs: Dict[int, Set[int]]) -> Dict[int, int]:
    """How many boxes lie before each."""
    levels: Dict[int, int] = {}
    for box in boxes:  # in the order in which they run
        levels[box] = 1 + max((levels.get(one, -1) for one in needs[box]), default=-1)
    return levels


def picture(name: str, nodes: Sequence[_Node]) -> str:
    """Kernels from top to bottom; inputs, constants and views are named where they are read."""
    by_id = {node[0]: node for node in nodes}
    boxes: Dict[int, List[_Node]] = {}
    for node in sorted(nodes, key=lambda node: node[4]):
        if node[4] >= 0:
            boxes.setdefault(node[4], []).append(node)

    def sources(id: int) -> Set[int]:
        _, _, _, inputs, kernel, _ = by_id[id]
        if kernel >= 0:
            return {kernel}
        return {source for one in inputs for source in sources(one)}

    needs: Dict[int, Set[int]] = {}
    for box, inside in boxes.items():
        needs[box] = {source for node in inside for one in node[3] for source in sources(one)}
        needs[box].discard(box)
    levels = _levels(boxes, needs)
    places: Dict[int, Tuple[int, int, int]] = {}
    shapes: List[str] = []
    y = _GAP
    width = 0
    for level in range(max(levels.values(), default=-1) + 1):
        row = [box for box in boxes if levels[box] == level]
        for i, box in enumerate(row):
            places[box] = (_GAP + i * (_WIDTH + _GAP), y, (len(boxes[box]) + 1) * _LINE + 12)
        y += max(places[box][2] for box in row) + _GAP
        width = max(width, len(row) * (_WIDTH + _GAP) + _GAP)
    for box, before in needs.items():
        for one in sorted(before):
            x1, y1, height = places[one]
            x2, y2, _ = places[box]
            shapes.append(
                f'<path d="M{x1 + _WIDTH // 2} {y1 + height} L{x2 + _WIDTH // 2} {y2}" '
                'stroke="#5f6368" fill="none" marker-end="url(#arrow)"/>'
            )
    for box, inside in boxes.items():
        x, top, height = places[box]
        colour = _COLOURS[box % len(_COLOURS)]
        shapes.append(
            f'<rect x="{x}" y="{top}" width="{_WIDTH}" height="{height}" rx="6" fill="{colour}" '
            'stroke="#5f6368"/>'
        )
        for i, line in enumerate([f"kernel {box}"] + [_text(node) for node in inside]):
            weight = ' font-weight="bold"' if i == 0 else ""
            shapes.append(
                f'<text x="{x + 8}" y="{top + (i + 1) * _LINE}"{weight}>{escape(line)}</text>'
            )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y}" '
        'font-family="monospace" font-size="11">'
        f"<title>{escape(name)}</title>"
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#5f6368"/></marker></defs>'
        + "".join(shapes)
        + "</svg>\n"
    )
