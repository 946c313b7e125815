"""What a measurement says, for people: a table for the terminal and an HTML page with a chart."""

import datetime
import html
import os
import pathlib
import platform
import re
import statistics
import subprocess

import load
import measure


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


COLUMNS = ("program", "input", "before", "after", "ratio", "goal", "identical")


def cells(row):
    return (row["title"], size_text(row["input_bytes"]), seconds_text(row["plain"]["median"]),
            seconds_text(row["hoist"]["median"]), f"{row['ratio']:.2f}x",
            f"{row['goal']:g}x" if row["goal"] else "", "yes" if row["identical"] else "NO")


def peer_cells(row):
    """The same job done by other programs, named below it."""
    for peer in row["peers"]:
        ratio = row["plain"]["median"] / peer["median"]
        yield (f"  {peer['name']}", "", "", seconds_text(peer["median"]), f"{ratio:.2f}x", "",
               "yes" if peer["identical"] else "NO")


def lines_of(rows):
    for row in rows:
        yield cells(row)
        yield from peer_cells(row)


def terminal_table(rows):
    """Aligned text; without the column of goals where there are none."""
    table = [COLUMNS, *lines_of(rows)]
    kept = [i for i, name in enumerate(COLUMNS) if name != "goal" or any(row["goal"] for row in rows)]
    widths = {i: max(len(line[i]) for line in table) for i in kept}
    return "\n".join("  ".join(line[i].ljust(widths[i]) if i == 0 else line[i].rjust(widths[i])
                               for i in kept).rstrip() for line in table)


def gain(row):
    """How a row ended: "faster", "alike", "slower", "kept" (the original ran) or "different"."""
    if not row["identical"]:
        return "different"
    if not row["taken_over"]:
        return "kept"
    if 0.95 < row["ratio"] < 1.05 or overlaps(row["plain"]["seconds"], row["hoist"]["seconds"]):
        return "alike"
    return "faster" if row["ratio"] > 1 else "slower"


def overlaps(before, after):
    """Whether the middle halves of two lists of times have common values."""
    if min(len(before), len(after)) < 2:
        return False
    (low, _, high), (other_low, _, other_high) = (
        statistics.quantiles(seconds, n=4, method="inclusive") for seconds in (before, after))
    return low <= other_high and other_low <= high


def verdict(row):
    """The same for people."""
    ratio = f"{row['ratio']:.2f}x" if row["ratio"] < 10 else f"{row['ratio']:.0f}x"
    return {"faster": f"{ratio} as fast",
            "slower": f"slower: {ratio}",
            "alike": f"as fast as before ({ratio})",
            "kept": f"the original ran: {row['reason']}",
            "different": "THE OUTPUT DIFFERS"}[gain(row)]


def in_seconds(seconds):
    """One unit for all of a page, whose bars have one scale."""
    return f"{seconds:.3f} s" if seconds < 1 else f"{seconds:.2f} s"


def spread(summary):
    """The range of times that scatter; empty where they agree."""
    if measure.scatter(summary["seconds"]) <= measure.SCATTER:
        return ""
    seconds = summary["seconds"]
    return (f"{len(seconds)} runs: {in_seconds(min(seconds))} to {in_seconds(max(seconds))}")


def summary_sentence(rows):
    """What came out, in one sentence."""
    ended = [gain(row) for row in rows]
    parts = []
    if faster := [row["ratio"] for row, how in zip(rows, ended) if how == "faster"]:
        least, most = min(faster), max(faster)
        by = f"{most:.1f}x" if len(faster) == 1 else f"{least:.1f}x to {most:.1f}x"
        parts.append(f"{len(faster)} of {len(rows)} command lines ran faster, {by} as fast")
    for how, words in (("alike", "ran as fast as before"), ("slower", "ran slower"),
                       ("kept", "ran on the original"), ("different", "gave another output")):
        if count := ended.count(how):
            parts.append(f"{count} {words}")
    return ("; ".join(parts) or "Nothing was measured") + "."


def bar(label, style, summary, longest):
    """A time as a bar, of which the longest fills the width; a thin line is the range of runs."""
    share = 100 / longest
    low, high = min(summary["seconds"]), max(summary["seconds"])
    note = spread(summary)
    scattered = f' <small>{html.escape(note)}</small>' if note else ""
    whisker = (f'<i class="range" style="left:{low * share:.2f}%;width:{(high - low) * share:.2f}%">'
               "</i>" if note else "")
    return (f'<div class="bar"><span class="label">{html.escape(label)}</span>'
            f'<span class="track"><i class="{style}" style="width:{summary["median"] * share:.2f}%">'
            f'</i>{whisker}</span>'
            f'<span class="time">{in_seconds(summary["median"])}{scattered}</span></div>')


