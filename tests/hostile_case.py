"""What the tests of hostile places share: the cases, places for them, and what is compared."""

import concurrent.futures
import ctypes.util
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from hoist_tree import BUILD, HOIST, compile_c, environment, run
from hostile_programs import BLAS_CALLS, CALLS, CRYPTO_CALLS, REFUSE, ZLIB_CALLS

HOISTD = BUILD / "bin/hoistd"
PROVIDER = BUILD / "lib/ossl-modules/hoist.so"
LINES = b"".join(b"%d line\n" % (i * 7919 % 100003) for i in range(150000))
BLAS = ctypes.util.find_library("blas") or ctypes.util.find_library("openblas")
MEMFD_CREATE, IO_URING_SETUP, CLONE3, FALLOCATE, FLOCK = 319, 425, 435, 285, 73
# What we call and the plain programs do not: those, sigaltstack, statfs, fstatfs, prctl,
# sched_setaffinity, process_vm_readv.
NOT_PLAIN = (MEMFD_CREATE, IO_URING_SETUP, FALLOCATE, FLOCK, 131, 137, 138, 157, 203, 310)
EPERM, ENOSYS = 1, 38


@dataclasses.dataclass
class Case:
    """A command, run in a folder with the inputs; `operations` are those that it is to show."""
    command: list
    options: tuple = ()
    variables: dict = dataclasses.field(default_factory=dict)
    operations: tuple = ()


