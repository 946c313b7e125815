#!/usr/bin/env python3
"""The settings that the preload library keeps when a program empties its environment."""

import unittest

from hoist_tree import PRELOAD, Scratch, compile_c, environment, run

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  const char* (*kept)(const char*) = (const char* (*)(const char*))dlsym(RTLD_DEFAULT,
                                                                         "hoist_environment");
  clearenv();
  for (int i = 1; i < argc; ++i) {
    const char* value = kept(argv[i]);
    puts(value != NULL ? value : "-");
  }
  return 0;
}
"""


class KeptEnvironmentTest(unittest.TestCase):
    def setUp(self):
        scratch = Scratch()
        self.addCleanup(scratch.close)
        self.program = compile_c(SOURCE, scratch.path / "program", "-w", "-ldl")
        if self.program is None:
            self.skipTest("no C compiler")

    def kept(self, *names, **variables):
        env = environment(LD_PRELOAD=str(PRELOAD), **variables)
        done = run(self.program, *names, env=env)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode().splitlines()

    def test_ours_are_kept_and_others_are_not(self):
        self.assertEqual(self.kept("HOIST", "HOIST_OPS", "HOME", "XDG_CACHE_HOME", "HOISTED", "XDG",
                                   "OTHER", "HO", HOIST="off", HOIST_OPS="", HOME="/home/x",
                                   XDG_CACHE_HOME="/cache", HOISTED="1", XDG="2", OTHER="3"),
                         ["off", "", "/home/x", "/cache", "1", "-", "-", "-"])

    def test_what_does_not_fit_takes_nothing_with_it(self):
        for length in (100, 6000, *range(6100, 6150), 20000):
            long = "x" * length
            kept = self.kept("HOIST_A", "HOIST_LONG", "HOIST_Z", HOIST_A="a", HOIST_LONG=long,
                             HOIST_Z="z", HOME=None, XDG_CACHE_HOME=None)
            with self.subTest(length=length):
                self.assertEqual(kept[0], "a")
                self.assertIn(kept[1:], [[long, "z"], [long, "-"], ["-", "z"]])
                self.assertEqual(kept[1], long if length <= 6100 else kept[1])
                self.assertEqual(kept[2], "z" if length <= 6100 or length == 20000 else kept[2])


if __name__ == "__main__":
    unittest.main()
