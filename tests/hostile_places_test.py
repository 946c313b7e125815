#!/usr/bin/env python3
"""Programs under Hoist in places where what we add may be refused or may fault: no room for our
counters, limits, no /proc, filters of system calls. Each must do what it does without us, and fail
as it fails without us."""

import dataclasses
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time
import unittest

from hoist_tree import BUILD, HOIST, engine_is_built, environment, run
from hostile_case import (CLONE3, ENOSYS, EPERM, FALLOCATE, FLOCK, HOISTD, IO_URING_SETUP, LINES,
                          MEMFD_CREATE, NOT_PLAIN, SHM, Case, Place, cases, in_mounts, limited, outcome,
                          refusing, refusing_all, scratch, setUpModule, tearDownModule, without_summary)

SANITIZED = bool(os.environ.get("HOIST_SANITIZE"))
ROOT = os.geteuid() == 0
STRANGER = 54399
CLIENT = BUILD / "tests/hoistd-client"
# Those whose need of memory is measured first.
MEASURED = {"sort", "sha256sum", "gzip -dc", "calls", "zlib", "blas", "crypto"}


def lowest(is_enough, high, step):
    """The lowest limit up to `high` that is enough, `step` too high at most."""
    low = 0
    while high - low > step:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


class Control(Place):
    def test_cases_are_taken_over_where_nothing_is_amiss(self):
        stats = scratch().path / "stats.json"
        for what, case in cases().items():
            with self.subTest(case=what):
                status, _, errors, _ = outcome([], case, (f"--stats={stats}",))
                self.assertEqual(status, 1 if what == "sha256sum" else 0, errors)
                counted = json.loads(stats.read_text())["operations"]
                served = {name for name, operation in counted.items() if operation["calls"] > 0}
                self.assertEqual(served & set(case.operations), set(case.operations), counted)
        self.same({"usual": []})


