"""What the tests of gemm share: programs that call BLAS, and a hoistd with hoist_tree's DEVICE."""

import ctypes.util
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

from hoist_tree import BUILD, DEVICE, HOIST, ON_CPU, environment, run

HOISTD = BUILD / "bin/hoistd"
ENGINE = BUILD / "lib/libhoist_gemm.so"
BLAS = ctypes.util.find_library("blas") or ctypes.util.find_library("openblas")
# For GemmCase.hoist(): no hoistd there, and none that an engine could start where a GPU is.
NO_DAEMON = {"HOIST_SOCKET": "/nonexistent/hoistd"}


@unittest.skipUnless(BLAS, "needs libblas3 or libopenblas0")
@unittest.skipUnless(shutil.which("cc"), "needs a compiler")
@unittest.skipUnless(ENGINE.exists(), "this preset has no engines for library calls")
class GemmCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.directory.name)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def setUp(self):
        self.socket = self.path / f"{self.id().rpartition('.')[2]}.socket"
        self.daemon = None

    def tearDown(self):
        if self.daemon is not None:
            self.daemon.kill()
            self.daemon.wait()

    def start_daemon(self, *options):
        self.daemon = self.start_hoistd(self.socket, DEVICE, *options)

    def start_second_daemon(self):
        """That of another device, beside the first one's socket."""
        device = DEVICE if ON_CPU else os.environ.get("HOIST_TEST_SECOND", f"{DEVICE}:0")
        return self.start_hoistd(f"{self.socket}.1", device)

    def start_hoistd(self, socket, device, *options):
        daemon = subprocess.Popen(
            [HOISTD, "--device", device, "--socket", socket, *options], env=environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(1000):
            if run(HOISTD, "--status", "--socket", socket).returncode == 0:
                return daemon
            time.sleep(0.01)
        daemon.kill()
        self.fail("hoistd did not come up")

    def hoist(self, *command, options=(), status=0, **changes):
        """(the completed program, counters of gemm) under `hoist run`."""
        stats = self.path / "stats.json"
        changes = {"HOIST_SOCKET": str(self.socket), "HOIST_GPU": "require",
                   "XDG_CACHE_HOME": str(self.path / "cache"), **changes}
        done = run(HOIST, "run", f"--stats={stats}", *options, "--", *command,
                   env=environment(**changes))
        self.assertEqual(done.returncode, status, done.stderr)
        return done, json.loads(stats.read_text())["operations"].get("gemm", {})
