"""What the black-box tests of `hoist run` share: the built tree, and copies of it with a probe in
place of the engines, so that interception is tested whether or not an engine does its own work."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = pathlib.Path(os.environ.get("HOIST_BUILD_DIR", "build/release")).resolve()
HOIST = BUILD / "bin/hoist"
PRELOAD = BUILD / "lib/libhoist_preload.so"
PRELOAD_BLAS = BUILD / "lib/libhoist_preload_blas.so"
PRELOAD_MEMCPY = BUILD / "lib/libhoist_preload_memcpy.so"
OPERATIONS = ("sort", "hash", "gunzip")
# The device of a test's hoistd: with HOIST_TEST_DEVICE=cuda the same test runs on a GPU.
DEVICE = os.environ.get("HOIST_TEST_DEVICE", "cpu")
ON_CPU = DEVICE == "cpu"
SKIPPED = 77  # the exit status that ctest and run-tests know

# Stands in for an engine: says how it was called, or steps aside as an engine does.
PROBE = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern char** environ;
int main(int argc, char** argv) {
  const char* takeover = getenv("HOIST_TAKEOVER");
  if (getenv("PROBE_ASIDE") != NULL && takeover != NULL) {
    const char* original = takeover;
    for (int i = 0; i < 3; ++i) original = strchr(original, ':') + 1;
    char path[4096], pid[16];
    snprintf(path, sizeof path, "%s", original);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    unsetenv("HOIST_TAKEOVER");
    setenv("HOIST_SKIP", pid, 1);
    execv(path, argv);
    return 99;
  }
  printf("TAKEN %s\n", takeover != NULL ? takeover : "-");
  for (int i = 0; i < argc; ++i) printf("ARG %s\n", argv[i]);
  if (getenv("PROBE_ENVIRONMENT") != NULL)
    for (char** entry = environ; *entry != NULL; ++entry) printf("ENV %s\n", *entry);
  return 42;
}
"""


def environment(**changes):
    """The test's own environment without what would disturb; None removes a variable."""
    result = {name: value for name, value in os.environ.items()
              if not name.startswith(("HOIST", "LD_", "GZIP", "POSIX", "_POSIX", "XDG_DATA"))}
    if ON_CPU:
        result.pop("CUDA_VISIBLE_DEVICES", None)  # by which a CPU's hoistd would be left alone, too
    result["LC_ALL"] = "C"
    if os.environ.get("HOIST_SANITIZE") == "address":
        # Our library comes before the sanitizer's runtime in the engines of this preset.
        result["ASAN_OPTIONS"] = "verify_asan_link_order=0"
    result.update(changes)
    return {name: value for name, value in result.items() if value is not None}


def run(*command, env=None, **options):
    """subprocess.run with the output captured as bytes and a limit on its time."""
    options.setdefault("stdin", None if "input" in options else subprocess.DEVNULL)
    if options["stdin"] is None:
        del options["stdin"]
    return subprocess.run([str(word) for word in command], env=env or environment(),
                          capture_output=True, timeout=120, check=False, **options)


def why_no_device():
    """Why DEVICE cannot be used here; None where it can."""
    if ON_CPU:
        return None
    seen = json.loads(run(HOIST, "doctor", "--json").stdout)
    gpus = [device for device in seen["devices"] if device["kind"] == "cuda"]
    plugin = [feature for feature in seen["features"] if feature["name"] == "cuda"]
    return next((entry["why"] for entry in gpus if not entry["present"]),
                next((entry["why"] for entry in plugin if not entry["on"]), None))


class _CountingResult(unittest.TextTestResult):
    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


class _CountingRunner(unittest.TextTestRunner):
    resultclass = _CountingResult


def main_on_device():
    """unittest.main() of a test whose hoistd has DEVICE. Skipped as a whole where there is none, or
    where each of its cases is."""
    if why := why_no_device():
        print(f"skipped: no {DEVICE}: {why}", file=sys.stderr)
        sys.exit(SKIPPED)
    result = unittest.main(testRunner=_CountingRunner, exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(0 if result.passed else SKIPPED)


def tried_until(is_good, attempt, times=5, seconds=60):
    """attempt()'s first good result, or the last of at least `times` and `seconds`: for what a busy machine may do too
    late."""
    end = time.monotonic() + seconds
    while not is_good(result := attempt()):
        times -= 1
        if times <= 0 and time.monotonic() > end:
            break
    return result


def compile_c(source, target, *flags):
    """Compiles a C (or with a .cc name C++) program; None where that is not possible."""
    compiler, language = ("c++", "c++") if "-x-c++" in flags else ("cc", "c")
    flags = [flag for flag in flags if flag != "-x-c++"]
    if shutil.which(compiler) is None:
        return None
    done = subprocess.run([compiler, "-x", language, "-", "-o", str(target), *flags],
                          input=source.encode(), capture_output=True, check=False)
    return target if done.returncode == 0 else None


def self_bound_zlib(folder):
    """A folder below `folder` with a libz.so.1 whose functions call one another directly, as
    Ubuntu's do, to be put into LD_LIBRARY_PATH; None where it cannot be made."""
    archive = run("cc", "-print-file-name=libz.a").stdout.decode().strip()
    made = folder / "self-bound"
    made.mkdir()
    return made if compile_c("", made / "libz.so.1", "-x", "none", "-shared", "-Wl,-Bsymbolic",
                             "-Wl,-soname,libz.so.1", "-Wl,--whole-archive", archive,
                             "-Wl,--no-whole-archive") else None


class Scratch:
    """A directory with input files and a relocated tree whose engines are probes."""

    def __init__(self):
        self._directory = tempfile.TemporaryDirectory(prefix="hoist-test-")
        self.path = pathlib.Path(self._directory.name)
        self.big = self.path / "big"
        self.big.write_bytes(b"".join(b"%d line\n" % (i * 7919 % 100003) for i in range(150000)))
        self.small = self.path / "small"
        self.small.write_bytes(b"b\na\n")

    def tree(self, name, engines=OPERATIONS):
        """A copy of the built tree as PATH/name; `engines` are probes, others are missing."""
        prefix = self.path / name
        for folder in ("bin", "lib"):
            (prefix / folder).mkdir(parents=True)
        shutil.copy(HOIST, prefix / "bin/hoist")
        for library in (PRELOAD, PRELOAD_BLAS, PRELOAD_MEMCPY):
            shutil.copy(library, prefix / "lib")
        shutil.copytree(BUILD / "lib/hoist", prefix / "lib/hoist", symlinks=True)
        (prefix / "libexec/hoist").mkdir(parents=True)
        shutil.copy(BUILD / "libexec/hoist/hoist-command-line", prefix / "libexec/hoist")
        probe = self.path / "probe"
        if not probe.exists() and compile_c(PROBE, probe) is None:
            raise RuntimeError("cc is needed to build the probe")
        for operation in engines:
            shutil.copy(probe, prefix / f"libexec/hoist/hoist-{operation}")
        return prefix

    def close(self):
        self._directory.cleanup()


def engine_is_built(operation):
    return (BUILD / f"libexec/hoist/hoist-{operation}").exists()


def build_id_offset(data):
    """Where the 20 bytes of the GNU build-id note lie in an ELF file's bytes."""
    at = data.find(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0")
    return at + 16 if at >= 0 else None


def copy_with_build_id(source, target, build_id):
    """Copies a program and gives the copy another build-id (20 bytes)."""
    data = bytearray(pathlib.Path(source).read_bytes())
    at = build_id_offset(bytes(data))
    data[at:at + 20] = build_id
    pathlib.Path(target).write_bytes(data)
    os.chmod(target, 0o755)
