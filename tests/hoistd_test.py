#!/usr/bin/env python3
"""hoistd as its users and its enemies see it: real clients that are killed, stopped and forked,
daemons that are, and strangers who speak the protocol of src/device/remote/ring_layout.h badly."""

import ctypes
import fcntl
import http.client
import json
import mmap
import os
import pathlib
import pty
import random
import re
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

from hoist_tree import BUILD, DEVICE, HOIST, ON_CPU, environment, main_on_device, run

HOISTD = BUILD / "bin/hoistd"
CLIENT = BUILD / "tests/hoistd-client"
MAGIC = struct.unpack("<Q", b"HOSRING1")[0]
HELLO, WELCOME, REFUSED, GOODBYE, STATUS = range(1, 6)
MESSAGE = struct.Struct("<QIIIIQQQ4I64s192s")
PAGE, QUEUE, ENTRIES, ENTRY = 4096, 24576, 64, 320
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
FUTEX, FUTEX_WAKE = 202, 1
LIMIT = 20 if ON_CPU else 60  # seconds, for what happens at once; a CUDA context takes its time


def message(kind, *, magic=MAGIC, version=1, oldest=1, queues=1, pool=PAGE):
    return MESSAGE.pack(magic, kind, version, oldest, queues, pool, 0, 0, 0, 0, 0, 0, b"test", b"")


def sealed(size, seals=SEALS):
    fd = os.memfd_create("test", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, size)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd


def status_of(socket):
    done = run(HOISTD, "--status", "--json", "--socket", socket)
    return json.loads(done.stdout) if done.returncode == 0 else None