def facts_of(row):
    """What else there is to know about a row."""
    facts = [("input", " ".join(filter(None, (
        size_text(row["input_bytes"]) if row["input_bytes"] else "", row.get("input", "")))))]
    facts.append(("memory", f"{size_text(row['plain']['max_rss_kib'] * 1024)} before, "
                  f"{size_text(row['hoist']['max_rss_kib'] * 1024)} after"))
    if row["taken_over"]:
        facts.append(("Hoist", row["reason"]))
    facts.append(("output", "identical" if row["identical"] else "DIFFERENT"))
    if row["goal"]:
        facts.append(("goal", f"{row['goal']:g}x"))
    for peer in row["peers"]:
        if not peer["identical"]:
            facts.append((peer["name"], "another output"))
    return [(name, text) for name, text in facts if text]


def article(row, longest):
    how = gain(row)
    environment = row.get("environment")
    command = f"hoist run -- {row['command']}"
    if environment:
        command = f"{environment} {command}"
    bars = [bar("before", "plain", row["plain"], longest),
            bar("after", "faster" if how == "faster" else "after", row["hoist"], longest)]
    bars += [bar(peer["name"], "plain", peer, longest) for peer in row["peers"]]
    facts = "".join(f"<li><b>{html.escape(name)}</b> {html.escape(text)}</li>"
                    for name, text in facts_of(row))
    return f"""<article class="{how}">
<h2>{html.escape(row["title"])}</h2>
<p class="verdict">{html.escape(verdict(row))}</p>
<p><code>{html.escape(command)}</code></p>
{"".join(bars)}
<ul class="facts">{facts}</ul>
</article>"""


STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --page: #fff; --faint: #59636e; --plain: #b5bcc5;
        --after: #7a8591; --faster: #1f7a4d; --rule: #d8dee4; --code: #f3f4f6; --bad: #b42318;
        --slower: #9a6700; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --page: #0d1117; --faint: #9198a1; --plain: #4b535d; --after: #7f8994;
          --faster: #3fb57c; --rule: #30363d; --code: #1b2129; --bad: #ff7b72; --slower: #d9a62e; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page);
       max-width: 52rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { line-height: 1.2; } h2 { font-size: 1.05rem; margin: 0; }
code { font: .85em ui-monospace, monospace; background: var(--code); padding: .15em .35em;
       border-radius: 4px; }
.lead { font-size: 1.15rem; }
article { display: grid; grid-template-columns: 1fr auto; gap: .2rem 1rem; padding: 1rem 0;
          border-top: 1px solid var(--rule); }
article > * { grid-column: 1 / -1; margin: 0; }
article > h2 { grid-column: 1; } article > .verdict { grid-column: 2; text-align: right; }
.verdict { color: var(--faint); } .faster > .verdict { color: var(--faster); font-weight: 700; }
.slower > .verdict { color: var(--slower); } .different > .verdict { color: var(--bad); font-weight: 700; }
.bar { display: grid; grid-template-columns: 5.5em minmax(0, 1fr) 11em; gap: .6em; align-items: center;
       font-size: .85rem; font-variant-numeric: tabular-nums; }
.label { color: var(--faint); } .track { position: relative; height: 1em; }
.track i { display: block; height: 100%; min-width: 2px; border-radius: 2px; }
.plain { background: var(--plain); } .after { background: var(--after); }
i.faster, .key.faster { background: var(--faster); }
.track .range { position: absolute; top: calc(50% - 1px); height: 2px; background: var(--ink); }
small { color: var(--faint); display: block; line-height: 1.2; }
.facts { display: flex; flex-wrap: wrap; gap: 0 1.2em; list-style: none; padding: 0; font-size: .85rem;
         color: var(--faint); }
.facts b { font-weight: 600; } .key { display: inline-block; width: .8em; height: .8em; }
footer { border-top: 1px solid var(--rule); font-size: .85rem; color: var(--faint); }
@media (max-width: 36rem) {
  article { grid-template-columns: 1fr; }
  article > .verdict { grid-column: 1; text-align: left; }
  .bar { grid-template-columns: 4em minmax(0, 1fr) 6.5em; } }
"""


def html_page(title, intro, facts, rows, notes=(), during=None):
    """A page that needs nothing from anywhere else, and is XML as well. `during`: what load.Load
    found."""
    longest = max((entry["median"] if "median" in entry else 0 for row in rows for entry in
                   (row["plain"], row["hoist"], *row["peers"])), default=1)
    longest = max([longest, *(max(row[tag]["seconds"]) for row in rows for tag in ("plain", "hoist")
                              if spread(row[tag]))])
    articles = "\n".join(article(row, longest) for row in rows)
    remarks = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>{html.escape(title)}</title>
<style>{STYLE}</style></head>
<body>
<h1>{html.escape(title)}</h1>
<p class="lead">{html.escape(summary_sentence(rows))}</p>
<p>{html.escape(intro)} {html.escape(load.sentence(during))}</p>
<p><span class="key plain"></span> before: the command as it is. <span class="key faster"></span>
<span class="key after"></span> after: the same under <code>hoist run --</code>, green where it is faster.
All bars have one scale; the longest is {in_seconds(longest)}.</p>
{articles}
<footer>
<ul>{remarks}</ul>
<p>{html.escape(machine_line(facts))}</p>
<p>Memory is the most that one process of the command held at a time.</p>
</footer>
</body></html>
"""
