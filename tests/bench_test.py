"""The benchmark itself: reproducible inputs, differences noticed, a page that stands alone."""

import hashlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ["HOIST_BUILD_DIR"])
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bench" / "run"))
import load  # noqa: E402
import measure  # noqa: E402
import report  # noqa: E402

# Stands in for `hoist run [--stats=FILE] -- PROGRAM …` and changes what HARM names.
FAKE_HOIST = """#!/bin/sh
shift
case $1 in
  --stats=*)
    echo '{"programs":[{"taken_over":true,"reason":"fake"}]}' >"${1#--stats=}"
    shift ;;
esac
shift
"$@"
status=$?
[ "$HARM" = stdout ] && echo more
[ "$HARM" = stderr ] && echo more >&2
[ "$HARM" = status ] && exit 9
exit $status
"""


class MakeDataTest(unittest.TestCase):
    def make(self, *arguments):
        result = subprocess.run([BUILD / "bench" / "make_data", *arguments], capture_output=True,
                                check=True)
        return result.stdout

    def test_same_bytes_on_every_machine(self):
        for kind, digest in (
                ("text", "560cdb06d136ad5b"),
                ("duplicates", "c5e121d5d457d010"),
                ("numbers", "de31b76d61fcff75"),
                ("csv", "e469a25b98b5a1b9"),
                ("bytes", "8377f2a5b210e649")):
            with self.subTest(kind=kind):
                data = self.make(kind, "1001")
                self.assertEqual(hashlib.sha256(data).hexdigest()[:16], digest)
                self.assertEqual(len(data) if kind == "bytes" else data.count(b"\n"), 1001)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            self.make("files", "20", folder)
            sizes = [path.stat().st_size for path in pathlib.Path(folder).iterdir()]
        self.assertEqual(len(sizes), 20)
        self.assertTrue(all(1 <= size <= 16384 for size in sizes), sizes)

    def test_wrong_usage_and_full_disk(self):
        for arguments in ((), ("text",), ("text", "x"), ("text", "-1"), ("files", "3")):
            result = subprocess.run([BUILD / "bench" / "make_data", *arguments],
                                    capture_output=True, check=False)
            self.assertEqual(result.returncode, 1)
            self.assertTrue(result.stderr)
        with open("/dev/full", "wb") as full:
            result = subprocess.run([BUILD / "bench" / "make_data", "text", "9999"], stdout=full,
                                    stderr=subprocess.PIPE, check=False)
        self.assertEqual(result.returncode, 1)


class RunnerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        hoist = self.folder / "hoist"
        hoist.write_text(FAKE_HOIST)
        hoist.chmod(0o755)
        self.runner = measure.Runner(hoist, self.folder, rounds=2,
                                     timed_run=BUILD / "bench/timed_run")

    def measure(self, **env):
        command = ["sh", "-c", "echo out; echo err >&2; exit 3"]
        return self.runner.measure(measure.Case("case", "a <case>", command, env=env))

    def test_identical(self):
        row = self.measure()
        self.assertTrue(row["identical"])
        self.assertTrue(row["taken_over"])
        self.assertEqual(row["plain"]["status"], 3)
        self.assertEqual(len(row["hoist"]["seconds"]), 2)
        json.dumps(row)

    def test_every_difference_counts(self):
        for harm in ("stdout", "stderr", "status"):
            with self.subTest(harm=harm):
                self.assertFalse(self.measure(HARM=harm)["identical"])

    def test_page_stands_alone(self):
        facts = report.machine(self.folder / "absent")
        page = report.html_page("Title", "Intro", facts, [self.measure()], ["a note"])
        xml.etree.ElementTree.fromstring(page)
        self.assertIn("a &lt;case&gt;", page)
        self.assertIn("a note", page)
        for outside in ("http:", "https:", "src=", "href=", "@import", "url("):
            self.assertNotIn(outside, page)
        self.assertIn("a <case>", report.terminal_table([self.measure()]))


    def test_memory_is_the_programs_own(self):
        """Not that of this interpreter, which has some more than cat, and 50 MiB more now."""
        held = bytearray(50 << 20)
        sample = self.runner.once(measure.Case("cat", "cat", ["cat"]), ["cat"], "plain")
        self.assertGreater(len(held), 0)
        self.assertLess(sample.max_rss_kib, 8 << 10)
        self.assertGreater(sample.max_rss_kib, 100)

    def test_a_command_is_shown_as_a_shell_has_it(self):
        self.assertEqual(measure.shorten(["/usr/bin/sort", "-t,", "a b"]), "sort -t, 'a b'")
        self.assertEqual(measure.shorten(["sha256sum", *["/usr/lib/a-library"] * 500]),
                         "sha256sum a-library a-library a-library … (497 more)")
        self.assertEqual(len(measure.shorten(["sh", "-c", "x" * 500])), 100)

    def test_a_missing_program_is_named(self):
        with self.assertRaisesRegex(OSError, "no-such-program: No such file"):
            self.runner.once(measure.Case("x", "x", []), ["no-such-program"], "plain")

    def rounds_of(self, times):
        """How often a program is measured that says itself that it took these times, in turn."""
        seconds, count = self.folder / "seconds", self.folder / "count"
        count.unlink(missing_ok=True)
        script = (f"n=$(cat {count} 2>/dev/null || echo 0); echo $((n + 1)) >{count}; "
                  f"set -- {' '.join(times)}; shift $((n % $#)); echo $1 >{seconds}")
        row = self.runner.measure(measure.Case("case", "title", ["sh", "-c", script],
                                               seconds_file=seconds))
        return row["plain"]

    def test_what_scatters_is_measured_again_but_not_for_ever(self):
        self.runner.most_rounds = 5
        self.assertEqual(len(self.rounds_of(["1.0"])["seconds"]), 2)
        # The run that explains comes first; then plain and hoist take turns.
        self.assertEqual(len(self.rounds_of(["1.0", "1.0", "1.0", "3.0"])["seconds"]), 5)


