#!/usr/bin/env python3
"""Programs under Hoist in places where what we add may be refused or may fault: no room for our
counters, limits, no /proc, filters of system calls. Each must do what it does without us, and fail
as it fails without us."""

import concurrent.futures
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from hoist_tree import HOIST, compile_c, engine_is_built, environment, run

SANITIZED = bool(os.environ.get("HOIST_SANITIZE"))
ROOT = os.geteuid() == 0
STRANGER = 54399
LINES = b"".join(b"%d line\n" % (i * 7919 % 100003) for i in range(150000))

# qsort() of many ints, and zlib's and libzstd's calls; prints what came out.
CALLS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifdef WITH_ZSTD
#include <zstd.h>
#endif
enum { COUNT = 400000 };
static int compare(const void* a, const void* b) {
  return (*(const int*)a > *(const int*)b) - (*(const int*)a < *(const int*)b);
}
int main(void) {
  int* values = malloc(COUNT * sizeof *values);
  if (values == NULL) return 3;
  for (unsigned i = 0; i < COUNT; ++i) values[i] = (int)(i * 2654435761u >> 3);
  qsort(values, COUNT, sizeof *values, compare);
  unsigned long size = COUNT * sizeof *values, packed_size = compressBound(size);
  printf("%lx\n", crc32(0, (unsigned char*)values, size));
  unsigned char* packed = malloc(packed_size);
  int* again = malloc(size);
  if (packed == NULL || again == NULL) return 3;
  if (compress2(packed, &packed_size, (unsigned char*)values, size, 1) != Z_OK) return 4;
  if (uncompress((unsigned char*)again, &size, packed, packed_size) != Z_OK) return 5;
  printf("%d\n", memcmp(values, again, size));
#ifdef WITH_ZSTD
  const size_t half = ZSTD_compress(packed, packed_size, values, size / 2, 1);
  const size_t rest = ZSTD_isError(half) ? 0 : ZSTD_compress(packed + half, packed_size - half,
                      (char*)values + size / 2, size / 2, 1);
  memset(again, 0, size);
  const size_t got = ZSTD_decompress(again, size, packed, half + rest);
  printf("%zu %d\n", got, memcmp(values, again, size));
#endif
  return 0;
}
"""

# Runs a program under a filter that refuses system calls: NUMBER=ERRNO … -- PROGRAM ARGS…
REFUSE = r"""
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int argc, char** argv) {
  struct sock_filter code[64];
  unsigned short n = 0;
  code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  int at = 1;
  for (; at < argc && strcmp(argv[at], "--") != 0; ++at) {
    unsigned number, error;
    if (sscanf(argv[at], "%u=%u", &number, &error) != 2) return 90;
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
  }
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog filter = {n, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 91;
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return 92;
  execvp(argv[at + 1], argv + at + 1);
  return 127;
}
"""
MEMFD_CREATE, IO_URING_SETUP, CLONE3, FALLOCATE, FLOCK = 319, 425, 435, 285, 73
EPERM, ENOSYS = 1, 38

# FAULT=FUNCTION:CALL:SIGNAL makes that call in an engine fault, as our own code might.
FAULTS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
static char function[32];
static int wanted, number, calls;
__attribute__((constructor)) static void look(void) {
  char path[4096] = "";
  const char* fault = getenv("FAULT");
  if (fault == NULL || readlink("/proc/self/exe", path, sizeof path - 1) <= 0) return;
  if (strstr(path, "/libexec/hoist/hoist-") == NULL || strstr(path, "command-line") != NULL) return;
  sscanf(fault, "%31[^:]:%d:%d", function, &wanted, &number);
}
static void visit(const char* name) {
  if (strcmp(name, function) != 0 || __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) != wanted) return;
  if (number == SIGSEGV) *(volatile int*)16 = 1;
  if (number == SIGABRT) abort();
  if (number == SIGBUS) { /* past the end of a file, as in a segment that was made sparse */
    FILE* file = tmpfile();
    volatile char* byte = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    *byte = 1;
  }
  raise(number);
}
#define STAND_IN(type, name, parameters, arguments) \
  type name parameters { \
    static type(*real) parameters; \
    if (real == NULL) real = (type(*) parameters)dlsym(RTLD_NEXT, #name); \
    visit(#name); \
    return real arguments; \
  }
STAND_IN(ssize_t, pread64, (int fd, void* data, size_t size, off_t at), (fd, data, size, at))
ssize_t read(int fd, void* data, size_t size) {
  static ssize_t (*real)(int, void*, size_t);
  if (real == NULL) real = (ssize_t(*)(int, void*, size_t))dlsym(RTLD_NEXT, "read");
  visit(fd == 0 ? "stdin" : "read");
  return real(fd, data, size);
}
off_t lseek64(int fd, off_t offset, int whence) {
  static off_t (*real)(int, off_t, int);
  if (real == NULL) real = (off_t(*)(int, off_t, int))dlsym(RTLD_NEXT, "lseek64");
  const off_t at = real(fd, offset, whence);
  if (fd == 1 && whence == SEEK_CUR && offset > 0) visit("moved"); /* sort's part of its output */
  return at;
}
STAND_IN(ssize_t, write, (int fd, const void* data, size_t size), (fd, data, size))
STAND_IN(int, fchmod, (int fd, mode_t mode), (fd, mode))
STAND_IN(int, fallocate64, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size))
"""


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
        self.refuse = compile_c(REFUSE, self.path / "refuse")
        self.faults = compile_c(FAULTS, self.path / "faults.so", "-shared", "-fPIC", "-ldl")

    def folder(self):
        made = pathlib.Path(tempfile.mkdtemp(dir=self.path))
        made.chmod(0o777)
        for name in self.inputs.iterdir():
            os.link(name, made / name.name) if not name.name.endswith(".gz") else shutil.copy(
                name, made / name.name)
        return made

    def close(self):
        self._directory.cleanup()


def setUpModule():
    global SCRATCH
    SCRATCH = Scratch()


def tearDownModule():
    SCRATCH.close()


def cases():
    """Name: command, run in a folder with the inputs."""
    known = {
        "sort": ["sort", "big"],
        "sort to a file": ["sort", "-o", "sorted", "-k2", "-k1n", "big"],
        "sort from a pipe": ["sh", "-c", "cat big | sort"],
        "sha256sum": ["sha256sum", "big", "other", "missing"],
        "md5sum -c": ["md5sum", "-c", "sums"],
        "cksum of a pipe": ["sh", "-c", "cat big | cksum"],
        "gzip -dc": ["gzip", "-dc", "big.gz"],
        "gzip -d": ["sh", "-c", "rm big && gzip -d big.gz"],
        "gzip -t": ["gzip", "-tv", "big.gz"],
        "pipeline": ["bash", "-c", "zcat big.gz | sort | uniq -c > report"],
    }
    if SCRATCH.calls is not None:
        known["calls"] = [SCRATCH.calls]
    return known


def outcome(place, command, hoist, **changes):
    """Status, output, messages and files of a case in a place."""
    folder = SCRATCH.folder()
    words = [*(hoist and [HOIST, "run", *hoist[1:], "--"]), *command]
    done = run(*place, *words, cwd=folder, stdin=subprocess.DEVNULL, env=changes.get("env"))
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
    return [SCRATCH.refuse, *numbers, "--"]


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


class Place(unittest.TestCase):
    """Each case is run plainly and under Hoist."""

    def same(self, places, only=None, hoist=("run",), env=None, at_once=4):
        def both(case):
            place, command = case
            return outcome(place, command, (), env=env), outcome(place, command, hoist, env=env)

        usual = {what: outcome([], command, ()) for what, command in cases().items()
                 if only is None or what in only}
        wanted = [(name, what, place, command) for name, place in places.items()
                  for what, command in cases().items() if only is None or what in only]
        with concurrent.futures.ThreadPoolExecutor(at_once) as threads:
            results = list(threads.map(both, [(place, command) for _, _, place, command in wanted]))
        for (name, what, _, _), (plain, ours) in zip(wanted, results):
            with self.subTest(place=name, case=what):
                if ours == usual[what]:
                    continue  # also where the original cannot do with so little, as sort without files
                if plain[0] in (126, 127) or plain[0] < 0:  # it cannot even be started
                    self.assertNotEqual(ours[0], 0)
                    self.assertEqual(ours[1], plain[1])
                    continue
                self.assertEqual(ours[0], plain[0], ours[2])
                self.assertEqual(ours[2], plain[2])
                self.assertTrue(ours[1] == plain[1], "standard output differs")
                self.assertEqual(list(ours[3]), list(plain[3]))
                self.assertTrue(ours[3] == plain[3], "files differ")


class Control(Place):
    def test_engines_take_the_cases_over_where_nothing_is_amiss(self):
        for what, command in cases().items():
            with self.subTest(case=what):
                status, _, errors, _ = outcome([], command, ("run", "--explain"))
                self.assertEqual(status, 1 if what == "sha256sum" else 0)
                if what != "calls":
                    self.assertRegex(errors, rb"ran on the engine")
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
                    status, output, errors, _ = outcome(place, ["sort", "big"], ("run", "--stats"),
                                                        env=environment(XDG_RUNTIME_DIR=None,
                                                                        TMPDIR="/tmp"))
                    self.assertEqual((status, output[:7]), (0, b"0 line\n"))
                    lines = errors.decode().splitlines()
                    if temporary and name != "/dev/shm with room for some":
                        self.assertRegex(lines[0], "^hoist: warning: the program ran, but nothing "
                                         "was counted: .*/dev/shm/hoist-0")
                        self.assertEqual(len(lines), 1)
                    else:
                        self.assertRegex(lines[0], "^hoist: sort big .*: taken over")
                    self.assertEqual(list(pathlib.Path("/tmp").glob("hoist-0/*")), [])

    def test_top_works_everywhere(self):
        for name, script in SHM.items():
            done = run(*in_mounts(script), HOIST, "top", "--once")
            self.assertEqual((done.returncode, done.stderr), (0, b""), name)

    @unittest.skipIf(SANITIZED, "the leak checker needs /proc")
    def test_no_proc(self):
        self.same({"no /proc": in_mounts("mount -t tmpfs tmpfs /proc")})

    def test_full_temporary_folder(self):
        full = in_mounts("mount -t tmpfs -o size=4k tmpfs /tmp; head -c 9999 /dev/zero > /tmp/x 2> /dev/null || :"
                         if not str(SCRATCH.path).startswith("/tmp/") else
                         f"mkdir -p {SCRATCH.path}/full; mount -t tmpfs -o size=4k tmpfs "
                         f"{SCRATCH.path}/full; export TMPDIR={SCRATCH.path}/full")
        self.same({"full TMPDIR": full})

    def test_read_only_cache(self):
        cache = SCRATCH.path / "cache"
        (cache / "hoist").mkdir(parents=True)
        (cache / "hoist/profile.json").write_text("{}")
        self.same({"read-only cache": in_mounts(f"mount --bind -o ro {cache} {cache}")},
                  env=environment(XDG_CACHE_HOME=str(cache)))

    def test_many_at_once(self):
        place = in_mounts(SHM["/dev/shm tiny"])
        for what in ("sort", "sha256sum", "gzip -dc"):
            command = [str(word) for word in cases()[what]]
            expected = outcome([], command, ())
            each = shlex.join([str(HOIST), "run", "--", *command])
            script = (f"for i in $(seq 34); do ({each} > out.$i 2> err.$i; echo $? > status.$i) & "
                      "done; wait")
            files = outcome([*place, "sh", "-c", script], [], ())[3]
            for i in range(1, 35):
                self.assertEqual(int(files[f"status.{i}"][1]), expected[0])
                self.assertTrue(files[f"out.{i}"][1] == expected[1], what)
                self.assertEqual(files[f"err.{i}"][1], expected[2])


@unittest.skipIf(shutil.which("prlimit") is None, "no prlimit")
class Limits(Place):
    def test_file_size(self):
        # With something to be noted in each file that we may write, too.
        cache = SCRATCH.path / "noted"
        (cache / "hoist").mkdir(parents=True)
        (cache / "hoist/profile.json").write_text("{}")
        log = SCRATCH.path / "log"
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
            status, output, errors, _ = outcome(limited(f"fsize={size}"), ["sort", "big"],
                                                ("run", "--stats"))
            self.assertEqual((status, output[:7]), (0, b"0 line\n"))
            self.assertRegex(errors, rb"^hoist: warning: .* nothing was counted: .*File too large"
                             if size < 20000 else rb"^hoist: sort big .*: taken over")

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


class Filters(Place):
    @unittest.skipIf(SANITIZED, "sanitizers have threads of their own")
    def test_refused_system_calls(self):
        if SCRATCH.refuse is None:
            self.skipTest("no compiler")
        if run(SCRATCH.refuse, "--", "true").returncode != 0:
            self.skipTest("no filters of system calls here")
        self.same({
            "memfd": refusing(f"{MEMFD_CREATE}={EPERM}"),
            "memfd unknown": refusing(f"{MEMFD_CREATE}={ENOSYS}"),
            "io_uring": refusing(f"{IO_URING_SETUP}={EPERM}"),
            "clone3": refusing(f"{CLONE3}={ENOSYS}"),
            "fallocate": refusing(f"{FALLOCATE}=95"),
            "flock": refusing(f"{FLOCK}={ENOSYS}"),
            "all": refusing(f"{MEMFD_CREATE}={EPERM}", f"{IO_URING_SETUP}={EPERM}",
                            f"{CLONE3}={ENOSYS}", f"{FALLOCATE}={EPERM}", f"{FLOCK}={EPERM}"),
        })


class Groups(Place):
    def group(self, kind):
        """A control group of its own below a mounted hierarchy; skips where none can be made."""
        for base in (pathlib.Path("/sys/fs/cgroup") / kind, pathlib.Path("/sys/fs/cgroup")):
            made = base / f"hoist-test-{os.getpid()}"
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
                (group / f"{kind}.{name}").write_text(str(value))
                return ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh"]
            except OSError:
                continue
        self.skipTest(f"no limit can be set on {kind}")

    @unittest.skipIf(SANITIZED, "sanitizers need more memory")
    def test_little_memory(self):
        self.same({"64 MiB": self.limit("memory", limit_in_bytes=64 << 20, max=64 << 20)},
                  only={"sort", "sha256sum", "gzip -d", "pipeline", "calls"})


class Crashes(unittest.TestCase):
    """An engine that faults before it has changed anything is followed by the original."""

    def setUp(self):
        if SANITIZED:
            self.skipTest("sanitizers report faults")
        if SCRATCH.faults is None:
            self.skipTest("no compiler")
        self.folder = SCRATCH.folder()
        self.addCleanup(shutil.rmtree, self.folder)

    def crash(self, fault, *command, **options):
        env = environment(FAULT=fault, LD_PRELOAD=str(SCRATCH.faults), HOIST_THREADS="2",
                          **options.pop("more", {}))
        return run(*command, env=env, cwd=self.folder, **options)

    def test_original_follows(self):
        expected = run("sort", "big", cwd=self.folder).stdout
        for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGXFSZ,
                       signal.SIGFPE):
            for call in (1, 2):  # on either thread
                with self.subTest(signal=number, call=call):
                    done = self.crash(f"pread64:{call}:{int(number)}", HOIST, "sort", "big")
                    self.assertEqual((done.returncode, done.stderr), (0, b""))
                    self.assertTrue(done.stdout == expected)

    def test_standard_input_is_not_lost(self):
        expected = run("sort", "big", cwd=self.folder).stdout
        with open(self.folder / "big", "rb") as file:
            done = self.crash("pread64:2:11", HOIST, "sort", stdin=file)
            self.assertTrue((done.returncode, done.stdout) == (0, expected))
        # A pipe, as long as nothing has been read from it.
        done = self.crash("fallocate64:1:7", HOIST, "sort", input=LINES)
        self.assertTrue((done.returncode, done.stdout) == (0, expected))
        done = self.crash("stdin:2:11", HOIST, "sort", input=LINES)
        self.assertEqual((done.returncode, done.stdout), (-signal.SIGSEGV, b""))

    def test_a_crash_is_not_hidden_once_something_was_written(self):
        done = self.crash("write:2:11", HOIST, "sort", "big")
        self.assertEqual(done.returncode, -signal.SIGSEGV)
        self.assertTrue(LINES and len(done.stdout) < len(LINES))

    def test_a_crash_is_not_hidden_once_the_output_was_moved(self):
        with open(self.folder / "sorted", "wb") as file:
            env = environment(FAULT="moved:1:11", LD_PRELOAD=str(SCRATCH.faults), HOIST_THREADS="2")
            done = subprocess.run([HOIST, "sort", "big"], env=env, cwd=self.folder, stdout=file,
                                  timeout=60, check=False)
        self.assertEqual((done.returncode, (self.folder / "sorted").read_bytes()),
                         (-signal.SIGSEGV, b""))

    def test_inherited_descriptors_reach_the_original(self):
        for i in range(40):
            os.link(self.folder / "big", self.folder / f"copy{i}")
        names = [f"copy{i}" for i in range(40)]
        with open(self.folder / "other", "rb") as file:
            names.append(f"/dev/fd/{file.fileno()}")
            inherited = {"pass_fds": (file.fileno(),)}
            expected = run("sha256sum", *names, cwd=self.folder, **inherited).stdout
            for call in range(1, 13):  # on either thread
                with self.subTest(call=call):
                    done = self.crash(f"read:{call}:11", HOIST, "sha256sum", *names, **inherited)
                    self.assertEqual((done.returncode, done.stdout), (0, expected))

    def test_a_signal_from_somebody_else_ends_the_program(self):
        process = subprocess.Popen([HOIST, "sort"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env=environment())
        while "hoist-sort" not in os.readlink(f"/proc/{process.pid}/exe"):
            time.sleep(0.01)
        time.sleep(0.2)  # until it has its handlers
        process.send_signal(signal.SIGSEGV)
        process.stdin.close()
        self.assertEqual(process.wait(), -signal.SIGSEGV)
        process.stdout.close()

    def test_files(self):
        (self.folder / "big").unlink()
        done = self.crash("fchmod:1:7", HOIST, "gunzip", "big.gz")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual((self.folder / "big").read_bytes(), LINES)
        self.assertFalse((self.folder / "big.gz").exists())

    def test_it_is_told(self):
        log = self.folder / "log"
        done = self.crash("read:1:11", HOIST, "run", "--explain", "--", HOIST, "sha256sum", "big",
                          more={"HOIST_LOG_FILE": str(log)})
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, rb"ran on the original: engine crashed: SIGSEGV")
        self.assertRegex(log.read_text(), r"error: engine crashed: SIGSEGV: left to /.*sha256sum")


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
