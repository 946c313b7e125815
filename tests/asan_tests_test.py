#!/usr/bin/env python3
"""scripts/asan-tests: which failures of an AddressSanitizer build are the leak check's own."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "scripts" / "asan-tests"
CRASH = ("[  PASSED  ] 9 tests.\nTracer caught signal 11: addr=0xd660 pc=0x7fc4d2ae80f0 sp=0x7fc4cf559d10\n"
         "==15373==LeakSanitizer has encountered a fatal error.\n")
LEAK = "==9==ERROR: LeakSanitizer: detected memory leaks\n"


def load_script():
    loader = importlib.machinery.SourceFileLoader("asan_tests", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("asan_tests", loader))
    loader.exec_module(module)
    return module


sys.dont_write_bytecode = True  # scripts/ stays clean
ASAN_TESTS = load_script()


def log(**tests):
    """What ctest writes."""
    line = "----------------------------------------------------------\n"
    return "Start testing: Nov 28 21:33 UTC\n" + "".join(
        f"{line}{i}/504 Testing: {name}\n{i}/504 Test: {name}\nOutput:\n{line}{said}<end of output>\n"
        for i, (name, said) in enumerate(tests.items(), 1))


class AsanTestsTest(unittest.TestCase):
    def crashed(self, *failed, **tests):
        return ASAN_TESTS.only_the_leak_check_crashed(failed, ASAN_TESTS.outputs(log(**tests)))

    def test_the_leak_checks_own_crash(self):
        self.assertTrue(self.crashed("one", one=CRASH, other="[  PASSED  ] 1 test.\n"))
        self.assertTrue(self.crashed("one", "other", one=CRASH, other=CRASH))

    def test_failures(self):
        self.assertFalse(self.crashed("one", "other", one=CRASH, other="[  FAILED  ] 1 test.\n"))
        for fault in (LEAK, "a.cc:7: Failure\n", "x.cc:1:2: runtime error: shift\n",
                      "==9==ERROR: AddressSanitizer: heap-use-after-free\n", "Traceback (most recent call last):\n"):
            with self.subTest(fault):
                self.assertFalse(self.crashed("one", one=fault))
                self.assertFalse(self.crashed("one", one=fault + CRASH))
        self.assertFalse(self.crashed("unknown", one=CRASH))
        self.assertFalse(self.crashed(one=CRASH))


if __name__ == "__main__":
    unittest.main()
