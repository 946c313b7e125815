#!/usr/bin/env python3
"""Speed of products with packed weights: a table from `hoist tensors bench`, and a chart from the page's tables.

    hoist tensors bench --packed --json > packed.json
    bench/tensors/packed_chart.py packed.json     # prints a table for docs/measurements/tensors.md
    bench/tensors/packed_chart.py [--check]       # draws docs/measurements/packed-products.svg from its tables

A table has one row a shape of W and one column a number n of rows of x; a cell ends with how many times
faster the product is than the library's with plain weights in the same run. The GPU is the one that
the paragraphs in front of the table name last. --check: fails when the chart is not that of the tables.
"""

import argparse
import json
import math
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "scripts"))
import picture  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/measurements/tensors.md"
CHART = ROOT / "docs/measurements/packed-products.svg"
HEAD = "| rows × columns | n = 1 |"
GPU = re.compile(r"NVIDIA (\w+)")
COLUMN = re.compile(r"n = (\d+)")
TIMES = re.compile(r"([\d.]+)x$")

WIDTH, MARGIN, GAP = 860, 64, 56  # the picture's width, left of the panels, between two of them
RIGHT, TOP, BOTTOM = 838, 78, 372
LIMIT = 4 / 3  # of products that wait for memory alone: 16 bits in place of 12


def read(text):
    """{shape: {rows of x: (microseconds, times)}} of the JSON."""
    found = {}
    for product in json.loads(text)["products"]:
        rows, columns = product["shape"]
        packed, plain = product["packed_seconds"], product["plain_seconds"]
        found.setdefault(f"{rows} × {columns}", {})[product["rows_of_x"]] = (packed * 1e6, plain / packed)
    return found


def table(found):
    counts = sorted({count for times in found.values() for count in times})
    lines = ["| rows × columns | " + " | ".join(f"n = {count}" for count in counts) + " |",
             "|---|" + "---:|" * len(counts)]
    for shape, times in found.items():
        cells = (f"{times[count][0]:.1f}, {times[count][1]:.2f}x" if count in times else "" for count in counts)
        lines.append(f"| {shape} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def read_tables(page):
    """{GPU: {shape: {n: times}}}; of a GPU's tables the one with most columns."""
    found, gpu = {}, None
    lines = iter(page.splitlines())
    for line in lines:
        named = GPU.findall(line)
        gpu = named[-1] if named else gpu
        if not line.startswith(HEAD):
            continue
        counts = [COLUMN.fullmatch(cell.strip()) for cell in line.split("|")[2:-1]]
        shapes = {}
        next(lines)
        for row in lines:
            if not row.startswith("|"):
                break
            shape, *cells = (cell.strip() for cell in row.split("|")[1:-1])
            times = {int(count[1]): TIMES.search(cell) for count, cell in zip(counts, cells) if count}
            shapes[shape] = {n: float(time[1]) for n, time in times.items() if time}
        if len(counts) > max((len(times) for times in found.get(gpu, {}).values()), default=0):
            found[gpu] = shapes
    if not found:
        raise ValueError(f"{PAGE.name} has no table that begins with {HEAD}")
    return found


def draw_panel(drawn, gpu, shapes, left, right, top):
    """Over n the times of each shape."""
    counts = sorted({n for times in shapes.values() for n in times})

    def x(n):
        return left + math.log2(n) / math.log2(counts[-1]) * (right - left)

    def y(times):
        return BOTTOM - times / top * (BOTTOM - TOP)

    drawn.text(left, TOP - 14, gpu, "strong")
    for step in range(int(top * 4) + 1):
        drawn.path(f"M{left:.1f} {y(step / 4):.1f}H{right:.1f}", "rule" if step == 4 else "grid")
        drawn.text(left - 8, y(step / 4) + 4, f"{step / 4:.2f}", "end")
    drawn.path(f"M{left:.1f} {y(LIMIT):.1f}H{right:.1f}", "rule dashed")
    for n in counts:
        drawn.text(x(n), BOTTOM + 20, str(n), "middle")
    drawn.text((left + right) / 2, BOTTOM + 44, "rows of x", "middle")
    for i, times in enumerate(shapes.values()):
        points = "L".join(f"{x(n):.1f} {y(time):.1f}" for n, time in sorted(times.items()))
        drawn.path(f"M{points}", style_of(i))


def style_of(i):
    return f"c{i % 4} curve" + (" dashed" if i >= 4 else "")


def chart(found):
    times = [time for shapes in found.values() for of_one in shapes.values() for time in of_one.values()]
    top = math.ceil(max(*times, LIMIT) * 4) / 4
    drawn = picture.Picture(WIDTH, "Speed of products with packed weights by shape and rows of x")
    drawn.text(MARGIN, 28, "Times as fast as the library's product with plain weights", "title")
    width = (RIGHT - MARGIN - GAP * (len(found) - 1)) / len(found)
    for i, (gpu, shapes) in enumerate(sorted(found.items())):
        left = MARGIN + i * (width + GAP)
        draw_panel(drawn, gpu, shapes, left, left + width, top)
    names = list(dict.fromkeys(shape for shapes in found.values() for shape in shapes))
    entries = [(style_of(i), name) for i, name in enumerate(names)]
    entries.append(("rule dashed", "what 12 bits of 16 allow"))
    return drawn.whole(picture.legend(drawn, MARGIN, RIGHT, BOTTOM + 74, entries, (RIGHT - MARGIN) / 4))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measured", nargs="?", type=argparse.FileType(),
                        help="JSON of hoist tensors bench --packed, whose table is printed; - is stdin")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if not options.measured:
        return picture.show_or_check(CHART, chart(read_tables(PAGE.read_text(encoding="utf-8"))), ROOT,
                                     "bench/tensors/packed_chart.py", options.check)
    try:
        found = read(options.measured.read())
    except (ValueError, KeyError, TypeError) as error:
        sys.exit(f"packed_chart: {options.measured.name} is no JSON of a run with a GPU: {error}")
    print(table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