class Daemon:
    """A hoistd with DEVICE at a socket of its own."""

    def __init__(self, folder, *options, wrapper=()):
        self.path = pathlib.Path(folder) / "socket"
        self.log = open(pathlib.Path(folder) / "log", "ab")
        self.process = subprocess.Popen(
            [*wrapper, str(HOISTD), "--device", DEVICE, "--socket", str(self.path), *options],
            env=environment(HOIST_LOG="info"), stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=self.log)
        until(self.status)

    def status(self):
        return status_of(self.path)

    def client(self, *words, **variables):
        return subprocess.Popen([str(CLIENT), *words], stdout=subprocess.PIPE,
                                env=environment(HOIST_SOCKET=str(self.path), **variables))

    def works(self):
        """A client's round trip."""
        out, _ = self.client("work", "1").communicate(timeout=LIMIT)
        return out == b"works\ndone\n"

    def stop(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        code = self.process.wait(timeout=LIMIT)
        self.log.close()
        return code


def until(condition):
    end = time.monotonic() + LIMIT
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError("it does not come about")
        time.sleep(0.005)
    return value


def line_of(process):
    """The next line of a client that says something within the limit."""
    ready, _, _ = select.select([process.stdout], [], [], LIMIT)
    return process.stdout.readline().decode().strip() if ready else "nothing"


class Stranger:
    """Speaks the protocol byte by byte."""

    def __init__(self, daemon):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(LIMIT)
        until(lambda: self.connect(daemon))
        self.memory = None

    def connect(self, daemon):
        try:
            self.socket.connect(str(daemon.path))
            return True
        except BlockingIOError:  # the backlog is full
            return False

    def say(self, data, *fds):
        socket.send_fds(self.socket, [data], fds)

    def hear(self):
        """The next message as (type, text); None at the end."""
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionResetError:
            return None
        if len(data) != MESSAGE.size:
            return None
        fields = MESSAGE.unpack(data)
        return fields[1], fields[-1].rstrip(b"\0").decode()

    def join(self, queues=1, pool=1 << 16):
        self.size = PAGE + queues * QUEUE + pool
        self.fd = sealed(self.size)
        self.say(message(HELLO, queues=queues, pool=pool), self.fd)
        heard = self.hear()
        assert heard and heard[0] == WELCOME, heard
        self.memory = mmap.mmap(self.fd, self.size)
        self.tails = [0] * queues

    def put(self, queue, operation, ranges=(), arguments=()):
        """Submits a request and rings the bell."""
        self.tails[queue] += 1
        sequence = self.tails[queue]
        flat = [number for part in ranges for number in part]
        request = struct.pack("<QQIHH12Q16QQ", sequence, 0, operation, len(ranges), len(arguments),
                              *(flat + [0] * (12 - len(flat))),
                              *(list(arguments) + [0] * (16 - len(arguments))), 0)
        base = PAGE + queue * QUEUE
        entry = base + 128 + sequence % ENTRIES * ENTRY
        self.memory[entry:entry + 256] = request
        self.memory[base:base + 8] = struct.pack("<Q", sequence)
        self.ring(queue)
        return entry + 256

    def ring(self, queue):
        bell = PAGE + queue * QUEUE + 64
        value, = struct.unpack("<I", self.memory[bell:bell + 4])
        self.memory[bell:bell + 4] = struct.pack("<I", (value + 1) & 0xffffffff)
        view = (ctypes.c_char * self.size).from_buffer(self.memory)
        address = ctypes.c_void_p(ctypes.addressof(view) + bell)
        ctypes.CDLL(None).syscall(ctypes.c_long(FUTEX), address, FUTEX_WAKE, 1, None, None, 0)
        del view

    def answer(self, completion):
        """(status, result) once it is there."""
        want = self.tails[0] & 0xffffffff

        def done():
            got = struct.unpack("<IIIIQ", self.memory[completion:completion + 24])
            return got if got[0] == want else None
        got = until(done)
        return got[2], got[4]

    def close(self):
        self.socket.close()
        if self.memory is not None:
            self.memory.close()
            os.close(self.fd)


class WithDaemon(unittest.TestCase):
    OPTIONS = ()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="hoistd-test-")
        self.daemon = Daemon(self.folder.name, *self.OPTIONS)

    def tearDown(self):
        if self.daemon.process.poll() is None:
            self.assertEqual(self.daemon.stop(), 0)
        log = (pathlib.Path(self.folder.name) / "log").read_text()
        self.folder.cleanup()
        self.assertNotIn("Sanitizer", log)

    def no_clients(self):
        status = self.daemon.status()
        return status and status["clients"] == [] and status["total"]["buffers"] == 0 and status