@unittest.skipUnless(ROOT, "mounts need root")
class Mounts(Place):
    def test_shared_memory(self):
        self.same({name: in_mounts(script) for name, script in SHM.items()})

    def test_counted_runs(self):
        # Counters find another place, or none, which the last line says.
        for name, script in SHM.items():
            for temporary in ("", "; mount -t tmpfs -o size=4k tmpfs /tmp"):
                with self.subTest(place=name, temporary=temporary):
                    place = in_mounts(script + temporary)
                    status, output, errors, _ = outcome(place, cases()["sort"], ("--stats",),
                                                        env=environment(XDG_RUNTIME_DIR=None,
                                                                        TMPDIR="/tmp"))
                    self.assertEqual((status, output[:7]), (0, b"0 line\n"))
                    lines = errors.decode().splitlines()
                    if temporary and name != "/dev/shm with room for some":
                        self.assertRegex(lines[0], "^hoist: warning: the program ran, but nothing "
                                         "was counted: .*/dev/shm/hoist-0")
                        self.assertEqual(len(lines), 1)
                    else:
                        self.assertRegex(lines[0], "^hoist: sort big .*: ran on the engine")
                    self.assertEqual(list(pathlib.Path("/tmp").glob("hoist-0/*")), [])

    def test_counted_runs_that_come_and_go_together(self):
        # Each removes the folder under $TMPDIR that the next one needs; here one more helps.
        removing = ("import os\nwhile True:\n  try: os.rmdir(os.environ.get('TMPDIR', '/tmp') + "
                    f"'/hoist-{os.geteuid()}')\n  except OSError: pass")
        place = in_mounts(f"{SHM['/dev/shm read-only']}; mount -t tmpfs tmpfs /tmp"
                          if not str(scratch().path).startswith("/tmp/") else
                          f"{SHM['/dev/shm read-only']}; mkdir -p {scratch().path}/shared; "
                          f"export TMPDIR={scratch().path}/shared")
        script = (f"{shlex.join([sys.executable, '-c', removing])} & remover=$!; "
                  "for i in 1 2 3 4 5 6 7 8; do (for j in $(seq 60); do "
                  f"{HOIST} run --stats -- true; done 2> err.$i) & list=\"$list $!\"; done; "
                  "wait $list; kill $remover")
        files = outcome([*place, "sh", "-c", script], Case([]),
                        env=environment(XDG_RUNTIME_DIR=None))[3]
        for i in range(1, 9):
            lines = files[f"err.{i}"][1].splitlines()
            self.assertEqual(len(lines), 60)
            self.assertEqual([line for line in lines if b"ran on the original" not in line], [])

    def test_top_works_everywhere(self):
        for name, script in SHM.items():
            done = run(*in_mounts(script), HOIST, "top", "--once")
            self.assertEqual((done.returncode, done.stderr), (0, b""), name)

    @unittest.skipIf(SANITIZED, "the leak checker needs /proc")
    def test_no_proc(self):
        self.same({"no /proc": in_mounts("mount -t tmpfs tmpfs /proc")})

    def test_full_temporary_folder(self):
        full = in_mounts("mount -t tmpfs -o size=4k tmpfs /tmp; head -c 9999 /dev/zero > /tmp/x 2> /dev/null || :"
                         if not str(scratch().path).startswith("/tmp/") else
                         f"mkdir -p {scratch().path}/full; mount -t tmpfs -o size=4k tmpfs "
                         f"{scratch().path}/full; export TMPDIR={scratch().path}/full")
        self.same({"full TMPDIR": full})

    def test_read_only_cache(self):
        cache = scratch().path / "cache"
        (cache / "hoist").mkdir(parents=True)
        (cache / "hoist/profile.json").write_text("{}")
        self.same({"read-only cache": in_mounts(f"mount --bind -o ro {cache} {cache}")},
                  env=environment(XDG_CACHE_HOME=str(cache)))

    def test_many_at_once(self):
        place = in_mounts(SHM["/dev/shm tiny"])
        count = 100
        for what in ("sort", "sha256sum", "gzip -dc", "calls"):
            if what not in cases():
                continue
            for options in ("", "--stats=/dev/null"):
                case = cases()[what]
                expected = outcome([], case)
                each = shlex.join([str(word) for word in (HOIST, "run", *options.split(), "--",
                                                          *case.command)])
                script = (f"for i in $(seq {count}); do ({each} > out.$i 2> err.$i; "
                          "echo $? > status.$i) & done; wait")
                files = outcome([*place, "sh", "-c", script], Case([]))[3]
                for i in range(1, count + 1):
                    self.assertEqual(int(files[f"status.{i}"][1]), expected[0])
                    self.assertTrue(files[f"out.{i}"][1] == expected[1], what)
                    self.assertEqual(without_summary(files[f"err.{i}"][1]), expected[2])


@unittest.skipIf(shutil.which("prlimit") is None, "no prlimit")
class Limits(Place):
    def test_file_size(self):
        # With something to be noted in each file that we may write, too.
        cache = scratch().path / "noted"
        (cache / "hoist").mkdir(parents=True)
        (cache / "hoist/profile.json").write_text("{}")
        log = scratch().path / "log"
        log.write_text("x" * 100)
        log.chmod(0o666)
        env = environment(XDG_CACHE_HOME=str(cache), HOIST_LOG="debug", HOIST_LOG_FILE=str(log))
        self.same({f"fsize={size}": limited(f"fsize={size}")
                   for size in (0, 100, 19487, 1131535)}, env=env,
                  # In a pipeline it is another program that the limit ends, and sort that does not
                  # need files where the original does.
                  only=set(cases()) - {"pipeline"})
        self.assertEqual(log.read_text()[:100], "x" * 100)

    def test_counted_runs_may_not_grow_files(self):
        for size in (0, 19487, 20000):
            status, output, errors, _ = outcome(limited(f"fsize={size}"), cases()["sort"],
                                                ("--stats",))
            self.assertEqual((status, output[:7]), (0, b"0 line\n"))
            self.assertRegex(errors, rb"^hoist: warning: .* nothing was counted: .*File too large"
                             if size < 20000 else rb"^hoist: sort big .*: ran on the engine")

    @unittest.skipIf(SANITIZED, "sanitizers need descriptors, threads and memory of their own")
    def test_others(self):
        limits = {"nofile": (3, 4, 5, 6, 10, 11), "as": (10**7, 3 * 10**7, 10**9),
                  "data": (0, 10**6, 10**8), "stack": (32768, 65536, 524287)}
        self.same({f"{name}={value}": limited(f"{name}={value}")
                   for name, values in limits.items() for value in values},
                  only={"sort", "sha256sum", "gzip -d", "calls"})
        self.same({"all that we do not use": limited("memlock=0", "locks=0", "msgqueue=0", "core=0",
                                                     "cpu=20", "sigpending=0", "rss=0")})

    @unittest.skipUnless(ROOT and shutil.which("setpriv"), "the limit does not hold for root")
    @unittest.skipIf(SANITIZED, "sanitizers have threads of their own")
    def test_processes(self):
        # One at a time: the user's processes count together.
        stranger = ["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups"]
        self.same({f"nproc={value}": [*limited(f"nproc={value}"), *stranger]
                   for value in (0, 1, 2, 3)}, only={"sort", "sha256sum", "gzip -dc", "calls"},
                  at_once=1)


