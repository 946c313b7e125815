#!/usr/bin/env python3
"""The units of packaging/systemd under a real systemd, which is PID 1 of namespaces of its own.

Nothing of the machine changes: mounts, /dev, /etc, /run, /tmp and the network are private to the
namespaces, which end with this test, as their processes and cgroup do, even where it is killed.
Needs root, systemd, namespaces and a cgroup2 to write to; exit status 77: one is missing."""

import errno
import glob
import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import sys
import time
import unittest

from hoist_tree import BUILD, environment, run

UNITS = pathlib.Path(__file__).resolve().parent.parent / "packaging/systemd"
PYTHON = "/usr/bin/python3"  # the sandbox hides those below /home and /root
TOOLS = ("/lib/systemd/systemd", "systemctl", "unshare", "nsenter", "setpriv", PYTHON)
GROUP = "964"
LIMIT = 20  # seconds, for what happens at once
SERVICE, CONTROL = "system.slice/hoistd.service", "system.slice/control.service"

# Outside, until standard input ends, that is until the test ends, in whatever way.
KEEPER = r"""
mkdir "$2" || exit
setpriv --pdeathsig KILL unshare --fork --kill-child --pid --mount --ipc --uts --net \
  --propagation private sh -c "$1" sh "$2" &
exec >/dev/null 2>&1
read -r _
# With PID 1 all end; unshare then reaps it.
kill -KILL $(cat /proc/$!/task/$!/children) || kill -KILL $!
for _ in $(seq 100); do
  find "$2" -depth -type d -exec rmdir {} + && break
  sleep 0.1
done
wait
"""

# Inside, PID 1 until it becomes systemd, which leaves clock, modules and consoles alone in what it
# takes for a container.
BOOT = rf"""
set -eu
read -r pid _ </proc/self/stat  # by its number outside
mount -t tmpfs -o mode=755 hoistd-test /run
mkdir /run/bin /run/dev /run/etc /run/units
(cd /lib/systemd/system && cp basic.target sysinit.target shutdown.target /run/units)
echo 5e1f5e1f5e1f5e1f5e1f5e1f5e1f5e1f >/run/etc/machine-id
printf 'root:x:0:\nhoist:x:{GROUP}:\n' >/run/etc/group
for device in null zero full random urandom tty; do
  : >/run/dev/$device
  mount --bind /dev/$device /run/dev/$device
done
ln -s pts/ptmx /run/dev/ptmx
: >/run/dev/kmsg  # takes systemd's log
: >/run/log       # takes its services'
mount --rbind /run/dev /dev
mount --rbind /run/etc /etc
mount -t tmpfs -o mode=1777 hoistd-test /tmp
mount -t tmpfs -o mode=1777 hoistd-test /var/tmp
echo 0 >"$1/cgroup.procs"
exec unshare --cgroup sh -euc '
  mount -t proc proc /proc
  mount --bind /proc/sys /proc/sys
  mount -o remount,bind,ro /proc/sys  # systemd would raise limits of the whole machine
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  echo "$0"
  exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin container=hoistd-test \
    SYSTEMD_UNIT_PATH=/run/units SYSTEMD_GENERATOR_PATH=/run/none \
    SYSTEMD_ENVIRONMENT_GENERATOR_PATH=/run/none \
    /lib/systemd/systemd --system --unit=basic.target --show-status=no --log-target=kmsg' "$pid"
"""

# Says whether this machine lets systemd make such sandboxes, so that a failure is our unit's.
CONTROL_UNIT = """[Service]
Type=exec
ExecStart=/bin/sleep 600
DynamicUser=yes
PrivateNetwork=yes
DevicePolicy=closed
SystemCallFilter=@system-service
"""

# Tries in hoistd's place what hoistd must not be able to do. DynamicUser= brings NoNewPrivs and
# some seccomp by itself, so the process's status does not tell whether our filters are there.
PROBE = """
import ctypes, mmap, socket
for attempt in (lambda: mmap.mmap(-1, 4096, prot=7), socket.socket):
    try:
        print("allowed:", attempt())
    except OSError as error:
        print(error.errno)
print(ctypes.CDLL(None).ptrace(0, 0, 0, 0))
"""


def within_limit(condition):
    end = time.monotonic() + LIMIT
    while not (value := condition()) and time.monotonic() < end:
        time.sleep(0.02)
    return value


