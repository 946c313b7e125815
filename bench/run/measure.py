"""Runs a program as it is and under `hoist run --`, in turn, and compares what they wrote."""

import dataclasses
import filecmp
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import time


@dataclasses.dataclass
class Case:
    """One command line and what it reads. Peers do the same job with other programs."""

    name: str
    title: str
    argv: list
    stdin: pathlib.Path | None = None
    env: dict = dataclasses.field(default_factory=dict)
    cwd: pathlib.Path | None = None
    input_bytes: int = 0
    input: str = ""  # what that is, for people
    goal: float | None = None  # ratio that the project has set itself on 2 cores
    peers: dict = dataclasses.field(default_factory=dict)  # name -> argv
    # Where the program writes how many seconds of its run count; None: all of them do.
    seconds_file: pathlib.Path | None = None


@dataclasses.dataclass
class Sample:
    seconds: float
    cpu_seconds: float  # of the program and its children
    max_rss_kib: int
    status: int  # as waitpid gives it


# Above it the middle half of the times lies too far apart: the case is measured again.
SCATTER = 0.04
MANY_WORDS = 16  # of a command line


class Runner:
    """Measures cases with the `hoist` command given; its files lie in the folder `scratch`. Cases
    whose times scatter are measured up to `most_rounds` times (default: `rounds`)."""

    def __init__(self, hoist, scratch, rounds=3, case_seconds=600.0, most_rounds=0, timed_run=None):
        self.hoist = str(hoist)
        self.timed_run = str(timed_run or pathlib.Path(hoist).parent.parent / "bench/timed_run")
        self.scratch = pathlib.Path(scratch)
        self.rounds = rounds
        self.most_rounds = max(rounds, most_rounds)
        self.case_seconds = case_seconds  # no further round once a case has taken this long

    def once(self, case, argv, tag):
        """One timed run; its streams go to regular files, as with `program >out`."""
        out, err = self.streams(tag)
        for path in (out, err):
            path.unlink(missing_ok=True)
        with open(case.stdin or os.devnull, "rb") as stdin, open(out, "wb") as stdout, \
                open(err, "wb") as stderr:
            result = self.scratch / "timed"
            process = subprocess.run([self.timed_run, str(result), *map(str, argv)], stdin=stdin,
                                     stdout=stdout, stderr=stderr, cwd=case.cwd, check=False,
                                     env=plain_environment() | case.env)
        if process.returncode != 0:
            raise OSError(f"cannot measure {argv[0]}: {err.read_text(errors='replace').strip()}")
        seconds, cpu_seconds, max_rss_kib, status = result.read_text().split()
        if case.seconds_file and os.waitstatus_to_exitcode(int(status)) == 0:
            seconds = case.seconds_file.read_text()
        return Sample(float(seconds), float(cpu_seconds), int(max_rss_kib), int(status))

    def streams(self, tag):
        return self.scratch / f"{tag}.out", self.scratch / f"{tag}.err"

    def same(self, a, sample_a, b, sample_b):
        """Whether two runs wrote the same bytes to both streams and ended alike."""
        return sample_a.status == sample_b.status and all(
            filecmp.cmp(x, y, shallow=False) for x, y in zip(self.streams(a), self.streams(b)))

    def accelerated(self, argv, *options):
        return [self.hoist, "run", *options, "--", *argv]

    def explain(self, case):
        """What Hoist says it did: {"taken_over", "reason"}. Also warms the page cache.

        A program whose library calls were done for it counts as taken over.
        """
        stats = self.scratch / "stats.json"
        stats.unlink(missing_ok=True)
        self.once(case, self.accelerated(case.argv, f"--stats={stats}"), "hoist")
        counted = json.loads(stats.read_text())
        programs = counted["programs"]
        taken = [p for p in programs if p["taken_over"]]
        calls = [f"{name} on {' and '.join(done['implementations'])}"
                 for name, done in counted.get("operations", {}).items()
                 if done["implementations"]]
        if calls and not taken:
            return {"taken_over": True, "reason": "; ".join(calls)}
        chosen = taken or programs
        return {"taken_over": bool(taken),
                "reason": "; ".join(sorted({p["reason"] for p in chosen}))}

    def measure(self, case):
        """One row of the result, as it goes into the JSON file."""
        row = {"name": case.name, "title": case.title, "command": shorten(case.argv),
               "environment": shown_environment(case.env), "input": case.input,
               "input_bytes": case.input_bytes, "goal": case.goal, **self.explain(case)}
        runs = {"plain": case.argv, "hoist": self.accelerated(case.argv), **case.peers}
        samples = {tag: [] for tag in runs}
        identical = dict.fromkeys(runs, True)
        begin = time.perf_counter()
        for done in range(self.most_rounds):
            if done >= self.rounds and not any(
                    scatter([sample.seconds for sample in taken]) > SCATTER
                    for taken in samples.values()):
                break
            for tag, argv in runs.items():
                samples[tag].append(self.once(case, argv, tag))
                identical[tag] &= self.same("plain", samples["plain"][-1], tag, samples[tag][-1])
            if time.perf_counter() - begin > self.case_seconds:
                break
        for tag in runs:
            for path in self.streams(tag):
                path.unlink()
        summaries = {tag: summary(taken) for tag, taken in samples.items()}
        row |= {"plain": summaries.pop("plain"), "hoist": summaries.pop("hoist"),
                "identical": identical["hoist"],
                "peers": [{"name": tag, "identical": identical[tag], **rest}
                          for tag, rest in summaries.items()]}
        row["ratio"] = row["plain"]["median"] / row["hoist"]["median"]
        return row


def plain_environment():
    """The caller's environment without anything of Hoist's, in the C locale."""
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("HOIST", "LC_")) and key not in ("LD_PRELOAD", "LANGUAGE")}
    return env | {"LC_ALL": "C"}


def summary(samples):
    seconds = [sample.seconds for sample in samples]
    return {"seconds": seconds, "median": statistics.median(seconds), "best": min(seconds),
            "cpu_seconds": [sample.cpu_seconds for sample in samples],
            "max_rss_kib": max(sample.max_rss_kib for sample in samples),
            "status": os.waitstatus_to_exitcode(samples[-1].status)}


def scatter(seconds):
    """How far the middle half of the times lies apart, relative to their median."""
    if len(seconds) < 2:
        return 0.0
    lower, median, upper = statistics.quantiles(seconds, n=4, method="inclusive")
    return (upper - lower) / median


def shown_environment(env):
    """Of a case's variables those that decide what it computes, as a shell has them."""
    return " ".join(f"{name}={value}" for name, value in sorted(env.items())
                    if name.startswith(("LC_", "HOIST")))


def shorten(argv, limit=100):
    """The command as a shell has it, folders left out; of many arguments only the first few."""
    words = [shlex.quote(os.path.basename(str(word)) if "/" in str(word) else str(word))
             for word in argv]
    text = " ".join(words)
    if len(text) > limit and len(words) > MANY_WORDS:
        shown = " ".join(words[:MANY_WORDS // 4])
        return f"{shown} … ({len(words) - MANY_WORDS // 4} more)"
    return text if len(text) <= limit else text[:limit - 1] + "…"