class Environments(Place):
    def test_what_is_not_set(self):
        for name, env in (("empty", {"PATH": os.environ["PATH"]}),
                          ("no HOME", environment(HOME=None, XDG_CACHE_HOME=None)),
                          ("no folder", environment(HOME="/nonexistent", XDG_CACHE_HOME="/none",
                                                    TMPDIR="/none", XDG_RUNTIME_DIR="/none"))):
            if SANITIZED:
                env = {**env, "ASAN_OPTIONS": environment().get("ASAN_OPTIONS", "")}
            self.same({name: []}, env=env)


@unittest.skipIf(SANITIZED, "sanitizers have threads of their own")
class Filters(Place):
    def setUp(self):
        if scratch().refuse is None:
            self.skipTest("no compiler")
        if run(scratch().refuse, "--", "true").returncode != 0:
            self.skipTest("no filters of system calls here")

    @unittest.skipUnless(ROOT, "a container of its own needs root")
    def test_refused_system_calls(self):
        taken_over = outcome(refusing_all(f"{MEMFD_CREATE}={EPERM}"), cases()["sort"],
                             ("--explain",))
        self.assertIn(b"ran on the engine", taken_over[2])
        self.same({
            "memfd": refusing_all(f"{MEMFD_CREATE}={EPERM}"),
            "memfd unknown": refusing_all(f"{MEMFD_CREATE}={ENOSYS}"),
            "io_uring": refusing_all(f"{IO_URING_SETUP}={EPERM}"),
            "clone3": refusing_all(f"{CLONE3}={ENOSYS}"),
            "fallocate": refusing_all(f"{FALLOCATE}=95"),
            "flock": refusing_all(f"{FLOCK}={ENOSYS}"),
            "all": refusing_all(f"{MEMFD_CREATE}={EPERM}", f"{IO_URING_SETUP}={EPERM}",
                                f"{CLONE3}={ENOSYS}", f"{FALLOCATE}={EPERM}",
                                f"{FLOCK}={EPERM}"),
        })

    def test_a_sandbox_that_kills(self):
        """Under Hoist a sandbox starts a program, and allows what that calls; and Hoist in it."""
        sandbox = refusing(*(f"{number}=kill" for number in NOT_PLAIN))
        for what, case in cases().items():
            usual = outcome([], case)
            inside = dataclasses.replace(case, command=[*sandbox, *case.command])
            with self.subTest(case=what):
                self.assertEqual(outcome([], inside), usual)  # the plain program makes none
                self.assertEqual(outcome([], inside, ()), usual)
                status, output, errors, files = outcome([], inside, ("--stats",))
                self.assertEqual((status, output, without_summary(errors), files), usual)
                if not case.options and not case.variables:
                    self.assertEqual(outcome(sandbox, case, ()), usual)
        inside = dataclasses.replace(cases()["sort"], command=[*sandbox, "sort", "big"])
        self.assertRegex(outcome([], inside, ("--explain",))[2], b"its system calls are filtered")

    @unittest.skipIf(shutil.which("strace") is None, "no strace")
    def test_a_sandbox_that_allows_what_the_plain_program_calls(self):
        """No system call of ours but those by which libraries are loaded (the dynamic linker asks
        readlink() for what $LIB is), and getpid()."""
        getpid, readlink = 39, 89
        trace = scratch().path / "trace"
        for what in MEASURED & cases().keys() - {"blas"}:  # that has threads of luck
            case = cases()[what]
            usual = outcome(["strace", "-f", "-n", "-o", str(trace)], case)
            made = {int(number) for number in re.findall(r"\[ *(\d+)\] ", trace.read_text())}
            sandbox = refusing("others=kill", *(f"{number}=allow" for number in made | {getpid, readlink}))
            for options in ((), ("--explain",)):
                inside = dataclasses.replace(case, command=[*sandbox, *case.command])
                with self.subTest(case=what, options=options):
                    status, output, errors, files = outcome([], inside, options)
                    self.assertEqual((status, output, without_summary(errors), files), usual)