def recorded(before, after, **changes):
    """A row as Runner.measure() gives it, with these times."""
    def timed(seconds):
        return {"seconds": seconds, "median": statistics.median(seconds), "best": min(seconds),
                "cpu_seconds": seconds, "max_rss_kib": 3000, "status": 0}
    plain, hoist = timed(before), timed(after)
    return {"name": "row", "title": "a row", "command": "sort text", "input_bytes": 1 << 20,
            "input": "of text", "goal": None, "taken_over": True, "reason": "placement: cpu-all",
            "plain": plain, "hoist": hoist, "identical": True, "peers": [],
            "ratio": plain["median"] / hoist["median"]} | changes


class ReportTest(unittest.TestCase):
    FACTS = dict.fromkeys(("cpu", "cores", "memory_gib", "system", "kernel", "coreutils", "gzip",
                           "hoist", "load", "date"), "x")

    def page(self, *rows, during=None):
        """The page's articles; it is well-formed."""
        text = report.html_page("Title", "Intro.", self.FACTS, rows, during=during)
        root = xml.etree.ElementTree.fromstring(text)
        return text, [(article.get("class"), "".join(article.itertext()),
                       [i.get("class") for i in article.iter("i")], article)
                      for article in root.iter("article")]

    def test_green_is_only_what_is_faster(self):
        rows = {"faster": recorded([2.0, 2.1, 2.0], [1.0, 1.0, 1.0]),
                "slower": recorded([1.0, 1.0, 1.0], [2.0, 2.0, 2.0]),
                "alike": recorded([1.0, 1.0, 1.0], [0.99, 0.98, 0.99]),
                "kept": recorded([3.0, 3.0, 3.0], [1.0, 1.0, 1.0], taken_over=False,
                                 reason="no engine replaces it"),
                "different": recorded([3.0, 3.0, 3.0], [1.0, 1.0, 1.0], identical=False)}
        _, articles = self.page(*rows.values())
        for (name, _), (shown, text, bars, _) in zip(rows.items(), articles):
            with self.subTest(name):
                self.assertEqual(shown, name)
                self.assertEqual(bars, ["plain", "faster" if name == "faster" else "after"])
        self.assertIn("2.00x as fast", articles[0][1])
        self.assertIn("slower: 0.50x", articles[1][1])
        self.assertIn("the original ran: no engine replaces it", articles[3][1])
        self.assertIn("THE OUTPUT DIFFERS", articles[4][1])

    def test_a_gain_within_the_scatter_is_none(self):
        row = recorded([1.0, 1.5, 2.0, 1.0, 1.6], [0.9, 1.4, 1.9, 1.0, 1.2])
        self.assertGreater(row["ratio"], 1.05)
        _, ((shown, text, bars, _),) = self.page(row)
        self.assertEqual(shown, "alike")
        self.assertIn("5 runs: 1.00 s to 2.00 s", text)
        self.assertEqual(bars, ["plain", "range", "after", "range"])

    def test_bars_have_one_scale(self):
        _, articles = self.page(recorded([4.0] * 3, [2.0] * 3), recorded([1.0] * 3, [0.5] * 3))
        widths = [i.get("style") for article in articles for i in article[3].iter("i")]
        self.assertEqual(widths, [f"width:{share}%" for share in ("100.00", "50.00", "25.00", "12.50")])

    def test_names_are_escaped(self):
        row = recorded([2.0] * 3, [1.0] * 3, title="<b>", command="sort '<script>'", input="of \"&\"",
                       reason="a < b", environment="LC_ALL=<x>")
        text, ((_, shown, _, _),) = self.page(row)
        self.assertNotIn("<script>", text)
        for words in ("<b>", "LC_ALL=<x> hoist run -- sort '<script>'", 'of "&"', "a < b"):
            self.assertIn(words, shown)

    def test_goals_are_shown_where_there_are_any(self):
        without = recorded([2.0] * 3, [1.0] * 3)
        self.assertNotIn("goal", report.terminal_table([without]) + self.page(without)[1][0][1])
        with_goal = recorded([2.0] * 3, [1.0] * 3, goal=2.5)
        self.assertIn("goal", report.terminal_table([with_goal]))
        self.assertIn("goal 2.5x", self.page(with_goal)[1][0][1])

    def test_the_summary_counts(self):
        rows = [recorded([2.0] * 3, [1.0] * 3), recorded([8.0] * 3, [1.0] * 3),
                recorded([1.0] * 3, [1.0] * 3, taken_over=False)]
        self.assertEqual(report.summary_sentence(rows),
                         "2 of 3 command lines ran faster, 2.0x to 8.0x as fast; 1 ran on the original.")

    def test_load(self):
        stat = ("cpu  900 20 30 1000 50 4 6 10 7 0\ncpu0 100 20 30 1000 50 4 6 10 7 0\n"
                "cpu1 0 0 0 90 0 0 0 0 0 0\ncpu12 800 0 0 0 0 0 0 0 0 0\nintr 5\n")
        # Others' CPUs do not count.
        self.assertAlmostEqual(load.busy_seconds(stat, {0, 1}), 170 / os.sysconf("SC_CLK_TCK"))
        found = load.between((0.0, 2, 10.0, 1.0), (10.0, 2, 25.0, 13.0))
        self.assertEqual(found, {"seconds": 10.0, "cpus": 2, "others": 0.3})
        self.assertIn("other programs used 0.30 of 2 CPUs", load.sentence(found))
        self.assertIn("otherwise idle", load.sentence(found | {"others": 0.05}))
        self.assertIn("was busy", load.sentence(found | {"others": 1.5}))
        self.assertIn("0.30 of", self.page(during=found)[0])
        self.assertIn("not known", load.sentence(None))

    def quota(self, own, files):
        """What load.cpu_quota() finds in control groups of these files."""
        with tempfile.TemporaryDirectory() as folder:
            for path, text in (files | {"own": own}).items():
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            return load.cpu_quota(pathlib.Path(folder, "own"), folder)

    def test_the_quota_of_control_groups(self):
        self.assertIsNone(load.cpu_quota("/nonexistent"))
        self.assertIsNone(self.quota("0::/\n", {"cpu.max": "max 100000\n"}))
        self.assertEqual(self.quota("0::/a/b\n", {"a/b/cpu.max": "max 100000\n",
                                                  "a/cpu.max": "150000 100000\n",
                                                  "cpu.max": "400000 100000\n"}), 1.5)
        old = "2:cpu,cpuacct:/x\n3:memory:/y\n"
        self.assertEqual(self.quota(old, {"cpu/x/cpu.cfs_quota_us": "50000\n",
                                          "cpu/x/cpu.cfs_period_us": "100000\n"}), 0.5)
        self.assertIsNone(self.quota(old, {"cpu/x/cpu.cfs_quota_us": "-1\n",
                                           "cpu/x/cpu.cfs_period_us": "100000\n"}))


class RunBenchTest(unittest.TestCase):
    def test_all_rows_on_tiny_inputs(self):
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder, "result")
            result = subprocess.run(
                [sys.executable, ROOT / "bench" / "run" / "run_bench.py", "--build-dir", BUILD,
                 "--scale", "0.0005", "--rounds", "1", "--starts", "2", "--dir", folder,
                 "--output", output],
                capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            rows = json.loads(output.with_suffix(".json").read_text())["rows"]
            self.assertGreaterEqual(len(rows), 14)
            self.assertTrue(all(row["identical"] for row in rows))
            self.assertIn("<article", output.with_suffix(".html").read_text())


if __name__ == "__main__":
    unittest.main()
