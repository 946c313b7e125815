"""`hoist bench`: what it lists, what its table and its JSON hold, and how it refuses. Timings are
not looked at."""

import errno
import json
import os
import pathlib
import subprocess
import unittest

BUILD = pathlib.Path(os.environ.get("HOIST_BUILD_DIR", "build/release")).resolve()
BENCH = BUILD / "libexec/hoist/hoist-bench"


def bench(*arguments):
    return subprocess.run([BENCH, *arguments], capture_output=True, text=True, check=False)


def read_to_end(terminal):
    """What was written to the other end, which is closed: the kernel hands it over bit by bit."""
    parts = []
    try:
        while part := os.read(terminal, 65536):
            parts.append(part)
    except OSError as error:
        if error.errno != errno.EIO:
            raise
    os.close(terminal)
    return b"".join(parts).decode()


class BenchCommand(unittest.TestCase):
    def test_every_area_can_be_chosen(self):
        names = bench("--list").stdout.split("\n")[:-1]
        areas = sorted({name.split("/")[0] for name in names})
        self.assertIn("codec", areas)
        for area in areas:
            chosen = bench(area, "--list").stdout.split("\n")[:-1]
            self.assertTrue(set(chosen) >= {n for n in names if n.startswith(area + "/")}, area)

    def test_list_is_limited_to_areas_and_filter(self):
        names = bench("--list").stdout.split("\n")[:-1]
        self.assertIn("codec/parity/encode/10+4x32KiB", names)
        self.assertEqual(len(names), len(set(names)))
        codec = bench("codec", "--list").stdout.split("\n")[:-1]
        self.assertEqual(codec, [name for name in names if name.startswith("codec/")])
        one = bench("codec", "--list", "--filter", r"split_bytes2/cache$").stdout
        self.assertEqual(one, "codec/planes/split_bytes2/cache\ncodec/planes/peer:memcpy/cache\n")

    def test_tunings_of_transfers_are_compared(self):
        def compare(*words):
            return subprocess.run([BUILD / "bench/compare_tunings", *words], capture_output=True,
                                  text=True, check=False)

        result = compare("cpu", "0", "", "threads=2 piece=64")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = [line.split("|") for line in result.stdout.splitlines()[2:]]
        self.assertEqual([(row[1].strip(), row[3].strip()) for row in rows],
                         [(path, tuning) for path in ("up", "down", "file", "both")
                          for tuning in ("as it is", "threads=2 piece=64")])
        for row in rows:
            self.assertTrue(float(row[4]) >= float(row[5]) >= float(row[6]) > 0)
        self.assertIn("examples:", compare("--help").stdout)
        for words in ([], ["cpu", "x", ""], ["cpu", "1", "threads=0"]):
            self.assertEqual(compare(*words).returncode, 2)

    def test_table_shows_the_peer(self):
        result = bench("codec", "--quick", "--filter", "split_bytes2/cache$")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")  # no progress: it is no terminal
        lines = result.stdout.split("\n")
        self.assertEqual(lines[0].split(), ["benchmark", "GB/s", "time", "times", "as", "fast"])
        self.assertRegex(
            lines[1], r"^codec/planes/split_bytes2/cache +[\d.]+ +[\d.]+ [mun]s  [\d.]+ memcpy$"
        )
        self.assertRegex(lines[2], r"^codec/planes/peer:memcpy/cache +[\d.]+ +[\d.]+ [mun]s *$")

    def test_json_is_one_document(self):
        result = bench("codec", "--quick", "--json", "--filter", "split_bytes2/cache$")
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual(report["context"]["executable"], "hoist bench")
        self.assertIn("num_cpus", report["context"])
        self.assertIn("hoist_version", report["context"])
        self.assertEqual(
            [entry["name"] for entry in report["benchmarks"]],
            ["codec/planes/split_bytes2/cache", "codec/planes/peer:memcpy/cache"],
        )
        for entry in report["benchmarks"]:
            self.assertGreater(entry["bytes_per_second"], 0)

    def test_progress_where_there_is_a_terminal(self):
        terminal, end = os.openpty()
        arguments = ["--quick", "--filter", "split_bytes[24]/cache$"]
        result = subprocess.run(
            [BENCH, *arguments], stdout=subprocess.PIPE, stderr=end, check=False
        )
        os.close(end)
        progress = read_to_end(terminal)
        self.assertEqual(result.returncode, 0)
        self.assertIn("\r\033[K[1/3] codec/planes/split_bytes2/cache\r", progress)
        self.assertRegex(progress, r"\[3/3\] codec/planes/peer:memcpy/cache, \d+ s left\r\033\[K$")

    def test_full_output_is_a_failure(self):
        for arguments in (
            ["--list"],
            ["--help"],
            ["--quick", "--filter", "split_bytes2/cache$"],
            ["--quick", "--json", "--filter", "split_bytes2/cache$"],
        ):
            with open("/dev/full", "wb") as full:
                result = subprocess.run(
                    [BENCH, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
                )
            self.assertEqual(result.returncode, 1, arguments)
            self.assertRegex(result.stderr, r"^hoist: error: cannot write .*\n$", arguments)

    def test_wrong_use(self):
        for arguments, where in (
            (["kitchen"], r"kitchen\): there are aes"),
            (["--filter", "nothing is called this"], r"hoist bench\): "),
            (["--filter", "("], r"--filter\): "),
            (["--unknown"], r"hoist(-| )bench\): see "),
        ):
            result = bench(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertEqual(result.stdout, "")
            self.assertRegex(result.stderr, r"^hoist: error: .*\(.*" + where)
        self.assertEqual(bench("--help").returncode, 0)
        self.assertIn("Examples:", bench("--help").stdout)


if __name__ == "__main__":
    unittest.main()