class CommandLine(unittest.TestCase):
    def test_nobody_answers(self):
        done = run(HOISTD, "--status", "--socket", "/nonexistent/socket")
        self.assertEqual((done.returncode, done.stdout), (3, b""))
        self.assertIn(b"no hoistd listens (/nonexistent/socket)", done.stderr)

    def test_mistakes(self):
        for words in (["--nonsense"], ["--pool", "x"], ["--json"], ["--clients", "0"], ["word"],
                      ["--pool", "0"], ["--pool", "4095"], ["--pool", "-1"],
                      ["--memory", "0"], ["--memory", "-4096"]):
            done = run(HOISTD, *words)
            self.assertEqual((done.returncode, done.stdout), (2, b""), words)
            self.assertIn(b"hoistd: error: ", done.stderr)
        done = run(HOISTD, "--pool", "1K")
        self.assertIn(b"--pool: 1024 is less than 4K, a page (hoistd): see `hoistd --help`", done.stderr)
        self.assertEqual(run(HOISTD, "--device", "toaster").returncode, 2)
        done = run(HOISTD, "--device", "cpu", "--socket", "/nonexistent/socket")
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"--socket", done.stderr)
        done = run(HOISTD, "--device", "cpu", "--socket", "/tmp/x", "--group", "no-such-group")
        self.assertIn(b"no group no-such-group", done.stderr)

    def test_help(self):
        self.assertEqual(run(HOISTD, "--help").returncode, 0)
        for word in ("--version", "-V", "version"):
            self.assertEqual(run(HOISTD, word).stdout,
                             run(HOIST, word).stdout.replace(b"hoist ", b"hoistd "))
        for option in ("--help", "--version"):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([HOISTD, option], stdout=full, stderr=subprocess.PIPE,
                                      env=environment(), check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"cannot write (standard output)", done.stderr)

    def test_a_private_one_starts_where_it_is_wanted(self):
        with tempfile.TemporaryDirectory(prefix="hoistd-test-") as folder:
            done = run(CLIENT, "start", DEVICE,
                       env=environment(HOIST_SOCKET=f"{folder}/socket"))
            self.assertEqual((done.returncode, done.stdout), (0, b"works\ndone\n"))
            done = run(CLIENT, "start", DEVICE,
                       env=environment(HOIST_SOCKET=f"{folder}/socket", HOIST="off"))
            self.assertEqual(done.stdout, b"cpu: no hoistd: HOIST=off\n")
            # Another takes its place when it has ended; this one is stopped here, by its pid.
            os.kill(until(lambda: status_of(f"{folder}/socket"))["pid"], signal.SIGTERM)
            until(lambda: not os.path.exists(f"{folder}/socket"))

    def test_a_private_one_is_bound_by_nothing_of_the_programs(self):
        def bind():
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR1})
            resource.setrlimit(resource.RLIMIT_CPU, (500, most))

        most = resource.getrlimit(resource.RLIMIT_CPU)[1]
        allowed = os.sched_getaffinity(0)
        reading, writing = os.pipe()
        with tempfile.TemporaryDirectory(prefix="hoistd-test-") as folder:
            done = subprocess.run([CLIENT, "start", DEVICE], stdout=subprocess.PIPE,
                                  preexec_fn=bind, pass_fds=[writing], check=False,
                                  env=environment(HOIST_SOCKET=f"{folder}/socket",
                                                  NVIDIA_TF32_OVERRIDE="1",
                                                  CUBLAS_EMULATE_SINGLE_PRECISION="1"))
            self.assertEqual((done.returncode, done.stdout), (0, b"works\ndone\n"))
            pid = until(lambda: status_of(f"{folder}/socket"))["pid"]
            self.assertLessEqual(allowed, os.sched_getaffinity(pid))
            # The first thread blocks no SIGUSR1; SIGTERM comes through a descriptor.
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            blocked = int(re.search(r"^SigBlk:\t(\w+)", status, re.M)[1], 16)
            self.assertFalse(blocked >> (signal.SIGUSR1 - 1) & 1)
            limits = pathlib.Path(f"/proc/{pid}/limits").read_text()
            self.assertNotRegex(limits, r"Max cpu time +500 ")
            variables = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
            self.assertNotRegex(variables, b"TF32|EMULATE|HOIST_SOCKET")
            os.close(writing)
            self.assertEqual(os.read(reading, 1), b"")  # nobody else has it
            os.kill(pid, signal.SIGTERM)
            until(lambda: not os.path.exists(f"{folder}/socket"))
        os.close(reading)

    def test_no_private_one_for_a_program_that_takes_orphans(self):
        def adopt():
            ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER

        with tempfile.TemporaryDirectory(prefix="hoistd-test-") as folder:
            done = subprocess.run([CLIENT, "start", DEVICE], stdout=subprocess.PIPE,
                                  preexec_fn=adopt,
                                  env=environment(HOIST_SOCKET=f"{folder}/socket"), check=False)
            self.assertTrue(done.stdout.startswith(b"cpu: no hoistd: the program waits"),
                            done.stdout)
            self.assertEqual(os.listdir(folder), [])


