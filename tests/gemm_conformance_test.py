#!/usr/bin/env python3
"""The reference BLAS's level-3 test programs under Hoist (scripts/blas-conformance)."""

import pathlib
import subprocess
import unittest

from gemm_case import ENGINE
from hoist_tree import BUILD, DEVICE, environment, main_on_device

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "scripts/blas-conformance"
NOTHING_TO_RUN = 3


@unittest.skipUnless(SCRIPT.exists(), "needs scripts/blas-conformance")
@unittest.skipUnless(ENGINE.exists(), "this preset has no engines for library calls")
class ConformanceTest(unittest.TestCase):
    def test_level_3_programs_pass(self):
        done = subprocess.run([SCRIPT, "--build", BUILD, "--device", DEVICE], capture_output=True,
                              text=True, env=environment(), check=False)
        if done.returncode == NOTHING_TO_RUN:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    main_on_device()
