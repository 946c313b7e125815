"""A bare Debian or Ubuntu of the machine's own release in memory, and copies of it to install into.

All of it lies in a tmpfs within namespaces of its own (packages_test.py): no file and no mount of it
outlives the test, however that ends."""

import contextlib
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import stat
import subprocess

from failure import Failure

# What apt, dpkg and adduser write for themselves, and what the C library caches.
OWN_STATE = re.compile(r"^/(var/(lib|cache)/apt|var/lib/dpkg|var/cache/debconf|var/log|var/cache/ldconfig"
                       r"|etc/ld\.so\.cache$|etc/(group|gshadow)-$|etc/\.pwd\.lock$|run/adduser$|proc|sys|dev|tmp/work)")
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
LIMIT_SECONDS = 600
PRELUDE = 'set -euo pipefail\nsudo() { "$@"; }\n'


def call(*argv, **options):
    done = subprocess.run([str(word) for word in argv], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **options)
    text = done.stdout.decode(errors="replace")
    if done.returncode != 0:
        raise Failure(f"{shlex.join(map(str, argv))}: status {done.returncode}", text)
    return text


def apt_sources():
    """Lines of sources.list for the distribution's own archives, as this machine has them."""
    codename = re.search(r"^VERSION_CODENAME=(\w+)", pathlib.Path("/etc/os-release").read_text(),
                         re.MULTILINE)[1]
    listed = call("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)",
                  "Created-By: Packages")
    lines = {f"deb {line}" for line in listed.splitlines()
             if re.fullmatch(rf"{codename}(-updates|-security)?", line.split()[1])}
    if not lines:
        raise Failure(f"apt knows no archive of {codename}: run apt-get update", listed)
    return codename, "\n".join(sorted(lines)) + "\n"


def apt_options():
    """This machine's ways to reach the archives (proxies, retries)."""
    dump = call("apt-config", "dump")
    return [line for line in dump.splitlines()
            if re.match(r"Acquire::(http|https|Retries|Check-)[^ ]* \"[^\"]", line)]


class Root:
    """A root folder, with /proc and devices of its own."""

    def __init__(self, path):
        self.path = path
        call("mount", "-t", "proc", "proc", path / "proc")
        call("mount", "-t", "tmpfs", "-o", "mode=755", "dev", path / "dev")
        for device in DEVICES:
            (path / "dev" / device).touch()
            call("mount", "--bind", f"/dev/{device}", path / "dev" / device)
        (path / "dev/fd").symlink_to("/proc/self/fd")
        (path / "dev/shm").mkdir(mode=0o1777)
        (path / "dev/shm").chmod(0o1777)
        (path / "tmp/work/home").mkdir(parents=True)

    def run(self, script, folder="/tmp/work"):
        """Runs a bash script as root of this root; returns what it prints. Raises Failure."""
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/tmp/work/home", "LC_ALL": "C",
                       "TMPDIR": "/tmp/work", "DEBIAN_FRONTEND": "noninteractive"}
        try:
            done = subprocess.run(["chroot", self.path, "bash", "-c", PRELUDE + f"cd {folder}\n" + script],
                                  env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS, check=False)
        except subprocess.TimeoutExpired as expired:
            raise Failure(f"no end after {LIMIT_SECONDS} s of\n{script}",
                          (expired.output or b"").decode(errors="replace")) from expired
        text = done.stdout.decode(errors="replace")
        if done.returncode != 0:
            raise Failure(f"status {done.returncode} of\n{script}", text)
        return text

    def install(self, *packages):
        return self.run(f"apt-get -q install {shlex.join(packages)}")

    def files(self):
        """What each path is: mode, owner, and a link's target or a file's content."""
        found = {}
        for folder, folders, names in os.walk(self.path):
            inside = "/" + os.path.relpath(folder, self.path)
            folders[:] = [name for name in folders
                          if not OWN_STATE.match(os.path.normpath(f"{inside}/{name}"))]
            for name in [*folders, *names]:
                path = os.path.join(folder, name)
                status = os.lstat(path)
                content = ""
                if stat.S_ISLNK(status.st_mode):
                    content = os.readlink(path)
                elif stat.S_ISREG(status.st_mode):
                    content = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
                found[os.path.normpath(f"{inside}/{name}")] = (status.st_mode, status.st_uid,
                                                               status.st_gid, content)
        return {path: what for path, what in found.items() if not OWN_STATE.match(path)}


class Distribution:
    """The bare root, and what is copied into each root that is made of it."""

    def __init__(self, scratch, debs):
        self.scratch = scratch
        (scratch / "debs").mkdir()
        self.debs = [pathlib.Path(shutil.copy(deb, scratch / "debs")) for deb in debs]
        self.base = scratch / "base"
        self.downloads = scratch / "downloads"
        (self.downloads / "partial").mkdir(parents=True)
        (scratch / "sources.list").write_text(apt_sources()[1])
        options = [*apt_options(), 'APT::Install-Recommends "false";', 'APT::Get::Assume-Yes "true";',
                   'APT::Keep-Downloaded-Packages "true";', 'APT::Sandbox::User "root";']
        call("mmdebstrap", "--mode=root", "--variant=apt",
             *[f"--aptopt={option}" for option in options],
             apt_sources()[0], self.base, scratch / "sources.list")

    @contextlib.contextmanager
    def root(self, name):
        """A Root that begins bare; what is installed into it is gone afterwards."""
        folder = self.scratch / name
        for part in ("upper", "work", "root"):
            (folder / part).mkdir(parents=True)
        path = folder / "root"
        call("mount", "-t", "overlay", "overlay", "-o",
             f"lowerdir={self.base},upperdir={folder}/upper,workdir={folder}/work", path)
        try:
            call("mount", "--bind", self.downloads, path / "var/cache/apt/archives")
            root = Root(path)
            (path / "tmp/work/build/deb").mkdir(parents=True)
            for deb in self.debs:
                shutil.copy(deb, path / "tmp/work/build/deb")
            yield root
        finally:
            call("umount", "--recursive", "--lazy", path)
            call("rm", "-rf", folder)
