#!/usr/bin/env python3
"""Draws bandwidth over size from the transfer benchmarks, and prints the table beside it.

    hoist bench device --json > transfer.json
    bench/device/transfer_chart.py transfer.json docs/measurements/transfer.svg

The best repetition counts. The table (Markdown, standard output) has one row a size and one column a
path: GB/s, in parentheses the peer's in the same run.
"""

import argparse
import json
import math
import re
import sys

NAME = re.compile(r"^device/transfer/(\w+)/(?:peer:([^/]+)/)?(\w+)/(\d+)([KMG])iB(?:/|$)")
UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}
PATHS = (("upload", "pageable"), ("download", "pageable"), ("upload", "file"),
         ("upload", "pinned"), ("download", "pinned"), ("both", "pageable"), ("both", "pinned"))
CHARTED = {("upload", "pageable"): "#1f7a4d", ("download", "pageable"): "#c0681f",
           ("upload", "file"): "#3465a4", ("upload", "pinned"): "#888888"}
WIDTH, HEIGHT = 950, 430
LEFT, RIGHT, TOP, BOTTOM = 60, 300, 40, 50
STYLE = """text { font: 13px system-ui, sans-serif; fill: #333; text-anchor: middle; }
.left { text-anchor: start; } .right { text-anchor: end; }
.title { font-weight: 600; fill: #111; }
.grid { stroke: #ddd; } .page { fill: #fff; }
.line { fill: none; stroke-width: 2.2; } .peer { stroke-dasharray: 5 4; stroke-width: 1.6; }"""


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


def chart(rates):
    paths = [path for path in CHARTED if path in rates]
    sizes = sorted({size for path in paths for size in rates[path]})
    top = 10 * math.ceil(max(rate for path in paths for cell in rates[path].values()
                             for rate in cell.values()) / 1e10)

    def x(size):
        share = math.log2(size / sizes[0]) / math.log2(sizes[-1] / sizes[0])
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(rate):
        return HEIGHT - BOTTOM - rate / 1e9 / top * (HEIGHT - TOP - BOTTOM)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
             "<title>Bandwidth between host and device by size of the transfer</title>",
             f"<style>\n{STYLE}\n</style>",
             f'<rect class="page" width="{WIDTH}" height="{HEIGHT}"/>',
             f'<text class="title left" x="{LEFT}" y="24">GB/s by size of the transfer</text>']
    for rate in range(0, top + 1, 10):
        parts.append(f'<path class="grid" d="M{LEFT} {y(rate * 1e9):.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text class="right" x="{LEFT - 8}" y="{y(rate * 1e9) + 4:.1f}">{rate}</text>')
    for size in sizes[::2]:
        parts.append(f'<text x="{x(size):.1f}" y="{HEIGHT - BOTTOM + 22}">{size_text(size)}</text>')
    legend = TOP + 20
    for path in paths:
        for key, style, note in (("ours", "line", "Transfer"), ("peer", "line peer", "cudaMemcpy")):
            points = [(x(size), y(cell[key])) for size, cell in sorted(rates[path].items())
                      if key in cell]
            if not points:
                continue
            steps = "L".join(f"{px:.1f} {py:.1f}" for px, py in points)
            colour = CHARTED[path]
            parts.append(f'<path class="{style}" stroke="{colour}" d="M{steps}"/>')
            line = WIDTH - RIGHT + 16
            parts.append(f'<path class="{style}" stroke="{colour}" d="M{line} {legend}h26"/>')
            parts.append(f'<text class="left" x="{line + 34}" y="{legend + 4}">'
                         f'{" ".join(path)}: {note}</text>')
            legend += 22
    return "\n".join(parts) + "\n</svg>\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measured", type=argparse.FileType(), help="JSON of hoist bench; - is stdin")
    parser.add_argument("svg", help="the chart to write")
    arguments = parser.parse_args()
    try:
        rates = read(arguments.measured.read())
    except (ValueError, KeyError, TypeError) as error:
        sys.exit(f"transfer_chart: {arguments.measured.name} is no JSON of `hoist bench`: {error}")
    if not any(path in rates for path in CHARTED):
        sys.exit("transfer_chart: no measured transfers (in the JSON): was there a GPU?")
    with open(arguments.svg, "w", encoding="utf-8") as file:
        file.write(chart(rates))
    print(table(rates))


if __name__ == "__main__":
    main()
