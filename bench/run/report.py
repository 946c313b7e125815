"""What a measurement says, for people: a table for the terminal and an HTML page with a chart."""

import datetime
import html
import os
import pathlib
import platform
import re
import subprocess


def machine(hoist):
    """What the figures depend on."""
    cpu = re.search(r"^model name\s*:\s*(.+)$", read("/proc/cpuinfo"), re.MULTILINE)
    memory = re.search(r"^MemTotal:\s*(\d+) kB", read("/proc/meminfo"), re.MULTILINE)
    system = re.search(r'^PRETTY_NAME="?([^"\n]+)', read("/etc/os-release"), re.MULTILINE)
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": cpu.group(1) if cpu else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(int(memory.group(1)) / 2**20, 1) if memory else None,
        "kernel": platform.release(),
        "system": system.group(1) if system else platform.system(),
        "load": round(os.getloadavg()[0], 2),
        "coreutils": first_line("sort", "--version"),
        "gzip": first_line("gzip", "--version"),
        "hoist": first_line(str(hoist), "--version"),
    }


def read(path):
    try:
        return pathlib.Path(path).read_text()
    except OSError:
        return ""


def first_line(*argv):
    try:
        result = subprocess.run(argv, capture_output=True, text=True, check=False)
    except OSError:
        return "absent"
    return (result.stdout.splitlines() or ["unknown"])[0]


def machine_line(facts):
    return (f"{facts['cpu']}, {facts['cores']} cores, {facts['memory_gib']} GiB, "
            f"{facts['system']}, Linux {facts['kernel']}, {facts['coreutils']}, {facts['gzip']}, "
            f"{facts['hoist']}, load {facts['load']} at the start, {facts['date']}")


def size_text(count):
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def seconds_text(seconds):
    return f"{seconds * 1000:.1f} ms" if seconds < 0.1 else f"{seconds:.2f} s"


COLUMNS = ("program", "input", "before", "after", "ratio", "goal", "identical", "peak memory",
           "what Hoist did")


def cells(row):
    memory = (f"{size_text(row['plain']['max_rss_kib'] * 1024)} → "
              f"{size_text(row['hoist']['max_rss_kib'] * 1024)}")
    return (row["title"], size_text(row["input_bytes"]), seconds_text(row["plain"]["median"]),
            seconds_text(row["hoist"]["median"]), f"{row['ratio']:.2f}x",
            f"{row['goal']:g}x" if row["goal"] else "", "yes" if row["identical"] else "NO",
            memory, row["reason"])


def peer_cells(row):
    """The same job done by other programs, named below it."""
    for peer in row["peers"]:
        ratio = row["plain"]["median"] / peer["median"]
        yield (f"  {peer['name']}", "", "", seconds_text(peer["median"]), f"{ratio:.2f}x", "",
               "yes" if peer["identical"] else "NO", size_text(peer["max_rss_kib"] * 1024), "")


def lines_of(rows):
    for row in rows:
        yield cells(row)
        yield from peer_cells(row)


def terminal_table(rows, columns=7):
    """The first `columns` columns as aligned text."""
    table = [line[:columns] for line in (COLUMNS, *lines_of(rows))]
    widths = [max(len(line[i]) for line in table) for i in range(columns)]
    left = {0}
    return "\n".join("  ".join(text.ljust(width) if i in left else text.rjust(width)
                               for i, (text, width) in enumerate(zip(line, widths))).rstrip()
                     for line in table)


def chart(rows):
    """Two bars a row, scaled so that the plain program's fills the width: SVG text."""
    label, bar, step = 330, 420, 44
    width, height = label + bar + 190, step * len(rows) + 10
    parts = [f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="Time of each program '
             'before and with Hoist">']
    for i, row in enumerate(rows):
        y = 8 + i * step
        slowest = max(row["plain"]["median"], row["hoist"]["median"])
        for tag, offset in (("plain", 0), ("hoist", 17)):
            seconds = row[tag]["median"]
            length = max(1.0, bar * seconds / slowest)
            parts.append(f'<rect class="{tag}" x="{label}" y="{y + offset}" width="{length:.1f}" '
                         f'height="14" rx="2"/><text class="time" x="{label + length + 6:.1f}" '
                         f'y="{y + offset + 11}">{seconds_text(seconds)}</text>')
        parts.append(f'<text class="name" x="{label - 10}" y="{y + 14}">'
                     f'{html.escape(row["title"])}</text>'
                     f'<text class="ratio" x="{label - 10}" y="{y + 29}">'
                     f'{row["ratio"]:.1f}x</text>')
    return "\n".join(parts) + "\n</svg>"


STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --page: #fff; --faint: #767676;
        --plain: #b9bdc4; --hoist: #1f7a4d; --rule: #ddd; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --page: #16181b; --faint: #9a9a9a; --plain: #5a606a; --hoist: #3fb57c;
          --rule: #333; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page);
       max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
svg { width: 100%; height: auto; font-size: 12px; }
.plain { fill: var(--plain); } .hoist { fill: var(--hoist); }
.name, .time { fill: var(--ink); } .name, .ratio { text-anchor: end; }
.ratio { fill: var(--hoist); font-weight: 600; }
.key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: .3em .6em; border-bottom: 1px solid var(--rule); text-align: right;
         white-space: nowrap; }
th:first-child, td:first-child, td:last-child { text-align: left; }
.machine { color: var(--faint); font-size: 13px; }
.different { color: #c0392b; font-weight: 700; }
"""


def html_page(title, intro, facts, rows, notes=()):
    """A page that needs nothing from anywhere else."""
    def table_row(line, tag="td"):
        return "<tr>" + "".join(
            f'<{tag}{" class=different" if text == "NO" else ""}>{html.escape(text)}</{tag}>'
            for text in line) + "</tr>"

    body = "\n".join(table_row(line) for line in lines_of(rows))
    remarks = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{html.escape(title)}</title>
<style>{STYLE}</style>
<h1>{html.escape(title)}</h1>
<p>{html.escape(intro)}</p>
<p><span class="key" style="background:var(--plain)"></span> the program as it is&emsp;
<span class="key" style="background:var(--hoist)"></span> the same command under
<code>hoist run --</code></p>
{chart(rows)}
<div class="wide"><table>
{table_row(COLUMNS, "th")}
{body}
</table></div>
<ul>{remarks}</ul>
<p class="machine">{html.escape(machine_line(facts))}</p>
</html>
"""