class Groups(Place):
    numbers = itertools.count()

    def group(self, kind):
        """A control group of its own below a mounted hierarchy; skips where none can be made."""
        for base in (pathlib.Path("/sys/fs/cgroup") / kind, pathlib.Path("/sys/fs/cgroup")):
            made = base / f"hoist-test-{os.getpid()}-{next(self.numbers)}"
            try:
                made.mkdir()
            except OSError:
                continue
            self.addCleanup(made.rmdir)
            return made
        self.skipTest("no control group can be made")

    def limit(self, kind, **values):
        group = self.group(kind)
        for name, value in values.items():
            try:
                with open(group / f"{kind}.{name}", "r+", encoding="ascii") as file:
                    file.write(str(value))
                return ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh"]
            except OSError:
                continue
        self.skipTest(f"no limit can be set on {kind}")

    @unittest.skipIf(SANITIZED, "sanitizers need more memory")
    def test_little_memory(self):
        self.same({"64 MiB": self.limit("memory", limit_in_bytes=64 << 20, max=64 << 20)},
                  only={"sort", "sha256sum", "gzip -d", "pipeline", "calls"})

    @unittest.skipIf(SANITIZED, "sanitizers need more memory")
    def test_hardly_more_memory_than_the_program_needs(self):
        """There is more for our libraries and for what is taken without asking."""
        def group(limit):
            return self.limit("memory", limit_in_bytes=limit, max=limit)

        ours = 16 << 20
        for what in MEASURED & cases().keys():
            usual = outcome([], cases()[what])
            least = lowest(lambda limit: outcome(group(limit), cases()[what]) == usual, 1 << 30,
                           1 << 18)
            for margin in (0, 8 << 20, 32 << 20):
                with self.subTest(case=what, least=least, margin=margin):
                    place = group(least + ours + margin)
                    self.assertEqual(outcome(place, cases()[what], ()), usual)


@unittest.skipIf(shutil.which("prlimit") is None, "no prlimit")
@unittest.skipIf(SANITIZED, "sanitizers need more memory")
class OutOfMemory(Place):
    """Limits just above what the plain program needs: there is nothing left for us."""

    STEP = 64 << 10
    MARGINS = (0, 1 << 20, 8 << 20, 64 << 20, 512 << 20)

    def least(self, case):
        """The lowest limit of its address space that the plain program does its work under."""
        usual = outcome([], case)
        return self.STEP + lowest(lambda limit: all(
            outcome(limited(f"as={limit}"), case) == usual for _ in range(3)), 4 << 30, self.STEP)

    def test_address_space(self):
        for what in MEASURED & cases().keys():
            least = self.least(cases()[what])
            self.same({f"as={least} + {margin}": limited(f"as={least + margin}")
                       for margin in self.MARGINS}, only={what})

    def test_a_limit_that_a_program_sets_itself(self):
        # Then our library is there already, and takes what it is long.
        ours = 2 << 20
        for what in MEASURED & cases().keys():
            case = cases()[what]
            least = self.least(case) + ours
            for margin in self.MARGINS:
                with self.subTest(case=what, least=least, margin=margin):
                    inside = dataclasses.replace(
                        case, command=[*limited(f"as={least + margin}"), *case.command])
                    self.assertEqual(outcome([], inside, ()), outcome([], case))