class Daemons(WithDaemon):
    """What clients do when their daemon does not do its part."""

    def device(self):
        """(id, name) of the daemon's device"""
        device = self.daemon.status()["device"]
        if ON_CPU:
            self.assertEqual((device["id"], device["name"]), ("cpu", "CPU"))
        else:
            self.assertRegex(device["id"], r"^cuda:\d+$")
            self.assertNotIn(device["name"], ("", "CPU"))
        return device["id"], device["name"]

    def test_status(self):
        self.assertTrue(self.daemon.works())
        status = until(self.no_clients)
        self.assertEqual(status["pid"], self.daemon.process.pid)
        identity, name = self.device()
        self.assertEqual(status["connections"], 1)
        self.assertEqual(status["not_ready"], 0)
        self.assertGreater(status["operations"]["copy"]["bytes"], 5_000_000)
        text = run(HOISTD, "--status", "--socket", self.daemon.path).stdout.decode()
        self.assertIn(f"on {name} ({identity})", text)
        self.assertIn(", 0 not ready, ", text)
        self.assertIn(" copy ", text)

    def test_doctor_sees_it(self):
        done = run(HOIST, "doctor", "--json", env=environment(HOIST_SOCKET=str(self.daemon.path)))
        seen = {entry["name"]: entry for entry in json.loads(done.stdout)["features"]}["hoistd"]
        self.assertIs(seen["on"], True)
        self.assertEqual(seen["why"],
                         f"pid {self.daemon.process.pid} lends {self.device()[1]} to 0 clients")
        done = run(HOIST, "doctor", "--json", env=environment(HOIST_SOCKET="/nonexistent/socket"))
        seen = {entry["name"]: entry for entry in json.loads(done.stdout)["features"]}["hoistd"]
        self.assertIs(seen["on"], False)
        self.assertIn("no hoistd listens", seen["why"])

    def test_killed(self):
        client = self.daemon.client("work")
        self.assertEqual(line_of(client), "works")
        self.daemon.process.kill()
        self.assertTrue(line_of(client).startswith("cpu: "))
        self.assertEqual(client.wait(timeout=LIMIT), 0)
        self.assertTrue(client.stdout.read() == b"")
        client.stdout.close()
        self.daemon.process.wait()
        self.assertTrue(self.daemon.path.exists())  # a new one takes the place of what is left
        self.daemon = Daemon(self.folder.name)
        self.assertTrue(self.daemon.works())

    def test_stopped_and_continued(self):
        client = self.daemon.client("work", PATIENCE_MS="3000")
        self.assertEqual(line_of(client), "works")
        self.daemon.process.send_signal(signal.SIGSTOP)
        self.assertRegex(line_of(client), "^cpu: .*stopped")
        self.assertEqual(client.wait(timeout=LIMIT), 0)
        client.stdout.close()
        self.daemon.process.send_signal(signal.SIGCONT)
        self.assertTrue(self.daemon.works())
        until(self.no_clients)

    def test_terminated(self):
        client = self.daemon.client("work")
        self.assertEqual(line_of(client), "works")
        self.assertEqual(self.daemon.stop(), 0)
        self.assertTrue(line_of(client).startswith("cpu: "))
        self.assertEqual(client.wait(timeout=LIMIT), 0)
        client.stdout.close()
        self.assertFalse(self.daemon.path.exists())
        self.assertFalse(pathlib.Path(f"{self.daemon.path}.lock").exists())

    def test_it_says_on_a_terminal_where_it_listens(self):
        for options, says in ((), True), (("--idle-timeout", "60"), False):
            with tempfile.TemporaryDirectory() as folder:
                ours, theirs = pty.openpty()
                daemon = subprocess.Popen(
                    [HOISTD, "--device", DEVICE, "--socket", f"{folder}/socket", *options],
                    env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                    stderr=theirs)
                os.close(theirs)
                until(lambda: status_of(f"{folder}/socket"))
                daemon.send_signal(signal.SIGINT)
                self.assertEqual(daemon.wait(timeout=LIMIT), 0)
                try:
                    said = os.read(ours, 4096).decode()
                except OSError:  # EIO: nothing was written
                    said = ""
                os.close(ours)
                self.assertEqual(os.listdir(folder), [])
                line = rf"^hoistd: listening on {folder}/socket, lends .+; Ctrl-C ends it\r\n$"
                self.assertRegex(said, line if says else "^$")

    def test_a_second_one_leaves_the_first_alone(self):
        done = run(HOISTD, "--device", DEVICE, "--socket", self.daemon.path)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"another hoistd listens", done.stderr)
        self.assertTrue(self.daemon.works())


