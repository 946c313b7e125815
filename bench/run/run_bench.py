#!/usr/bin/env python3
"""Ratios of `hoist run -- PROGRAM` against the plain program, measured in turn in one run.

    run_bench.py [--build-dir build/release] [--scale 1] [--rounds 3] [--rows NAME,…] [--dir DIR]

Every row's outputs are compared byte for byte. Prints a table; writes OUTPUT.json and OUTPUT.html.
Exit status 1 when any output differs. At scale 1 the inputs take about 8 GiB in DIR, and the
whole about an hour on 2 cores; --scale 0.05 gives an impression in a few minutes.
"""

import argparse
import json
import operator
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

import inputs
import load
import measure
import report
import tiny_processes

LINES = 20_000_000
FILE_BYTES = 1 << 30
SMALL_FILES = 10_000


def sort_case(name, title, data, threads, *options, env=None, goal=None):
    """GNU sort gets the same threads and the same memory limit: both see the same words."""
    return measure.Case(name, title, ["sort", f"--parallel={threads}", *options, str(data)],
                        env=env or {}, input_bytes=data.stat().st_size, goal=goal)


def sort_rows(source, scratch, threads):
    yield "sort-c", lambda: sort_case(
        "sort-c", "sort, text, C locale", source.data("text", LINES), threads, goal=2.5)

    def collated():
        env = inputs.locale_environment("en_US.UTF-8", scratch)
        if env is None:
            return None
        return sort_case("sort-en", "sort, text, en_US.UTF-8", source.data("text", LINES), threads,
                         env=env, goal=5)
    yield "sort-en", collated
    yield "sort-n", lambda: sort_case(
        "sort-n", "sort -n", source.data("numbers", LINES), threads, "-n", goal=4)
    yield "sort-u", lambda: sort_case(
        "sort-u", "sort -u", source.data("duplicates", LINES), threads, "-u", goal=3)
    yield "sort-csv", lambda: sort_case(
        "sort-csv", "sort -t, -k2,2n -k1,1", source.data("csv", LINES), threads, "-t,", "-k2,2n",
        "-k1,1", goal=3)

    def external():
        data = source.data("text", LINES)
        limit = max(1, data.stat().st_size // 3 // 1024)
        return sort_case("sort-spill", "sort of 3x the memory limit", data, threads,
                         f"-S{limit}K", f"-T{scratch}", goal=1.5)
    yield "sort-spill", external


def digest_rows(source):
    def large(program, goal=None):
        data = source.data("bytes", FILE_BYTES)
        return measure.Case(program, f"{program}, one large file", [program, str(data)],
                            input_bytes=data.stat().st_size, goal=goal)

    def small():
        folder = source.files(SMALL_FILES)
        names = sorted(os.listdir(folder))
        return measure.Case("sha256sum-many", f"sha256sum, {len(names)} small files",
                            ["sha256sum", *names], cwd=folder, goal=3,
                            input_bytes=sum(path.stat().st_size for path in folder.iterdir()))

    yield "sha256sum", lambda: large("sha256sum", goal=3)
    yield "sha256sum-many", small
    for program in ("md5sum", "b2sum", "cksum"):
        yield program, lambda program=program: large(program)


def gzip_rows(source, threads):
    def gunzip(name, title, data):
        compressed = source.gzipped(data)
        peers = {"igzip": ["igzip", "-dc", str(compressed)],
                 "rapidgzip": ["rapidgzip", "-dc", "-P", str(threads), str(compressed)]}
        return measure.Case(name, title, ["gzip", "-dc", str(compressed)], goal=2,
                            input_bytes=compressed.stat().st_size,
                            peers={peer: argv for peer, argv in peers.items()
                                   if shutil.which(argv[0])})

    yield "gzip-text", lambda: gunzip("gzip-text", "gzip -dc, text",
                                      source.data("text", LINES // 2))
    yield "gzip-numbers", lambda: gunzip("gzip-numbers", "gzip -dc, numbers",
                                         source.data("numbers", LINES))


def qsort_rows(source, scratch, program):
    """The time of qsort() alone, in a program that Hoist does not know."""
    def sort(kind, count, title, goal, env=None):
        count = source.scaled(count)
        size = {"structs": 24, "strings": 8, "collated": 8}.get(kind, 4)
        seconds = pathlib.Path(scratch, "seconds")
        return measure.Case(f"qsort-{kind}", title, [str(program), kind, str(count), str(seconds)],
                            env=env or {}, input_bytes=count * size, goal=goal,
                            seconds_file=seconds)

    def collated():
        env = inputs.locale_environment("en_US.UTF-8", scratch)
        return env and sort("collated", 500_000, "qsort() of strings by strcoll()", 2, env)
    yield "qsort-collated", collated

    for kind, count, title, goal in (
            ("ints", 20_000_000, "qsort() of ints", 20),
            ("structs", 5_000_000, "qsort() of 24-byte structs by an int64_t", 5),
            ("strings", 2_000_000, "qsort() of strings by strcmp()", 2),
            ("opaque", 5_000_000, "qsort() with a comparator that cannot be guessed", 0.97)):
        yield f"qsort-{kind}", lambda row=(kind, count, title, goal): sort(*row)


def zstd_rows(source, scratch, program):
    """The time of libzstd's calls alone, in a program that Hoist does not know."""
    def case(name, title, lines, goal, *arguments, env=None):
        data = source.data("text", lines)
        seconds = pathlib.Path(scratch, "seconds")
        verb, *number = arguments
        return measure.Case(name, title, [str(program), verb, str(data), *number, str(seconds)],
                            env=env or {}, input_bytes=data.stat().st_size, goal=goal,
                            seconds_file=seconds)

    for mebibytes in (1, 4):
        yield f"zstd-frames-{mebibytes}", lambda mebibytes=mebibytes: case(
            f"zstd-frames-{mebibytes}", f"ZSTD_decompress() of {mebibytes} MiB frames",
            LINES // 2, 1.8, "decompress", str(mebibytes << 20))
    for level, lines in ((3, LINES // 2), (19, LINES // 50)):
        yield f"zstd-compress-{level}", lambda level=level, lines=lines: case(
            f"zstd-compress-{level}", f"ZSTD_compress() at level {level}, on request", lines, None,
            "compress", str(level), env={"HOIST_OPS": "+zstd"})


def zlib_rows(source, scratch, program):
    """The time of zlib's calls alone, in programs that Hoist does not know."""
    seconds = pathlib.Path(scratch, "seconds")

    def case(name, title, goal, argv, data):
        return measure.Case(name, title, [*argv, str(data), str(seconds)], goal=goal,
                            input_bytes=data.stat().st_size, seconds_file=seconds)

    def call(kind, title, goal):
        data = source.data("text", LINES // 12)
        return case(f"zlib-{kind}", title, goal, [str(program), kind],
                    data if kind == "crc32" else source.gzipped(data))

    for kind, title, goal in (("crc32", "crc32() of 16 MiB", 5),
                              ("inflate", "inflate() of a text at once", 2),
                              ("pieces", "inflate() in pieces of 16 KiB", None)):
        yield f"zlib-{kind}", lambda row=(kind, title, goal): call(*row)

    def python(name, title, statement):
        code = ("import gzip, sys, time, zlib; data = open(sys.argv[1], 'rb').read(); "
                f"start = time.perf_counter(); text = {statement}; "
                "open(sys.argv[2], 'w').write(str(time.perf_counter() - start)); "
                "print(zlib.crc32(text))")
        return case(name, title, 1.5, [sys.executable, "-c", code],
                    source.gzipped(source.data("text", LINES // 12)))

    yield "python-zlib", lambda: python("python-zlib", "Python, zlib.decompress()",
                                        "zlib.decompress(data, 31)")
    yield "python-gzip", lambda: python("python-gzip", "Python, gzip.open().read()",
                                        "gzip.open(sys.argv[1]).read()")


def deflate_rows(source, scratch, program):
    """The time of zlib's compress2() alone, on request."""
    def case(level):
        data = source.data("text", LINES // 20)
        seconds = pathlib.Path(scratch, "seconds")
        return measure.Case(f"deflate-{level}", f"compress2() at level {level}, on request",
                            [str(program), str(data), str(level), str(seconds)],
                            env={"HOIST_OPS": "+deflate"}, input_bytes=data.stat().st_size,
                            seconds_file=seconds)

    for level in (1, 6):
        yield f"deflate-{level}", lambda level=level: case(level)


def unknown_rows(source, starts):
    """Programs that Hoist does not know: what its presence costs them."""
    loops = source.scaled(30_000_000)
    yield "unknown-loop", lambda: measure.Case(
        "unknown-loop", "an unknown program, running",
        ["awk", f"BEGIN {{ for (i = 0; i < {loops}; i++) s += i % 7; print s }}"])
    yield "unknown-children", lambda: measure.Case(
        "unknown-children", f"a shell that starts {starts} unknown programs",
        ["sh", "-c", f"i=0; while [ $i -lt {starts} ]; do /bin/true; i=$((i+1)); done"])


def start_cost(runner, starts):
    """Milliseconds that `hoist run --` adds to one start of /bin/true, launcher included."""
    runs = {"plain": ["/bin/true"], "hoist": runner.accelerated(["/bin/true"])}
    case = measure.Case("start", "start of /bin/true", runs["plain"])
    taken = {tag: [] for tag in runs}
    for _ in range(starts):
        for tag, argv in runs.items():
            taken[tag].append(runner.once(case, argv, tag).seconds)
    plain, hoist = (statistics.median(taken[tag]) * 1000 for tag in ("plain", "hoist"))
    return {"starts": starts, "plain_ms": plain, "hoist_ms": hoist,
            "added_ms": hoist - plain}


def note_of_start(start):
    return (f"One start of a program that Hoist does not know: {start['plain_ms']:.2f} ms plain, "
            f"{start['hoist_ms']:.2f} ms under `hoist run --`, {start['added_ms']:+.2f} ms "
            f"(median of {start['starts']}).")


def note_of_cpu_time(row):
    """What starts cost is told better by CPU time, which other programs disturb less."""
    plain = row["plain"]["cpu_seconds"]
    parts = [f"{name} {100 * (statistics.median(map(operator.truediv, cpu, plain)) - 1):+.1f} %"
             for name, cpu in (("under `hoist run`", row["hoist"]["cpu_seconds"]),
                               *((peer["name"], peer["cpu_seconds"]) for peer in row["peers"]))]
    return (f"CPU time of {row['title']}: {statistics.median(plain):.3f} s plain, "
            f"{', '.join(parts)} (medians of {len(plain)} pairs).")


def all_rows(source, scratch, options):
    """Row name -> function that makes its inputs and returns its case, or None where it cannot."""
    return dict([*sort_rows(source, scratch, options.threads), *digest_rows(source),
                 *gzip_rows(source, options.threads),
                 *qsort_rows(source, scratch, options.build_dir.resolve() / "bench/qsort_bench"),
                 *deflate_rows(source, scratch,
                               options.build_dir.resolve() / "bench/deflate_bench"),
                 *zlib_rows(source, scratch, options.build_dir.resolve() / "bench/zlib_bench"),
                 *zstd_rows(source, scratch, options.build_dir.resolve() / "bench/zstd_bench"),
                 *unknown_rows(source, options.starts),
                 *tiny_processes.rows(pathlib.Path(scratch), options.build_dir.resolve() / "bin/hoist",
                                      max(1, options.starts // 10))])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build-dir", type=pathlib.Path, default="build/release")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full input sizes")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each; the median counts")
    parser.add_argument("--row-seconds", type=float, default=600,
                        help="no further round of a row that has taken this long")
    parser.add_argument("--starts", type=int, default=300, help="starts of an unknown program")
    parser.add_argument("--rows", help="comma-separated names (default: all; 'list' prints them)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--dir", type=pathlib.Path,
                        help="where the inputs lie and stay (default: a temporary folder)")
    parser.add_argument("--output", type=pathlib.Path, help="default: BUILD_DIR/bench/run")
    options = parser.parse_args()
    if min(options.rounds, options.starts, options.threads) < 1 or options.scale <= 0:
        parser.error("--rounds, --starts, --threads and --scale must be positive")
    return parser, options


def main():
    parser, options = arguments()
    build = options.build_dir.resolve()
    hoist, make_data = build / "bin/hoist", build / "bench/make_data"
    for program in (hoist, make_data, build / "bench/timed_run"):
        if not program.exists():
            parser.error(f"{program} is not built: run make")
    output = options.output or build / "bench/run"
    if options.dir:
        options.dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="hoist-bench-", dir=options.dir) as scratch:
        folder = options.dir.resolve() if options.dir else pathlib.Path(scratch)
        source = inputs.Inputs(make_data, folder, options.scale)
        builders = all_rows(source, scratch, options)
        chosen = options.rows.split(",") if options.rows else list(builders)
        if chosen == ["list"]:
            print("\n".join(builders))
            return 0
        unknown = [name for name in chosen if name not in builders]
        if unknown:
            parser.error(f"unknown rows: {', '.join(unknown)}")

        facts = report.machine(hoist)
        print(report.machine_line(facts), flush=True)
        runner = measure.Runner(hoist, scratch, options.rounds, options.row_seconds)
        rows, notes, during = [], [], load.Load()
        start = start_cost(runner, options.starts)
        notes.append(note_of_start(start))
        for name in chosen:
            case = builders[name]()
            if case is None:
                notes.append(f"{name} was left out: no such locale, and none could be made.")
                continue
            begin = time.perf_counter()
            rows.append(runner.measure(case))
            if name == "tiny-processes":
                notes.append(note_of_cpu_time(rows[-1]))
            print(f"{rows[-1]['title']}: {rows[-1]['ratio']:.2f}x "
                  f"({time.perf_counter() - begin:.0f} s)", file=sys.stderr, flush=True)

    during = during.finish()
    print(report.terminal_table(rows))
    print("\n".join([*notes, load.sentence(during)]))
    result = {"machine": facts, "scale": options.scale, "threads": options.threads,
              "start": start, "during": during, "rows": rows}
    output.parent.mkdir(parents=True, exist_ok=True)
    output.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
    intro = (f"Median of up to {options.rounds} alternating runs, scale {options.scale:g}, "
             f"{options.threads} threads for both; outputs compared byte for byte.")
    output.with_suffix(".html").write_text(
        report.html_page("hoist run: before and after", intro, facts, rows, notes, during))
    print(f"{output.with_suffix('.json')}\n{output.with_suffix('.html')}")
    return 0 if all(row["identical"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
