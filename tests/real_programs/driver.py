"""Runs real programs plain and under Hoist on the same inputs; what they leave must be the same.

A scenario is a function that gets a Side, uses programs through it, and tells it what it saw:

    @scenario("bzip2", needs=["bzip2"], takes=["crc32"])
    def bzip2(side):
        text = side.folder / "text"
        text.write_bytes(inputs.text(side.seed, 1 << 20))
        side.run("bzip2", "-k", text)
        side.see("archive", text.with_suffix(".bz2").read_bytes())

The same scenario runs once plain and once in each Mode of Hoist, in a folder of the same path with
the same seed. Everything seen, and every exit status, must agree, the operations named in `takes`
must have taken something, and nothing may have been switched off by --verify.
"""

import collections
import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from hoist_tree import HOIST, environment  # noqa: E402

PATIENCE = 600  # seconds for one command


class Difference(Exception):
    """A program did under Hoist what it does not do without."""


@dataclasses.dataclass(frozen=True)
class Mode:
    """A way to run programs; `options` of `hoist run`, None: plain."""
    name: str
    options: tuple | None = None
    opted_in: frozenset = frozenset()


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    function: object
    needs: tuple
    takes: tuple
    opt_in_takes: tuple
    heavy: bool  # a short run leaves out the mode with everything that is opt-in
    sanitized: bool  # whether it says something about a preset with a sanitizer

    def missing(self):
        """Why it cannot run here, or None."""
        for program in self.needs:
            if shutil.which(program) is None and not pathlib.Path(program).exists():
                return f"{program} is not installed"
        if os.environ.get("HOIST_SANITIZE") and not self.sanitized:
            return "engines for library calls are not built with sanitizers"
        return None


SCENARIOS = {}


def scenario(name, needs, takes=(), opt_in_takes=(), heavy=False, sanitized=False):
    """Registers a scenario. `needs` are programs or paths, `takes` the operations that must have
    done something under Hoist, `opt_in_takes` those that must as well where all are on."""
    def register(function):
        SCENARIOS[name] = Scenario(name, function, tuple(needs), tuple(takes), tuple(opt_in_takes),
                                   heavy, sanitized)
        return function
    return register


def operations():
    """The operations that this build has."""
    listed = subprocess.run([HOIST, "options"], capture_output=True, text=True, check=True).stdout
    return listed.rsplit("Operations:", 1)[1].split()


def modes(scene, short):
    """Plain first, then Hoist as it is, with everything that is opt-in, and in long runs with half
    of the calls replayed on the original, too."""
    extra = frozenset(operations()) & {"aes", "deflate", "zstd", "memcpy"}
    everything = ("--ops", ",".join(f"+{name}" for name in sorted(extra)))
    result = [Mode("plain"), Mode("hoist", ())]
    if not (short and scene.heavy):
        result.append(Mode("opt-in", everything, extra))
    if not short:
        result.append(Mode("verify", (*everything, "--verify=0.5"), extra))
    return result