class Clients(WithDaemon):
    """What the daemon does when clients end in every way."""

    def hold(self, how):
        client = self.daemon.client(how)
        self.assertEqual(line_of(client), "holding")
        return client

    def test_killed_with_work_in_flight(self):
        client = self.hold("hold")
        client.kill()
        client.communicate()
        until(self.no_clients)
        self.assertTrue(self.daemon.works())

    def test_stopped(self):
        client = self.hold("hold")
        client.send_signal(signal.SIGSTOP)
        self.assertTrue(self.daemon.works())
        client.kill()
        client.communicate()
        until(self.no_clients)

    def test_ended_but_for_a_fork(self):
        client = self.hold("leave")
        client.wait(timeout=LIMIT)  # its fork still has the socket, and sleeps
        until(self.no_clients)
        self.assertTrue(self.daemon.works())
        # The fork has standard output still; its pid is the only one that runs this client.
        for entry in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                if str(self.daemon.path).encode() in entry.read_bytes():
                    pid = int(entry.parent.name)
                    if pid not in (os.getpid(), self.daemon.process.pid):
                        os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        client.stdout.close()


class Strangers(WithDaemon):
    """Clients that break the protocol."""

    def refusal(self, data, *fds):
        stranger = Stranger(self.daemon)
        stranger.say(data, *fds)
        heard = stranger.hear()
        stranger.close()
        for fd in fds:
            os.close(fd)
        return heard

    def test_greetings_that_are_none(self):
        size = PAGE + QUEUE + PAGE
        self.assertEqual(self.refusal(b"GET / HTTP/1.0\r\n\r\n"), None)
        self.assertEqual(self.refusal(b"\0"), None)
        self.assertEqual(self.refusal(message(HELLO) + b"x"), None)
        self.assertEqual(self.refusal(message(HELLO, magic=1)), None)
        for data, fds, why in (
                (message(GOODBYE), [], "not a greeting"),
                (message(HELLO, version=9, oldest=2), [], "versions 1 to 1"),
                (message(HELLO, version=0, oldest=0), [], "versions 1 to 1"),
                (message(HELLO), [], "no memory"),
                (message(HELLO), [os.open("/dev/null", os.O_RDWR)], "no memory"),
                (message(HELLO), [sealed(size, 0)], "not sealed"),
                (message(HELLO), [sealed(size, fcntl.F_SEAL_SHRINK)], "not sealed"),
                (message(HELLO), [sealed(size, SEALS | fcntl.F_SEAL_WRITE)], "against writing"),
                (message(HELLO), [sealed(size - 1)], "size"),
                (message(HELLO, queues=0), [sealed(size)], "queues"),
                (message(HELLO, queues=5), [sealed(size)], "queues"),
                (message(HELLO, pool=1), [sealed(size)], "pool size"),
                (message(HELLO, pool=1 << 63), [sealed(size)], "at most")):
            heard = self.refusal(data, *fds)
            self.assertEqual(heard and heard[0], REFUSED, why)
            self.assertIn(why, heard[1])
        self.assertTrue(self.daemon.works())

    def descriptors(self):
        """How many the daemon has; on a GPU of the flood's kind, as the driver opens its own."""
        folder = f"/proc/{self.daemon.process.pid}/fd"
        if ON_CPU:
            return len(os.listdir(folder))
        return sum(os.path.realpath(f"{folder}/{fd}") == "/dev/null" for fd in os.listdir(folder))

    def test_a_flood_of_descriptors(self):
        before = self.descriptors()
        for _ in range(20):
            stranger = Stranger(self.daemon)
            fds = [os.open("/dev/null", os.O_RDONLY) for _ in range(100)]
            stranger.say(b"x", *fds)
            stranger.hear()
            stranger.close()
            for fd in fds:
                os.close(fd)
        until(lambda: self.descriptors() <= before)

    def test_speaking_out_of_turn(self):
        stranger = Stranger(self.daemon)
        stranger.join()
        stranger.say(b"and another thing")
        self.assertEqual(stranger.hear(), (GOODBYE, "it spoke out of turn"))
        stranger.close()
        until(self.no_clients)

    def test_connections_that_say_nothing(self):
        idle = [Stranger(self.daemon) for _ in range(300)]
        self.assertTrue(self.daemon.works())
        for stranger in idle:
            stranger.close()
        self.assertGreater(self.daemon.status()["refused"], 100)

    def test_memory_cannot_be_taken_away(self):
        stranger = Stranger(self.daemon)
        stranger.join()
        with self.assertRaises(PermissionError):
            os.ftruncate(stranger.fd, 0)
        completion = stranger.put(0, 1, arguments=[100])
        self.assertEqual(stranger.answer(completion), (0, 1))
        # A hole is filled with zeros again.
        libc = ctypes.CDLL(None, use_errno=True)
        self.assertEqual(libc.fallocate(stranger.fd, 3, ctypes.c_long(0),
                                        ctypes.c_long(stranger.size)), 0)
        stranger.tails[0] = 1
        completion = stranger.put(0, 3, [(0, 0, 100), (1, 0, 100)])
        self.assertEqual(stranger.answer(completion), (0, 0))
        stranger.close()

    def test_floods_of_requests(self):
        stranger = Stranger(self.daemon)
        stranger.join()
        generator = random.Random(1)
        for _ in range(3000):
            ranges = [(generator.choice([0, 1, 2, 1 << 63]),
                       generator.choice([0, 7, 1 << 16, 2**64 - 1]),
                       generator.choice([0, 1, 4096, 2**64 - 1])) for _ in range(2)]
            completion = stranger.put(0, generator.choice([0, 1, 2, 3, 4, 5, 99]), ranges,
                                      [generator.choice([0, 1, 1000, 2**64 - 1])])
            stranger.answer(completion)
        stranger.close()
        until(self.no_clients)

    def test_scribbling_over_the_ring_while_it_runs(self):
        seed = int(os.environ.get("HOIST_TEST_SEED", random.SystemRandom().randrange(1 << 32)))
        print(f"HOIST_TEST_SEED={seed}", file=sys.stderr)
        generator = random.Random(seed)
        honest = self.daemon.client("work")
        self.assertEqual(line_of(honest), "works")
        for _ in range(40):
            stranger = Stranger(self.daemon)
            stranger.join(queues=2)
            for _ in range(generator.randrange(1, 60)):
                queue = generator.randrange(2)
                if generator.random() < 0.5:
                    stranger.put(queue, generator.randrange(6), [(0, 0, 1), (1, 0, 1)],
                                 [generator.randrange(1 << 20)])
                at = generator.choice([PAGE + queue * QUEUE + generator.randrange(64 * ENTRY),
                                       generator.randrange(stranger.size - 64)])
                size = generator.randrange(1, 64)
                if at + size > PAGE + queue * QUEUE + 8 or generator.random() < 0.1:
                    stranger.memory[at:at + size] = generator.randbytes(size)
                stranger.ring(queue)
            stranger.close()
        self.assertIsNone(honest.poll())
        honest.kill()
        honest.communicate()
        until(self.no_clients)
        self.assertTrue(self.daemon.works())


