#!/usr/bin/env python3
"""Bandwidth over size: a table from the transfer benchmarks, and a chart from the page's table.

    hoist bench device --json > transfer.json
    bench/device/transfer_chart.py transfer.json   # prints the table of docs/measurements/transfers.md
    bench/device/transfer_chart.py [--check]       # draws its chart, transfer.svg, from that table

The best repetition counts. The table (Markdown) has one row a size and one column a path: GB/s, in
parentheses the peer's in the same run. --check: fails when the chart is not that of the table.
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
PAGE = ROOT / "docs/measurements/transfers.md"
CHART = ROOT / "docs/measurements/transfer.svg"

NAME = re.compile(r"^device/transfer/(\w+)/(?:peer:([^/]+)/)?(\w+)/(\d+)([KMG])iB(?:/|$)")
UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}
PATHS = (("upload", "pageable"), ("download", "pageable"), ("upload", "file"),
         ("upload", "pinned"), ("download", "pinned"), ("both", "pageable"), ("both", "pinned"))
CHARTED = {("upload", "pageable"): "c2", ("download", "pageable"): "c0",
           ("upload", "file"): "c1", ("upload", "pinned"): "c3"}
WIDTH, BOTTOM = 860, 390  # the picture's width, and where the size axis lies
LEFT, RIGHT, TOP = 76, 830, 48


def read(text):
    """{(direction, memory): {size: {peer or "": bytes a second}}}"""
    rates = {}
    for run in json.loads(text)["benchmarks"]:
        match = NAME.match(run["name"])
        if not match or run.get("run_type") == "aggregate" or "bytes_per_second" not in run:
            continue
        direction, peer, memory, count, unit = match.groups()
        found = rates.setdefault((direction, memory), {}).setdefault(int(count) * UNITS[unit], {})
        key = "peer" if peer else "ours"
        found[key] = max(found.get(key, 0), run["bytes_per_second"])
    return rates


def size_text(size):
    for unit in "GMK":
        if size >= UNITS[unit]:
            return f"{size // UNITS[unit]} {unit}iB"
    return f"{size} bytes"


def table(rates):
    paths = [path for path in PATHS if path in rates]
    lines = ["| | " + " | ".join(" ".join(path) for path in paths) + " |",
             "|---|" + "---:|" * len(paths)]
    for size in sorted({size for path in paths for size in rates[path]}):
        cells = []
        for path in paths:
            cell = rates[path].get(size, {})
            ours = f"{cell['ours'] / 1e9:.1f}" if "ours" in cell else ""
            cells.append(ours + (f" ({cell['peer'] / 1e9:.1f})" if "peer" in cell else ""))
        lines.append(f"| {size_text(size)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def read_table(page):
    """The same from the first table of a page whose columns are paths."""
    lines = page.splitlines()
    names = [line for line in lines if line.startswith("| | upload pageable |")]
    if not names:
        raise ValueError("has no table of transfers")
    paths = [tuple(name.split()) for name in names[0].split("|")[2:-1]]
    rates = {path: {} for path in paths}
    for line in lines[lines.index(names[0]) + 2:]:
        if not line.startswith("|"):
            break
        size, *cells = (cell.strip() for cell in line.split("|")[1:-1])
        count, unit = size.split()
        for path, cell in zip(paths, cells):
            figures = re.findall(r"[\d.]+", cell)
            rates[path][int(count) * UNITS[unit[0]]] = {
                key: float(figure) * 1e9 for key, figure in zip(("ours", "peer"), figures)}
    return rates


def chart(rates):
    paths = [path for path in CHARTED if path in rates]
    sizes = sorted({size for path in paths for size in rates[path]})
    top = 10 * math.ceil(max(rate for path in paths for cell in rates[path].values()
                             for rate in cell.values()) / 1e10)

    def x(size):
        share = math.log2(size / sizes[0]) / math.log2(sizes[-1] / sizes[0])
        return LEFT + share * (RIGHT - LEFT)

    def y(rate):
        return BOTTOM - rate / 1e9 / top * (BOTTOM - TOP)

    drawn = picture.Picture(WIDTH, "Bandwidth between host and device by size of the transfer")
    drawn.text(LEFT, 28, "Bandwidth between host and GPU, by size of the transfer", "title")
    for rate in range(0, top + 1, 10):
        drawn.path(f"M{LEFT} {y(rate * 1e9):.1f}H{RIGHT}", "grid")
        drawn.text(LEFT - 8, y(rate * 1e9) + 4, str(rate), "end")
    for size in sizes[::2]:
        drawn.text(x(size), BOTTOM + 20, size_text(size), "middle")
    drawn.text((LEFT + RIGHT) / 2, BOTTOM + 44, "size of the transfer (KiB, MiB, GiB)", "middle")
    drawn.add(f'<text class="middle" transform="translate(22 {(TOP + BOTTOM) / 2}) rotate(-90)">'
              "bandwidth (GB/s)</text>")
    entries = []
    for path in paths:
        for key, style, note in (("ours", "", "Transfer"), ("peer", " dashed", "cudaMemcpy")):
            points = [(x(size), y(cell[key])) for size, cell in sorted(rates[path].items())
                      if key in cell]
            if not points:
                continue
            style = f"{CHARTED[path]} curve{style}"
            drawn.path("M" + "L".join(f"{px:.1f} {py:.1f}" for px, py in points), style)
            entries.append((style, f"{' '.join(path)}: {note}"))
    return drawn.whole(picture.legend(drawn, LEFT, RIGHT, BOTTOM + 72, entries, (RIGHT - LEFT) / 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measured", nargs="?", type=argparse.FileType(),
                        help="JSON of hoist bench, whose table is printed; - is stdin")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if not options.measured:
        return picture.show_or_check(CHART, chart(read_table(PAGE.read_text(encoding="utf-8"))), ROOT,
                                     "bench/device/transfer_chart.py", options.check)
    try:
        rates = read(options.measured.read())
    except (ValueError, KeyError, TypeError) as error:
        sys.exit(f"transfer_chart: {options.measured.name} is no JSON of `hoist bench`: {error}")
    if not any(path in rates for path in CHARTED):
        sys.exit("transfer_chart: no measured transfers (in the JSON): was there a GPU?")
    print(table(rates))
    return 0


if __name__ == "__main__":
    sys.exit(main())
