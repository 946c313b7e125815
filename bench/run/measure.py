"""Runs a program as it is and under `hoist run --`, in turn, and compares what they wrote."""

import dataclasses
import filecmp
import json
import os
import pathlib
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


class Runner:
    """Measures cases with the `hoist` command given; its files lie in the folder `scratch`."""

    def __init__(self, hoist, scratch, rounds=3, case_seconds=600.0):
        self.hoist = str(hoist)
        self.scratch = pathlib.Path(scratch)
        self.rounds = rounds
        self.case_seconds = case_seconds  # no further round once a case has taken this long

    def once(self, case, argv, tag):
        """One timed run; its streams go to regular files, as with `program >out`."""
        out, err = self.streams(tag)
        for path in (out, err):
            path.unlink(missing_ok=True)
        with open(case.stdin or os.devnull, "rb") as stdin, open(out, "wb") as stdout, \
                open(err, "wb") as stderr:
            start = time.perf_counter()
            process = subprocess.Popen(argv, stdin=stdin, stdout=stdout, stderr=stderr,
                                       cwd=case.cwd, env=plain_environment() | case.env)
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
        if case.seconds_file and process.returncode == 0:
            seconds = float(case.seconds_file.read_text())
        return Sample(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, status)

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
               "input_bytes": case.input_bytes, "goal": case.goal, **self.explain(case)}
        runs = {"plain": case.argv, "hoist": self.accelerated(case.argv), **case.peers}
        samples = {tag: [] for tag in runs}
        identical = dict.fromkeys(runs, True)
        begin = time.perf_counter()
        for _ in range(self.rounds):
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


def shorten(argv, limit=100):
    text = " ".join(os.path.basename(str(word)) if "/" in str(word) else str(word)
                    for word in argv)
    return text if len(text) <= limit else text[:limit - 1] + "…"