def writable_cgroup():
    lines = pathlib.Path("/proc/self/cgroup").read_text().splitlines()
    own = next((line[3:] for line in lines if line.startswith("0::")), "/")
    mounts = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
    tops = [mount.split()[4] for mount in mounts if " - cgroup2 " in mount]
    # Within the limits of whoever runs the test, if possible.
    for group in [top + own for top in tops] + tops:
        if os.access(f"{group}/cgroup.procs", os.W_OK):
            return pathlib.Path(group)
    raise unittest.SkipTest("no cgroup2 to write to")


class Systemd:
    """A system manager that knows no unit but those of the test."""

    def __init__(self):
        if os.environ.get("HOIST_SANITIZE"):
            raise unittest.SkipTest("sanitizers do what the sandbox forbids")
        if os.geteuid() != 0:
            raise unittest.SkipTest("not root")
        for tool in TOOLS:
            if shutil.which(tool) is None:
                raise unittest.SkipTest(f"no {tool}")
        self.cgroup = writable_cgroup() / f"hoistd-test-{secrets.token_hex(6)}"
        keeper = subprocess.Popen(["sh", "-c", KEEPER, "sh", BOOT, self.cgroup], env=environment(),
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, start_new_session=True)
        unittest.addModuleCleanup(keeper.communicate, timeout=LIMIT)
        self.pid = keeper.stdout.readline().decode().strip()
        if not self.pid:
            why = keeper.communicate(timeout=LIMIT)[1].decode().strip()
            raise unittest.SkipTest(f"no namespaces: {why}")
        self.folder = pathlib.Path(f"/proc/{self.pid}/root/run")
        if not within_limit(lambda: self.is_active("basic.target")):
            raise unittest.SkipTest(f"systemd does not answer\n{self.log()}")
        shutil.copy(BUILD / "bin/hoistd", self.folder / "bin")
        shutil.copy(BUILD / "tests/hoistd-client", self.folder / "bin")
        self.write("units/service.d/log.conf", "[Service]\nStandardOutput=append:/run/log\n"
                   "StandardError=append:/run/log\n")
        self.write("units/control.service", CONTROL_UNIT)
        self.run("systemctl", "start", "control.service")
        if not self.is_active("control.service"):
            raise unittest.SkipTest(f"systemd can make no sandbox here\n{self.log()}")

    def run(self, *command):
        """What a command inside says, errors too."""
        done = run("nsenter", f"--target={self.pid}", "--mount", "--pid", "timeout", "-k1", LIMIT,
                   *command, env=environment(XDG_RUNTIME_DIR=None))
        return (done.stdout + done.stderr).decode().strip()

    def is_active(self, unit):
        return self.run("systemctl", "is-active", unit) == "active"

    def show(self, name):
        return self.run("systemctl", "show", "hoistd.service", "--value", f"--property={name}")

    def write(self, path, text):
        (self.folder / path).parent.mkdir(exist_ok=True)
        (self.folder / path).write_text(text)

    def log(self):
        files = (self.folder / "dev/kmsg", self.folder / "log")
        return "".join(file.read_text() for file in files if file.exists())

    def opens(self, device, group):
        """Whether root, out of that cgroup, can open a device."""
        return run("sh", "-c", 'echo 0 >"$0/cgroup.procs" && exec 3<"$1"', self.cgroup / group,
                   device).returncode == 0


def setUpModule():
    global systemd
    systemd = Systemd()


