"""Which program an engine shows as, and which one it steps aside for."""
import os
import shutil
import subprocess
import time
import unittest

from verify_case import VerifyCase


class Takeover(VerifyCase):
    def comm_while_reading(self, name, original):
        process = self.start_engine(name, original, *(["-dc"] if name == "gzip" else []),
                                    rate="0", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
        with open("/proc/self/comm") as file:
            early = {file.read().rstrip("\n"), os.path.basename(self.engine(name))[:15]}
        comm = ""
        for _ in range(6000):
            with open(f"/proc/{process.pid}/comm") as file:
                comm = file.read().rstrip("\n")
            if comm not in early:
                break
            time.sleep(0.01)
        process.communicate(timeout=60)
        return comm

    def test_process_is_named_after_the_file_of_the_original(self):
        self.assertEqual(self.comm_while_reading("sort", "/usr/bin/sort"), "sort")
        self.assertEqual(self.comm_while_reading("sort", "/opt/renamed"), "renamed")
        self.assertEqual(self.comm_while_reading("gzip", "/usr/bin/gzip"), "gzip")

    def run_by_hand(self, *path):
        """An engine with no build to stand for, and an option that it leaves to the original."""
        environment = {"PATH": ":".join(path), "LC_ALL": "C", "HOME": self.folder}
        return subprocess.run(["sort", "--debug", self.text], executable=self.engine("sort"),
                              env=environment, capture_output=True, timeout=60)

    def test_wrapper_in_path_is_not_the_original(self):
        self.script("sort", f"exec {self.engine('sort')} \"$@\"")
        result = self.run_by_hand(self.folder, "/usr/bin")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout, subprocess.run(
            ["sort", "--debug", self.text], env={"LC_ALL": "C", "PATH": "/usr/bin"},
            capture_output=True).stdout)
        self.assertEqual(self.run_by_hand(self.folder).returncode, 3)

    def test_link_to_the_engine_is_not_the_original(self):
        os.symlink(self.engine("sort"), os.path.join(self.folder, "sort"))
        self.assertEqual(self.run_by_hand(self.folder, "/usr/bin").returncode, 0)
        self.assertEqual(self.run_by_hand(self.folder).returncode, 3)

    def test_scripts_by_nature_are_originals(self):
        zcat = shutil.which("zcat")
        if not zcat:
            self.skipTest("no zcat")
        result = subprocess.run(["zcat", "--version"], executable=self.engine("gzip"),
                                env={"PATH": os.environ["PATH"]}, capture_output=True, timeout=60)
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"gzip", result.stdout)


if __name__ == "__main__":
    unittest.main()
