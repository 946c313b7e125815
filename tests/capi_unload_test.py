#!/usr/bin/env python3
"""libhoist.so stays where it is when it is closed: its threads go on to wait for the next call."""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

from hoist_tree import BUILD

# Loads a model, lets go of everything and closes the library.
PROGRAM = """
import _ctypes, ctypes, sys
library = ctypes.CDLL(sys.argv[1])
file, model = ctypes.c_void_p(), ctypes.c_void_p()
name = sys.argv[2].encode()
assert library.hoist_tensors_open(name, None, ctypes.byref(file)) == 0
assert library.hoist_tensors_load(file, b"cpu", None, ctypes.byref(model)) == 0
library.hoist_tensors_model_free(model)
library.hoist_tensors_close(file)
_ctypes.dlclose(library._handle)
with open("/proc/self/maps") as maps:
    print("libhoist.so" in maps.read())
"""


@unittest.skipIf(os.environ.get("HOIST_SANITIZE"), "a sanitizer must be loaded first")
class Unload(unittest.TestCase):
    def test_after_a_load(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.safetensors"
            header = b'{"x":{"dtype":"U8","shape":[9000000],"data_offsets":[0,9000000]}}'
            path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(9_000_000))
            done = subprocess.run(
                [sys.executable, "-c", PROGRAM, BUILD / "lib/libhoist.so.0", path],
                capture_output=True,
                text=True,
            )
        self.assertEqual((done.returncode, done.stdout), (0, "True\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