class Units(unittest.TestCase):
    def setUp(self):
        self.service = (UNITS / "hoistd.service.in").read_text().replace(
            "@CMAKE_INSTALL_FULL_BINDIR@", "/run/bin")
        systemd.write("units/hoistd.service", self.service)
        systemd.write("units/hoistd.socket", (UNITS / "hoistd.socket").read_text())
        self.listen("[Service]\nExecStart=\nExecStart=/run/bin/hoistd --device cpu\n")

    def listen(self, drop_in):
        """Begins anew: the socket listens, and nobody has come yet."""
        systemd.run("systemctl", "stop", "hoistd.socket", "hoistd.service")
        systemd.write("units/hoistd.service.d/device.conf", drop_in)
        systemd.write("log", "")
        systemd.run("systemctl", "daemon-reload")
        systemd.run("systemctl", "reset-failed")
        self.assertEqual(systemd.run("systemctl", "start", "hoistd.socket"), "")

    def run(self, result=None):
        wrong = len(result.failures + result.errors)
        super().run(result)
        if len(result.failures + result.errors) > wrong:
            print(systemd.log(), file=sys.stderr)

    def client(self, *prefix):
        return systemd.run(*prefix, "/run/bin/hoistd-client", "work", "1")

    def failures(self):
        return (systemd.folder / "log").read_text().count("error: ")

    def serving(self):
        """The daemon's process, once it has served a client, by its number outside."""
        self.assertTrue(within_limit(lambda: self.client() == "works\ndone"), self.client())
        return int((systemd.cgroup / SERVICE / "cgroup.procs").read_text())

    def test_the_first_client_starts_it(self):
        self.assertEqual(systemd.show("MainPID"), "0")
        self.serving()
        self.assertEqual(systemd.show("NRestarts"), "0")

    def test_who_may_connect(self):
        user = ("setpriv", "--reuid=12345", "--regid=12345")
        self.serving()
        self.assertEqual(self.client(*user, f"--groups={GROUP}"), "works\ndone")
        self.assertRegex(self.client(*user, "--clear-groups"), "^cpu: .*Permission denied$")

    def test_killed(self):
        killed = self.serving()
        os.kill(killed, signal.SIGKILL)
        self.assertTrue(within_limit(lambda: systemd.show("NRestarts") == "1"))
        self.assertNotEqual(self.serving(), killed)

    def test_the_process(self):
        process = pathlib.Path(f"/proc/{self.serving()}")
        status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(int(status[name], 16), 0, name)
        self.assertEqual((int(status["NoNewPrivs"]), int(status["Seccomp"])), (1, 2))
        for number in (status["Uid"] + status["Gid"] + status["Groups"]).split():
            self.assertIn(int(number), range(61184, 65520))  # DynamicUser='s
        try:
            network = os.readlink(process / "ns/net")
            modes = {line.split()[1][:3] for line in (process / "maps").read_text().splitlines()}
        except PermissionError:
            self.skipTest("no CAP_SYS_PTRACE: neither memory nor namespaces of the process seen")
        self.assertNotEqual(network, os.readlink(f"/proc/{systemd.pid}/ns/net"))
        self.assertIn("r-x", modes)
        self.assertFalse(modes & {"rwx", "-wx"})

    def test_a_probe_in_its_place(self):
        systemd.write("probe.py", PROBE)
        systemd.write("units/probe.service", self.service)
        systemd.write("units/probe.service.d/probe.conf", "[Service]\nType=oneshot\nRestart=no\n"
                      f"ExecStart=\nExecStart={PYTHON} /run/probe.py\n")
        systemd.run("systemctl", "daemon-reload")
        self.assertEqual(systemd.run("systemctl", "start", "probe.service"), "")
        self.assertEqual((systemd.folder / "log").read_text().split(),
                         [str(errno.EPERM), str(errno.EAFNOSUPPORT), "-1"])

    def test_devices(self):
        self.serving()
        self.assertTrue(systemd.opens("/dev/null", SERVICE))
        devices = [device for device in ("/dev/fuse", "/dev/kvm", "/dev/net/tun", "/dev/kmsg")
                   if systemd.opens(device, "init.scope") and not systemd.opens(device, CONTROL)]
        if not devices:
            self.skipTest("no BPF for cgroups, or no device to try")
        self.assertEqual([device for device in devices if systemd.opens(device, SERVICE)], [])

    @unittest.skipIf(glob.glob("/dev/nvidia[0-9]*"), "there is a GPU")
    def test_without_a_gpu_it_ends_until_a_client_asks_again(self):
        self.listen("")
        for attempt in range(1, 13):  # more than systemd's own limits bear
            self.assertRegex(self.client(), "^cpu: ")
            self.assertTrue(within_limit(lambda: systemd.show("ActiveState") == "failed" and
                                         self.failures() >= attempt))
            self.assertEqual(systemd.show("ExecMainStatus"), "3")
            self.assertEqual(systemd.show("NRestarts"), "0")
            self.assertEqual(self.failures(), attempt)
            self.assertTrue(systemd.is_active("hoistd.socket"))


if __name__ == "__main__":
    signal.alarm(300)
    done = unittest.main(exit=False).result
    for _, why in done.skipped:
        print("skipped:", why)
    sys.exit(77 if done.skipped and not done.testsRun else not done.wasSuccessful())
