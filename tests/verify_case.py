"""What the tests of --verify share: engines, their inputs, a home of their own."""
import collections
import gzip
import hashlib
import os
import shutil
import subprocess
import tempfile
import time
import unittest

BUILD = os.environ["HOIST_BUILD_DIR"]

Program = collections.namedtuple("Program", "operation engine package version original")
PROGRAMS = {
    "sort": Program("sort", "hoist-sort", "coreutils", "9.1", "/usr/bin/sort"),
    "sha256sum": Program("hash", "hoist-hash", "coreutils", "9.1", "/usr/bin/sha256sum"),
    "gzip": Program("gunzip", "hoist-gunzip", "gzip", "1.12", "/usr/bin/gzip"),
}

FORK_SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
pid_t fork(void) {
  static int calls;
  if (++calls == atoi(getenv("FAILING_FORK"))) { errno = EAGAIN; return -1; }
  return ((pid_t (*)(void))dlsym(RTLD_NEXT, "fork"))();
}
"""


class VerifyCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.text = os.path.join(self.folder, "text")
        self.write_text(1000)

    def write_text(self, lines):
        with open(self.text, "w") as out:
            out.writelines(f"line {i * 7919 % lines} {i * 104729 % 65537:x}\n"
                           for i in range(lines))
        # Stored, so that it is as large as the text.
        with gzip.open(self.text + ".gz", "wb", compresslevel=0) as out, \
                open(self.text, "rb") as text:
            out.write(text.read())

    def input(self, name):
        return self.text + ".gz" if name == "gzip" else self.text

    def arguments(self, name):
        return (["-dc"] if name == "gzip" else []) + [self.input(name)]

    def expected(self, name, shown=None):
        with open(self.text, "rb") as text:
            content = text.read()
        if name == "sha256sum":
            return f"{hashlib.sha256(content).hexdigest()}  {shown or self.text}\n".encode()
        return b"".join(sorted(content.splitlines(keepends=True))) if name == "sort" else content

    def environment(self, name, original, rate, more):
        program = PROGRAMS[name]
        kept = {key: os.environ[key] for key in ("PATH", "GCOV_ERROR_FILE") if key in os.environ}
        return {
            **kept, "LC_ALL": "C", "HOME": self.folder,
            "TMPDIR": self.folder, "HOIST_VERIFY": rate, "HOIST_LOG": "info",
            "HOIST_LOG_FILE": os.path.join(self.folder, "log"),
            "HOIST_TAKEOVER": f"{name}:{program.package}:{program.version}:{original}", **more}

    def engine(self, name):
        return os.path.join(BUILD, "libexec", "hoist", PROGRAMS[name].engine)

    def split(self, more):
        """(environment variables, arguments of subprocess) among the keywords."""
        return ({key: value for key, value in more.items() if key.isupper()},
                {key: value for key, value in more.items() if not key.isupper()})

    def run_engine(self, name, original, *arguments, rate="1", **more):
        variables, options = self.split(more)
        options = {"capture_output": True, "timeout": 60, **options}
        if "input" not in options and "stdin" not in options:
            options["stdin"] = subprocess.DEVNULL
        return subprocess.run([name, *arguments], executable=self.engine(name),
                              env=self.environment(name, original, rate, variables), **options)

    def start_engine(self, name, original, *arguments, rate="1", **more):
        variables, options = self.split(more)
        process = subprocess.Popen(
            [name, *arguments], executable=self.engine(name),
            env=self.environment(name, original, rate, variables), **options)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def script(self, name, body, stdout_to=None, interpreter="/bin/sh"):
        path = os.path.join(self.folder, name)
        if stdout_to:
            body = f"exec > {self.folder}/{stdout_to}; {body}"
        with open(path, "w") as out:
            out.write(f"#!{interpreter}\n{body}\n")
        os.chmod(path, 0o755)
        return path

    def fork_shim(self):
        """A library to preload whose FAILING_FORKth fork() fails."""
        if os.environ.get("HOIST_SANITIZE") or not shutil.which("cc"):
            self.skipTest("no compiler, or a sanitizer that must be loaded first")
        library = os.path.join(self.folder, "shim.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library, "-ldl"],
                       input=FORK_SHIM.encode(), check=True)
        return library

    def wait_for_pid(self, name):
        path = os.path.join(self.folder, name)
        text = ""
        for _ in range(2000):
            if os.path.exists(path):
                with open(path) as pid:
                    text = pid.read()
            if text.endswith("\n"):
                os.unlink(path)
                return int(text)
            time.sleep(0.01)
        self.fail("the original was not started")

    def assert_ends(self, pid):
        for _ in range(1000):
            try:
                with open(f"/proc/{pid}/stat") as state:
                    if state.read().rsplit(")", 1)[1].split()[0] == "Z":
                        return
            except (FileNotFoundError, ProcessLookupError):
                return
            time.sleep(0.01)
        self.fail(f"process {pid} lives on")

    def log(self):
        path = os.path.join(self.folder, "log")
        if not os.path.exists(path):
            return ""
        with open(path) as log:
            return log.read()

    def clear_log(self):
        os.unlink(os.path.join(self.folder, "log"))

    def note_path(self):
        return os.path.join(self.folder, ".cache", "hoist", "switched-off")

    def note(self):
        if not os.path.exists(self.note_path()):
            return ""
        with open(self.note_path()) as note:
            return note.read()