class TwoUsers(unittest.TestCase):
    """A second user sees nothing of the first's: needs root, to become somebody else."""

    def setUp(self):
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("not root, or no setpriv")
        self.folder = tempfile.TemporaryDirectory(prefix="hoistd-test-")
        os.chmod(self.folder.name, 0o755)
        self.programs = pathlib.Path(self.folder.name) / "client"
        shutil.copy(CLIENT, self.programs)
        os.chmod(self.programs, 0o755)

    def tearDown(self):
        self.folder.cleanup()

    def as_nobody(self, daemon, word, group="nogroup"):
        return run("setpriv", "--reuid=nobody", f"--regid={group}", "--clear-groups", "--",
                   self.programs, word, env=environment(HOIST_SOCKET=str(daemon.path)))

    def test_device_memory_is_zero_between_users(self):
        daemon = Daemon(self.folder.name, "--group", "nogroup")
        self.assertEqual(run(CLIENT, "write", env=environment(
            HOIST_SOCKET=str(daemon.path))).stdout, b"done\n")
        self.assertEqual(self.as_nobody(daemon, "read").stdout, b"done\n")
        self.assertEqual(self.as_nobody(daemon, "write").stdout, b"done\n")
        self.assertEqual(run(CLIENT, "read", env=environment(
            HOIST_SOCKET=str(daemon.path))).stdout, b"done\n")
        self.assertIn(b"cpu: ", self.as_nobody(daemon, "read", group="games").stdout)
        self.assertEqual(daemon.stop(), 0)

    def test_others_are_not_let_in(self):
        daemon = Daemon(self.folder.name)
        self.assertRegex(self.as_nobody(daemon, "read").stdout, b"^cpu: .*Permission denied")
        os.chmod(daemon.path, 0o666)  # and where the mode is wrong, by name
        self.assertRegex(self.as_nobody(daemon, "read").stdout, b"^cpu: .*its own user only")
        self.assertEqual(daemon.stop(), 0)

    def test_a_daemon_of_a_stranger_is_not_trusted(self):
        # With the CPU device always: whose it is counts, and nobody may be kept from the GPU.
        os.chmod(self.folder.name, 0o777)
        shutil.copy(HOISTD, pathlib.Path(self.folder.name) / "hoistd")
        daemon = subprocess.Popen(
            ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--",
             f"{self.folder.name}/hoistd", "--device", "cpu", "--socket",
             f"{self.folder.name}/socket"], env=environment(), stdin=subprocess.DEVNULL)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)

        def answer():  # the socket is there a moment before anybody listens
            said = run(CLIENT, "read", env=environment(
                HOIST_SOCKET=f"{self.folder.name}/socket")).stdout
            return None if b"No such file" in said or b"refused" in said else said

        self.assertRegex(until(answer), rb"^cpu: .*is user \d+'s")
        daemon.terminate()
        self.assertEqual(daemon.wait(timeout=LIMIT), 0)


class Metrics(unittest.TestCase):
    def test_prometheus(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        with tempfile.TemporaryDirectory(prefix="hoistd-test-") as folder:
            daemon = Daemon(folder, "--metrics", str(port))
            self.assertTrue(daemon.works())
            silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
            with socket.create_connection(("127.0.0.1", port)) as noisy:
                try:
                    noisy.sendall(b"x" * 100_000)
                except OSError:
                    pass
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT)
            connection.request("GET", "/metrics")
            answer = connection.getresponse()
            self.assertEqual(answer.status, 200)
            text = answer.read().decode()
            for line in text.splitlines():
                self.assertRegex(
                    line, r"^(# (HELP|TYPE) |hoistd_\w+(\{operation=\"\w+\"\})? [\d.e+-]+$)")
            self.assertIn("hoistd_connections_total 1\n", text)
            for client in silent:
                client.close()
            self.assertEqual(daemon.stop(), 0)


if __name__ == "__main__":
    main_on_device()
