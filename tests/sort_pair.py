"""Runs one sort command under the engine and under the installed program, for tests.

A Case is a command line with its files; both programs get their own copy of the files, and what
they print, their status and the files afterwards are compared.
"""

import atexit
import dataclasses
import os
import shutil
import subprocess
import sys
import tempfile

BUILD_DIR = os.environ.get("HOIST_BUILD_DIR", "build/release")
ENGINE = os.path.join(os.path.abspath(BUILD_DIR), "libexec", "hoist", "hoist-sort")
ORIGINAL = "/usr/bin/sort"
KNOWN_VERSIONS = ("9.1", "9.4")
SECONDS = 120  # nothing here takes long; a hang must still end


def installed_version():
    """The installed coreutils ("9.1"), or "" where it is not GNU's."""
    try:
        told = subprocess.run([ORIGINAL, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    words = told.stdout.split("\n")[0].split()
    return words[-1] if words[:3] == ["sort", "(GNU", "coreutils)"] else ""


VERSION = installed_version()


def skip_unless_possible():
    """Leaves with ctest's status for a skipped test where there is nothing to compare."""
    if VERSION not in KNOWN_VERSIONS:
        print(f"skipped: {ORIGINAL} is not GNU sort {' or '.join(KNOWN_VERSIONS)}")
        sys.exit(77)


def temporary_folder(name):
    """A folder that is removed when the test ends."""
    path = tempfile.mkdtemp(prefix=f"hoist-{name}-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def compile_locales(folder, more=()):
    """The names of the locales to test in; those that Debian has no binaries of go to `folder`.
    `more`: pairs of a language and a character set."""
    names = ["C", "C.UTF-8"]
    for language, charset in (("en_US", "UTF-8"), ("de_DE", "UTF-8"), ("fr_FR", "ISO-8859-1"), *more):
        name = f"{language}.{charset}"
        command = ["localedef", "--no-archive", "-i", language, "-f", charset,
                   os.path.join(folder, name)]
        try:
            made = subprocess.run(command, capture_output=True, check=False)
        except OSError:
            break
        if made.returncode == 0:
            names.append(name)
    return names


@dataclasses.dataclass
class Case:
    arguments: list
    files: dict = dataclasses.field(default_factory=dict)  # name -> bytes
    stdin: bytes = b""
    stdin_is_file: bool = False
    stdout_is_file: bool = False
    environment: dict = dataclasses.field(default_factory=dict)
    engine_environment: dict = dataclasses.field(default_factory=dict)
    umask: int = 0o022

    def shell(self):
        """The command as one would type it, in a folder with the case's files."""
        words = [f"{k}={_quoted(v)}" for k, v in sorted(self.environment.items())]
        words += ["sort"] + [_quoted(word) for word in self.arguments]
        words.append("<stdin" if self.stdin_is_file else "")
        words.append(">stdout" if self.stdout_is_file else "")
        return ("" if self.stdin_is_file else "cat stdin | ") + " ".join(filter(None, words))


def _quoted(word):
    text = word if isinstance(word, str) else os.fsdecode(word)
    return "'" + text.replace("'", "'\\''") + "'"


@dataclasses.dataclass
class Result:
    status: int
    stdout: bytes
    stderr: bytes
    files: dict


def environment_of(case, engine, log=None):
    """What the program sees: nothing of the caller's locale or of POSIX's modes."""
    environment = {k: v for k, v in os.environ.items()
                   if not k.startswith(("LC_", "LANG", "HOIST_")) and k not in
                   ("_POSIX2_VERSION", "POSIXLY_CORRECT", "LOCPATH")}
    environment.update(case.environment)
    if engine:
        environment["HOIST_TAKEOVER"] = f"sort:coreutils:{VERSION}:{ORIGINAL}"
        environment.update(case.engine_environment)
        if log:
            environment.update({"HOIST_LOG": "info", "HOIST_LOG_FILE": log})
    return environment


def contents(folder):
    """Everything under `folder`: permissions, and the bytes of regular files and links to them."""
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            full = os.path.join(path, name)
            data = b""
            if os.path.isfile(full):
                with open(full, "rb") as file:
                    data = file.read()
            found[os.path.relpath(full, folder)] = (oct(os.lstat(full).st_mode), data)
    return found


def run(case, folder, engine, log=None):
    """Runs one of the two programs in `folder`, made afresh."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name, data in case.files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
    streams = os.path.join(folder + ".streams")
    os.makedirs(streams, exist_ok=True)
    options = {"cwd": folder, "stderr": subprocess.PIPE, "timeout": SECONDS,
               "env": environment_of(case, engine, log), "umask": case.umask,
               "executable": ENGINE if engine else ORIGINAL}
    stdin_path = os.path.join(streams, "stdin")
    stdout_path = os.path.join(streams, "stdout")
    if case.stdin_is_file:
        with open(stdin_path, "wb") as file:
            file.write(case.stdin)
        options["stdin"] = open(stdin_path, "rb")
    else:
        options["input"] = case.stdin
    options["stdout"] = open(stdout_path, "wb") if case.stdout_is_file else subprocess.PIPE
    try:
        done = subprocess.run(["sort", *case.arguments], check=False, **options)
    finally:
        for stream in ("stdin", "stdout"):
            if hasattr(options.get(stream), "close"):
                options[stream].close()
    stdout = done.stdout
    if case.stdout_is_file:
        with open(stdout_path, "rb") as file:
            stdout = file.read()
    return Result(done.returncode, stdout, done.stderr, contents(folder))


def difference(case, folder, log=None):
    """What the engine does otherwise than the original; "" where they agree."""
    ours = run(case, os.path.join(folder, "engine"), True, log)
    theirs = run(case, os.path.join(folder, "original"), False)
    told = []
    for what in ("status", "stdout", "stderr", "files"):
        mine, original = getattr(ours, what), getattr(theirs, what)
        if mine != original:
            told.append(f"{what}:\n  engine:   {_short(mine)}\n  original: {_short(original)}")
    return "\n".join(told)


def _short(value):
    text = repr(value)
    return text if len(text) <= 600 else f"{text[:400]} ... {text[-150:]} ({len(text)} characters)"