class Scratch:
    """What the cases read: the same names in a folder for each run."""

    def __init__(self):
        self._directory = tempfile.TemporaryDirectory(prefix="hoist-test-")
        self.path = pathlib.Path(self._directory.name)
        self.path.chmod(0o755)
        self.inputs = self.path / "inputs"
        self.inputs.mkdir()
        (self.inputs / "big").write_bytes(LINES)
        (self.inputs / "other").write_bytes(LINES[:1000000])
        subprocess.run(["gzip", "-n", "-k", "big"], cwd=self.inputs, check=True)
        sums = subprocess.run(["md5sum", "big", "other"], cwd=self.inputs, check=True,
                              capture_output=True).stdout
        (self.inputs / "sums").write_bytes(sums)
        for name in self.inputs.iterdir():
            name.chmod(0o644)
        flags = ["-O1", "-w"]
        self.calls = (compile_c(CALLS, self.path / "calls", *flags, "-DWITH_ZSTD", "-lz", "-lzstd") or
                      compile_c(CALLS, self.path / "calls", *flags, "-lz"))
        self.zlib = compile_c(ZLIB_CALLS, self.path / "zlib", *flags, "-lz")
        self.blas = BLAS and compile_c(BLAS_CALLS, self.path / "blas", *flags, f"-l:{BLAS}")
        self.crypto = PROVIDER.exists() and compile_c(CRYPTO_CALLS, self.path / "crypto", *flags,
                                                      "-lcrypto")
        self.refuse = compile_c(REFUSE, self.path / "refuse")
        self.socket = self.path / "socket"
        self.hoistd = self.start_hoistd()

    def folder(self):
        made = pathlib.Path(tempfile.mkdtemp(dir=self.path))
        made.chmod(0o777)
        for name in self.inputs.iterdir():
            os.link(name, made / name.name) if not name.name.endswith(".gz") else shutil.copy(
                name, made / name.name)
        return made

    def start_hoistd(self):
        """One that lends the CPU to whoever is in a hostile place, and is in none itself."""
        process = subprocess.Popen([HOISTD, "--device", "cpu", "--socket", self.socket],
                                   env=environment(), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(1000):
            if run(HOISTD, "--status", "--socket", self.socket).returncode == 0:
                break
            time.sleep(0.01)
        return process

    def close(self):
        self.hoistd.terminate()
        self.hoistd.wait()
        self._directory.cleanup()


def setUpModule():
    global _scratch
    _scratch = Scratch()


def tearDownModule():
    _scratch.close()


def scratch():
    return _scratch


def cases():
    """Name: command, run in a folder with the inputs."""
    known = {
        "sort": Case(["sort", "big"], operations=("sort",)),
        "sort to a file": Case(["sort", "-o", "sorted", "-k2", "-k1n", "big"],
                               operations=("sort",)),
        "sort from a pipe": Case(["sh", "-c", "cat big | sort"], operations=("sort",)),
        "sha256sum": Case(["sha256sum", "big", "other", "missing"], operations=("hash",)),
        "md5sum -c": Case(["md5sum", "-c", "sums"], operations=("hash",)),
        "cksum of a pipe": Case(["sh", "-c", "cat big | cksum"], operations=("hash",)),
        "gzip -dc": Case(["gzip", "-dc", "big.gz"], operations=("gunzip",)),
        "gzip -d": Case(["sh", "-c", "rm big && gzip -d big.gz"], operations=("gunzip",)),
        "gzip -t": Case(["gzip", "-tv", "big.gz"], operations=("gunzip",)),
        "pipeline": Case(["bash", "-c", "zcat big.gz | sort | uniq -c > report"],
                         operations=("gunzip", "sort")),
    }
    if scratch().calls:
        known["calls"] = Case([scratch().calls], operations=("crc32", "inflate", "qsort"))
    if scratch().zlib:
        known["zlib"] = Case([scratch().zlib], options=("--ops=+deflate",),
                             operations=("crc32", "deflate", "inflate"))
    if scratch().blas:
        known["blas"] = Case([scratch().blas], operations=("gemm",), variables={
            "HOIST_GPU": "require", "HOIST_SOCKET": str(scratch().socket)})
    if scratch().crypto:
        known["crypto"] = Case([scratch().crypto], options=("--ops=+aes",), operations=("aes",))
    return known


def outcome(place, case, hoist=None, env=None):
    """Status, output, messages and files of a case in a place; `hoist`: options of `hoist run`."""
    folder = scratch().folder()
    words = case.command if hoist is None else [HOIST, "run", *hoist, *case.options, "--",
                                                *case.command]
    done = run(*place, *words, cwd=folder, stdin=subprocess.DEVNULL,
               env={**(environment() if env is None else env), **case.variables})
    files = {}
    for name in sorted(folder.iterdir()):
        files[name.name] = (name.stat().st_mode, name.read_bytes())
    shutil.rmtree(folder)
    return done.returncode, done.stdout, done.stderr, files


def in_mounts(script):
    """A place in a mount namespace that the script has changed."""
    return ["unshare", "-m", "--propagation", "private", "sh", "-e", "-c",
            f"{script}\nexec \"$@\"", "sh"]


def limited(*limits):
    return ["prlimit", *(f"--{limit}:{limit.split('=')[1]}" for limit in limits)]


def refusing(*numbers):
    """A place under a filter of its own, as a sandbox makes one."""
    return [scratch().refuse, *numbers, "--"]


def refusing_all(*numbers):
    """A place in which the first process has the filter as well, as in a container."""
    first = ["unshare", "--pid", "--fork", "--mount-proc"]
    return [*first, *refusing(*numbers), "sh", "-c", '"$@"; exit $?', "sh"]


NO_DEVICES = """mount -t tmpfs -o mode=755 tmpfs /dev
for known in "null 3" "zero 5" "full 7" "random 8" "urandom 9"; do
  set_apart=${known% *}; mknod -m 666 /dev/$set_apart c 1 ${known#* }; done
ln -s /proc/self/fd /dev/fd; ln -s /proc/self/fd/0 /dev/stdin"""
FULL = "mount -t tmpfs -o size=%s tmpfs /dev/shm; head -c %s /dev/zero > /dev/shm/others 2> /dev/null || :"
SHM = {
    "/dev/shm absent": NO_DEVICES,
    "/dev/shm read-only": "mount -t tmpfs -o ro tmpfs /dev/shm",
    "/dev/shm full": FULL % ("64k", "1M"),
    "/dev/shm with room for some": FULL % ("2M", "1500k"),
    "/dev/shm tiny": "mount -t tmpfs -o size=4k tmpfs /dev/shm",
    "/dev/shm without inodes": "mount -t tmpfs -o nr_inodes=1 tmpfs /dev/shm",
}


def without_summary(errors):
    """Standard error without the lines of `hoist run --stats`."""
    return re.sub(rb"(?m)^hoist: .*\n", b"", errors)


class Place(unittest.TestCase):
    """Each case is run plainly, under Hoist, and counted."""

    def same(self, places, only=None, env=None, at_once=4):
        def thrice(wanted):
            place, case = wanted
            return [outcome(place, case, hoist, env) for hoist in (None, (), ("--stats",))]

        chosen = {what: case for what, case in cases().items() if only is None or what in only}
        usual = {what: outcome([], case) for what, case in chosen.items()}
        wanted = [(name, what) for name in places for what in chosen]
        with concurrent.futures.ThreadPoolExecutor(at_once) as threads:
            results = list(threads.map(thrice, [(places[name], chosen[what])
                                                for name, what in wanted]))
        for (name, what), (plain, ours, counted) in zip(wanted, results):
            with self.subTest(place=name, case=what):
                self.compare(ours, plain, usual[what])
            with self.subTest(place=name, case=what, counted=True):
                status, output, errors, files = counted
                self.compare((status, output, without_summary(errors), files), plain, usual[what])

    def compare(self, ours, plain, usual):
        if ours == usual:
            return  # also where the original cannot do with so little, as sort without files
        if plain[0] in (126, 127) or plain[0] < 0:  # it cannot even be started
            self.assertNotEqual(ours[0], 0)
            self.assertEqual(ours[1], plain[1])
            return
        self.assertEqual(ours[0], plain[0], ours[2])
        self.assertEqual(ours[2], plain[2])
        self.assertTrue(ours[1] == plain[1], "standard output differs")
        self.assertEqual(list(ours[3]), list(plain[3]))
        self.assertTrue(ours[3] == plain[3], "files differ")