class Daemons(unittest.TestCase):
    """hoistd and a program that wants its device, one of them in a hostile place: both work, or
    the one says why it does without, and the other lives on."""

    def setUp(self):
        if not CLIENT.exists():
            self.skipTest("built without hoistd's tests")

    def places(self):
        found = {f"{name}={value}": limited(f"{name}={value}")
                 for name, values in {"nofile": (3, 4, 6, 10, 16), "as": (10**8, 10**9),
                                      "data": (10**7, 10**8), "fsize": (0, 4096), "memlock": (0,),
                                      "stack": (65536, 524287)}.items() for value in values}
        if ROOT:
            found |= {name: in_mounts(script) for name, script in SHM.items()}
            found["no /proc"] = in_mounts("mount -t tmpfs tmpfs /proc")
        if scratch().refuse is not None:
            found["filter"] = refusing(f"{MEMFD_CREATE}={EPERM}", f"{IO_URING_SETUP}={EPERM}",
                                       f"{CLONE3}={ENOSYS}", f"{FALLOCATE}={EPERM}")
        return found

    def client(self, *place, socket):
        return run(*place, CLIENT, "work", "2", env=environment(HOIST_SOCKET=str(socket)))

    @unittest.skipIf(SANITIZED, "sanitizers need descriptors, threads and memory of their own")
    def test_clients(self):
        served = 0
        for name, place in self.places().items():
            with self.subTest(place=name):
                done = self.client(*place, socket=scratch().socket)
                served += done.stdout == b"works\ndone\n"
                if done.returncode != 127:  # the dynamic linker had too little
                    self.assertIn(done.returncode, (0, 1), done.stderr)
                    self.assertRegex(done.stdout, rb"\A(works\ndone\n|cpu: .+\n)\Z")
                done = self.client(socket=scratch().socket)
                self.assertEqual((done.returncode, done.stdout), (0, b"works\ndone\n"))
        self.assertGreater(served, 5)

    @unittest.skipIf(SANITIZED, "sanitizers need descriptors, threads and memory of their own")
    def test_daemons(self):
        socket = scratch().path / "hostile-socket"
        for name, place in self.places().items():
            with self.subTest(place=name):
                socket.unlink(missing_ok=True)
                with subprocess.Popen([*place, HOISTD, "--device", "cpu", "--socket", socket],
                                      env=environment(), stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as daemon:
                    while daemon.poll() is None and not socket.exists():
                        time.sleep(0.01)
                    done = self.client(socket=socket)
                    self.assertIn(done.returncode, (0, 1), done.stderr)
                    self.assertRegex(done.stdout, rb"\A(works\ndone\n|cpu: .+\n)\Z")
                    ended = daemon.poll()
                    daemon.terminate()
                    said = daemon.stderr.read()
                    status = daemon.wait()
                    if ended is None:
                        self.assertEqual(status, 0, said)
                    else:
                        self.assertGreater(status, 0, said)
                        self.assertNotEqual(said, b"")


class Leftovers(unittest.TestCase):
    FOLDER = pathlib.Path(f"/dev/shm/hoist-{os.geteuid()}")

    def engine(self):
        process = subprocess.Popen([HOIST, "sort"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env=environment())
        process.stdin.write(LINES)
        process.stdin.flush()
        return process

    def runs(self):
        return {entry["pid"]: entry
                for entry in json.loads(run(HOIST, "top", "--once", "--json").stdout)["runs"]}

    def test_top_sees_engines_that_leave_nothing_behind(self):
        process = self.engine()
        for _ in range(200):
            seen = self.runs()
            if process.pid in seen:
                break
        self.assertEqual([(entry["argv"], entry["taken_over"], entry["alive"])
                          for entry in seen[process.pid]["programs"]], [(["sort"], True, True)])
        process.kill()
        process.communicate()
        self.assertNotIn(process.pid, self.runs())
        left = list(self.FOLDER.glob(f"{process.pid}-*")) if self.FOLDER.exists() else []
        self.assertEqual(left, [])

    def test_next_counted_run_sweeps(self):
        process = subprocess.Popen([HOIST, "run", "--stats", "--", "cat"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, env=environment())
        process.stdin.write(b"x")
        process.stdin.flush()
        process.stdout.read(1)
        process.kill()
        process.communicate()
        for _ in range(100):  # cat may still be ending
            run(HOIST, "run", "--stats=/dev/null", "--", "true")
            if not list(self.FOLDER.glob(f"{process.pid}-*")):
                return
        self.fail("the segment of a killed run stayed")


if __name__ == "__main__":
    if not all(engine_is_built(name) for name in ("sort", "hash", "gunzip")):
        print("skipped: the engines are not built", file=sys.stderr)
        sys.exit(77)
    unittest.main()