class Side:
    """What a scenario runs its programs with. `scale` grows its inputs; `folder` is its own, empty
    at first and removed behind it; `home` is HOME and holds what is not to be looked at."""

    def __init__(self, mode, folder, seed, scale):
        self.mode = mode
        self.folder = folder / "work"
        self.home = folder / "home"
        self.seed = seed
        self.scale = scale
        self.seen = {}
        self.encoded = collections.defaultdict(dict)
        self.expected = 0  # conditions that held
        self.bytes = 0  # of what was seen
        self.calls = collections.Counter()
        self.passed = collections.Counter()
        self._statistics = []
        self._user = None
        self._servers = []
        for path in (self.folder, self.home):
            path.mkdir()
        self.env = environment(HOME=str(self.home), XDG_CACHE_HOME=str(self.home),
                               TMPDIR=str(self.home), TZ="UTC", OPENSSL_CONF=None)

    def become(self, name):
        """Where we are root, all that follows runs as user `name`, who gets the folders."""
        if os.geteuid() == 0:
            self._user = pwd.getpwnam(name)
            for folder in (self.folder, self.home):
                for path in (folder, *folder.rglob("*")):
                    os.chown(path, self._user.pw_uid, self._user.pw_gid, follow_symlinks=False)

    def _words(self, command):
        words = [str(word) for word in command]
        if self.mode.options is not None:
            statistics = self.home / f"stats-{len(self._statistics)}.json"
            self._statistics.append(statistics)
            words = [str(HOIST), "run", f"--stats={statistics}", *self.mode.options, "--", *words]
        if self._user is not None:
            words = ["setpriv", f"--reuid={self._user.pw_uid}", f"--regid={self._user.pw_gid}",
                     "--clear-groups", *words]
        return words

    def run(self, *command, status=0, env=None, **options):
        """Runs a command to its end; its output as bytes. Its exit status must be `status`, or
        where that is None the same on both sides."""
        options.setdefault("cwd", self.folder)
        if "input" not in options:
            options.setdefault("stdin", subprocess.DEVNULL)
        if "stdout" not in options:
            options.update(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        done = subprocess.run(self._words(command), env=self.env | (env or {}), timeout=PATIENCE,
                              check=False, **options)
        if status is None:
            self.see(f"status of {self.shown(command)}", done.returncode)
        elif done.returncode != status:
            raise Difference(f"{self.shown(command)} gave {done.returncode}, not {status}: "
                             f"{(done.stderr or b'')[-600:].decode(errors='replace')}")
        return done.stdout

    def shell(self, script, **options):
        """A pipeline that fails when any of its parts does."""
        return self.run("bash", "-euo", "pipefail", "-c", script, **options)

    def start(self, *command, log, env=None):
        """Starts a server; its output goes to file `log`. stop() or finish() ends it."""
        with open(log, "ab") as output:
            process = subprocess.Popen(self._words(command), env=self.env | (env or {}),
                                       cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=output, start_new_session=True)
        self._servers.append(process)
        return process

    def stop(self, process, number=signal.SIGTERM, status=0):
        """Sends the signal to what start() gave (under Hoist: to `hoist run`, which passes it
        on), and expects this exit status."""
        process.send_signal(number)
        got = process.wait(PATIENCE)
        self._servers.remove(process)
        if got != status:
            raise Difference(f"{self.shown(process.args)} ended with {got}, not {status}")

    def see(self, name, value):
        """Something that must be the same on both sides; bytes are kept as their digest."""
        self.bytes += len(value if isinstance(value, bytes) else str(value))
        if isinstance(value, bytes):
            value = f"{len(value)} bytes, SHA-256 {hashlib.sha256(value).hexdigest()}"
        self.seen[name] = value

    def see_encoded(self, operation, name, value):
        """As see(), for bytes that may differ where `operation` (deflate, zstd), which compresses,
        was asked for. What they decode to is to be seen apart."""
        if operation not in self.mode.opted_in:
            self.bytes += len(value)
            self.encoded[operation][name] = hashlib.sha256(value).hexdigest()

    def see_tree(self, name, folder):
        """The names, kinds, modes and contents below a folder."""
        digest = hashlib.sha256()
        for path in sorted(folder.rglob("*")):
            status = path.lstat()
            digest.update(f"{path.relative_to(folder)} {status.st_mode:o}\n".encode())
            if path.is_symlink():
                digest.update(os.readlink(path).encode())
            elif path.is_file():
                digest.update(path.read_bytes())
                self.bytes += status.st_size
        self.see(name, digest.hexdigest())

    def expect(self, condition, message):
        """What must hold on every side."""
        if not condition:
            raise Difference(message)
        self.expected += 1

    @staticmethod
    def shown(command):
        return " ".join(str(word) for word in command)[-300:]

    def finish(self):
        """Ends what still runs, and reads what Hoist counted."""
        for process in self._servers:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # its own session, made by start()
            except ProcessLookupError:
                pass
            process.wait()
        for path in self._statistics:
            if not path.exists():
                continue
            counted = json.loads(path.read_text())
            for name, counts in counted["operations"].items():
                self.calls[name] += counts["calls"]
                for reason, calls in counts.get("passed", {}).items():
                    self.passed[f"{name}: {reason}"] += calls
        if (self.home / "hoist/switched-off").exists():
            raise Difference("--verify: " + (self.home / "hoist/switched-off").read_text())


@dataclasses.dataclass
class Outcome:
    """What came of one scenario so far."""
    scenario: str
    skipped: str | None = None
    rounds: int = 0
    runs: int = 0  # under Hoist
    compared: int = 0  # values, files, trees and conditions
    bytes: int = 0  # of those
    problems: list = dataclasses.field(default_factory=list)
    calls: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    passed: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    seconds: float = 0  # of CPU time, all modes together

    def row(self):
        if self.skipped:
            return f"{self.scenario:15} skipped: {self.skipped}"
        taken = ", ".join(f"{name} {calls}" for name, calls in sorted(self.calls.items()) if calls)
        return (f"{self.scenario:15} {self.rounds:6} {self.runs:5} {self.compared:8} "
                f"{self.bytes / 1e6:9.1f} {len(self.problems):11} {self.seconds:7.1f}  "
                f"{taken or '-'}")


HEADING = (f"{'program':15} {'rounds':>6} {'runs':>5} {'compared':>8} {'MB':>9} "
           f"{'differences':>11} {'CPU s':>7}  taken (calls)")


def _run_side(scene, mode, seed, scale, parent):
    folder = parent / "run"
    folder.mkdir()
    side = Side(mode, folder, seed, scale)
    problem = None
    try:
        try:
            scene.function(side)
        finally:
            side.finish()
    except (Difference, subprocess.TimeoutExpired) as error:
        problem = f"{mode.name}, seed {seed}: {error}"
    shutil.rmtree(folder)
    return side, problem


def _differences(plain, side, scene):
    where = f"{side.mode.name}, seed {side.seed}"
    for name in sorted(plain.seen.keys() | side.seen.keys()):
        if plain.seen.get(name) != side.seen.get(name):
            yield f"{where}: {name}: plain {plain.seen.get(name)}, Hoist {side.seen.get(name)}"
    for operation, values in side.encoded.items():
        for name, value in values.items():
            if plain.encoded[operation].get(name) != value:
                yield f"{where}: {name} is encoded in another way, without {operation}"
    have = operations()
    wanted = scene.takes + (scene.opt_in_takes if side.mode.opted_in else ())
    for operation in wanted:
        done = side.calls[operation] + side.passed[f"{operation}: verify: same"]
        if operation in have and done == 0:
            left = ", ".join(f"{reason} {n}" for reason, n in side.passed.items()) or "nothing"
            yield f"{where}: {operation} took nothing; left to the original: {left}"


def _cpu_seconds():
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def run_once(outcome, scene, seed, scale, which):
    """One round of a scenario in all modes; adds to `outcome`."""
    began = _cpu_seconds()
    outcome.rounds += 1
    with tempfile.TemporaryDirectory(prefix="hoist-real-") as parent:
        # Servers that run as another user reach their folders through it.
        os.chmod(parent, 0o755)
        plain, problem = _run_side(scene, which[0], seed, scale, pathlib.Path(parent))
        if problem:
            outcome.problems.append(problem)
            return
        for mode in which[1:]:
            side, problem = _run_side(scene, mode, seed, scale, pathlib.Path(parent))
            outcome.runs += 1
            outcome.compared += len(side.seen) + side.expected
            outcome.compared += sum(len(values) for values in side.encoded.values())
            outcome.bytes += side.bytes
            outcome.calls += side.calls
            outcome.passed += side.passed
            outcome.problems += [problem] if problem else _differences(plain, side, scene)
    outcome.seconds += _cpu_seconds() - began


def free_ports(count):
    """Different TCP ports of the loopback interface that nobody uses at this moment."""
    with contextlib.ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]


def wait_for(what, ready, process):
    """Asks ready() until it is true; a server that ended meanwhile is a Difference."""
    deadline = time.monotonic() + PATIENCE
    while not ready():
        if process.poll() is not None:
            raise Difference(f"{what} ended with {process.returncode} while it started")
        if time.monotonic() > deadline:
            raise Difference(f"{what} does not answer")
        time.sleep(0.02)


def listens(port):
    """Whether somebody takes connections at this port of the loopback interface."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
