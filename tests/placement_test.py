"""`hoist tune` and `hoist explain` as a user meets them: measured for real on tiny inputs, in a cache
directory of the test's own."""

import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

import svg_checks
from hoist_tree import BUILD, environment, run, tried_until

TUNE = BUILD / "libexec/hoist/hoist-tune"
EXPLAIN = BUILD / "libexec/hoist/hoist-explain"
HOISTD = BUILD / "bin/hoistd"
VARIANT = "hash/sha256sum"
ON_GPU = "sort/C"  # which a GPU may do as well
REGRET = pathlib.Path(__file__).resolve().parent.parent / "bench/placement/regret.py"


class PlacementTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="hoist-placement-")
        self.addCleanup(directory.cleanup)
        self.path = pathlib.Path(directory.name)
        self.cache = self.path / "hoist"
        (self.path / "tmp").mkdir()
        self.env = environment(XDG_CACHE_HOME=str(self.path), TMPDIR=str(self.path / "tmp"))

    def tool(self, program, *words, status=0, **changes):
        done = run(program, *words, env=dict(self.env, **changes))
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return done

    def tune(self, *words, **options):
        """--force: the machine that runs the tests may be busy."""
        return self.tool(TUNE, "--quick", "--seconds", "1", "--force", *words, **options)

    def explain(self, *words, **options):
        return json.loads(self.tool(EXPLAIN, "--json", *words, **options).stdout)

    def test_without_a_profile_the_compiled_in_defaults_decide(self):
        report = self.explain("sort/C", "64K", "1M")
        self.assertFalse(report["profile"])
        self.assertIn("hoist tune", report["why"])
        variant = report["variants"][0]
        self.assertFalse(variant["measured"])
        self.assertEqual(variant["choices"][0], {"from": 0, "implementation": "original"})
        self.assertEqual(variant["choices"][1]["from"], 512 << 10)
        self.assertEqual([size["choice"] == "original" for size in variant["sizes"]], [True, False])
        self.assertFalse(self.cache.exists())

    def test_tune_writes_what_explain_and_the_decisions_say(self):
        tuned = json.loads(self.tune("--op", VARIANT, "--json").stdout)
        self.assertEqual(tuned["skipped"], [])
        self.assertEqual([variant["name"] for variant in tuned["variants"]], [VARIANT])
        profile = json.loads((self.cache / "profile.json").read_text())
        measured = {one["name"] for one in profile["variants"][0]["implementations"]}
        self.assertLessEqual({"original", "cpu-1"}, measured)
        self.assertEqual(self.cache.stat().st_mode & 0o777, 0o700)
        self.assertEqual((self.cache / "profile.json").stat().st_mode & 0o777, 0o600)

        lines = (self.cache / "decisions").read_text().splitlines()
        self.assertRegex(lines[0], "^hoist-decisions 1 [0-9a-f]{16}$")
        rows = tuned["variants"][0]["rows"]
        expected, before = [], None
        for row in rows:
            words = " ".join(f"{one['from']} {one['implementation']}" for one in row["intervals"])
            if words != before:  # else the row for fewer CPUs says it
                expected.append(f"{VARIANT} cpus={row['cpus']} {words}")
            before = words
        self.assertEqual(lines[1:], expected)

        report = self.explain(VARIANT, "0", "100K", "4M")
        self.assertTrue(report["profile"])
        self.assertEqual(report["machine"], {name: profile["machine"][name]
                                             for name in ("cpu", "gpu", "driver")})
        self.assertTrue(report["variants"][0]["measured"])
        for size in report["variants"][0]["sizes"]:
            self.assertTrue(size["reason"])
            self.assertIn(size["choice"], size["seconds"])
        self.assertEqual(list((self.path / "tmp").iterdir()), [])

    def write_profile(self, seconds, intervals, noise=0.0, factor=1, variant=VARIANT):
        """A profile of this machine with other times: seconds is {implementation: {size: time}}. No
        interval: nothing is decided."""
        if not (self.cache / "profile.json").exists():
            self.tune("--op", variant)
        file = self.cache / "profile.json"
        profile = json.loads(file.read_text())
        measured = profile["variants"][0]
        measured["implementations"] = [
            {
                "name": name,
                "points": [
                    {"bytes": size, "factor": factor, "items": 1, "noise": noise, "runs": 4,
                     "seconds": time}
                    for size, time in times.items()
                ],
            }
            for name, times in seconds.items()
        ]
        for row in measured["rows"]:
            row["intervals"] = [{"from": size, "implementation": name} for size, name in intervals]
        file.write_text(json.dumps(profile))
        return file

    def test_explain_tells_too_little_from_not_measured(self):
        self.write_profile({"original": {64 << 10: 0.001, 1 << 20: 0.01},
                            "cpu-1": {64 << 10: 0.0098, 1 << 20: 0.00995}}, [(0, "original")])
        sizes = self.explain(VARIANT, "64K", "1M", "1G")["variants"][0]["sizes"]
        self.assertIn("as fast as cpu-1", sizes[0]["reason"])
        self.assertRegex(sizes[1]["reason"], r"cpu-1 would gain 0\.5 %, too little for a change")
        self.assertRegex(sizes[2]["reason"], r"cpu-1 may gain .* nothing so large was measured")

    def test_explain_compares_with_the_original(self):
        file = self.write_profile({"original": {1 << 20: 0.02}, "cpu-1": {1 << 20: 0.01},
                                   "cpu-all": {1 << 20: 0.005}}, [(0, "cpu-all")])
        # As many CPUs as were measured: times are told as they stand. With one there is no cpu-all.
        profile = json.loads(file.read_text())
        cpus = max(2, profile["machine"]["cpus"])
        profile["machine"]["cpus"] = profile["variants"][0]["rows"][-1]["cpus"] = cpus
        file.write_text(json.dumps(profile))
        sizes = self.explain(VARIANT, "1M", "--cpus", str(cpus))["variants"][0]["sizes"]
        self.assertEqual(sizes[0]["choice"], "cpu-all")
        self.assertEqual(sizes[0]["reason"], "4.00x as fast as the original, 2.00x as fast as "
                                             f"cpu-1 with {cpus} CPUs")
        self.write_profile({"original": {1 << 20: 0.02}, "cpu-1": {1 << 20: 0.01}}, [(0, "cpu-1")])
        sizes = self.explain(VARIANT, "1M")["variants"][0]["sizes"]
        self.assertRegex(sizes[0]["reason"], r"^2\.00x as fast as the original with \d+ CPUs?$")

    def test_tune_replaces_no_device_by_a_file(self):
        pipe = self.path / "pipe"
        os.mkfifo(pipe)
        done = run(TUNE, "--quick", "--seconds", "1", "--op", VARIANT,
                   env=dict(self.env, HOIST_PROFILE=str(pipe)))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"no regular file", done.stderr)
        self.assertTrue(pipe.is_fifo())

    def test_explain_says_that_the_machine_was_busy(self):
        self.write_profile({"original": {64 << 10: 0.001, 1 << 20: 0.01},
                            "cpu-1": {64 << 10: 0.002, 1 << 20: 0.008}}, [(0, "original")], noise=0.2)
        variant = self.explain(VARIANT, "1M")["variants"][0]
        self.assertAlmostEqual(variant["uncertainty"], 0.1)
        # Twice the standard error of the two.
        self.assertRegex(variant["sizes"][0]["reason"],
                         r"cpu-1 may gain 25\.0 %, but the times are uncertain \(±28\.3 %\)")
        text = self.tool(EXPLAIN, VARIANT, "1M").stdout.decode()
        self.assertIn("(measured on a busy machine, ±10 %)", text)

    def test_explain_shows_what_was_measured_and_what_choices_cost(self):
        operation = VARIANT.partition("/")[0]
        self.write_profile(
            {"original": {64 << 10: 0.001, 1 << 20: 0.0104}, "cpu-1": {1 << 20: 0.01, 4 << 20: 0.03}},
            [(0, "original"), (2 << 20, "cpu-1"), (3 << 20, "original")], noise=0.02)
        table = self.explain(VARIANT, "--measured")["variants"][0]
        self.assertEqual([size["bytes"] for size in table["sizes"]], [64 << 10, 1 << 20, 4 << 20])
        self.assertEqual([size["choice"] for size in table["sizes"]], ["original"] * 3)
        self.assertEqual(table["sizes"][1]["seconds"], {"original": 0.0104, "cpu-1": 0.01})
        self.assertEqual(table["sizes"][0]["behind"], 0)
        self.assertAlmostEqual(table["sizes"][1]["behind"], 0.04)
        # The standard error of either time is 0.02 / sqrt(4), that of their quotient:
        self.assertAlmostEqual(table["sizes"][1]["uncertainty"], 1.04 * 0.01 * 2**0.5)
        self.assertIsNone(table["sizes"][2]["behind"])  # the choice was not measured there
        text = self.tool(EXPLAIN, VARIANT, "--measured").stdout.decode()
        self.assertRegex(text, r"1 MiB +\*10\.4 ms +10 ms  4\.0 ± 1\.5 %")
        self.assertRegex(text, r"4 MiB +\*- +30 ms  -\n")
        others = self.explain(operation, "--measured")["variants"]
        self.assertEqual([bool(one["sizes"]) for one in others],
                         [one["name"] == VARIANT for one in others])
        for words in (("64K",), ("--cpus", "1")):
            done = self.tool(EXPLAIN, VARIANT, "--measured", *words, status=2)
            self.assertIn(b"excludes", done.stderr)

    def test_explain_shows_refined_times_of_what_can_be_chosen(self):
        self.write_profile({"original": {1 << 20: 0.01}, "cpu-1": {1 << 20: 0.02},
                            "of-another-version": {1 << 20: 0.001}}, [(0, "original")])
        table = self.explain(VARIANT, "--measured")["variants"][0]
        self.assertEqual(table["sizes"][0]["seconds"], {"original": 0.01, "cpu-1": 0.02})
        self.assertEqual(table["sizes"][0]["behind"], 0)
        self.assertTrue(table["measured"])
        self.assertFalse(table["refined"])
        self.write_profile({"original": {1 << 20: 0.01}}, [(0, "original")], factor=1.25)
        table = self.explain(VARIANT, "--measured")["variants"][0]
        self.assertEqual(table["sizes"][0]["seconds"], {"original": 0.0125})
        self.assertTrue(table["refined"])
        text = self.tool(EXPLAIN, VARIANT, "--measured").stdout.decode()
        self.assertIn("refined by real runs", text)
        self.assertIn("*12.5 ms", text)

    def with_hoistd(self):
        """A profile in which a hoistd's GPU is ahead from 1 MiB on, and no other."""
        file = self.write_profile(
            {"original": {1 << 10: 0.001, 1 << 20: 0.01}, "cpu-1": {1 << 10: 0.002, 1 << 20: 0.009},
             "cuda": {1 << 10: 0.2, 1 << 20: 0.3}, "hoistd": {1 << 10: 0.02, 1 << 20: 0.006}},
            [(0, "original"), (1 << 19, "cpu-1")], variant=ON_GPU)
        profile = json.loads(file.read_text())
        profile["variants"][0]["rows_with_hoistd"] = [{"cpus": 1, "intervals": [
            {"from": 0, "implementation": "original"}, {"from": 1 << 20, "implementation": "hoistd"}]}]
        file.write_text(json.dumps(profile))
        return file

    def hoistd(self):
        """One that answers, lending a CPU; what clients need to find it."""
        path = self.path / "hoistd.sock"
        daemon = subprocess.Popen([HOISTD, "--device", "cpu", "--socket", path], env=self.env,
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        for _ in range(1200):
            if run(HOISTD, "--status", "--socket", path).returncode == 0:
                return daemon, {"HOIST_SOCKET": str(path)}
            time.sleep(0.05)
        return self.fail("hoistd does not answer")

    def explain_on_gpu(self, with_hoistd, *words, **changes):
        """Its only variant, where a hoistd answers soon enough, or is not to."""
        return tried_until(lambda report: report["hoistd"] == with_hoistd,
                           lambda: self.explain(ON_GPU, *words, **changes)["variants"][0])

    def test_a_hoistd_that_answers_changes_choices(self):
        self.with_hoistd()
        daemon, variables = self.hoistd()
        for found, choices in ((variables, ["original", "hoistd"]), ({}, ["original", "cpu-1"])):
            report = self.explain_on_gpu(bool(found), "--cpus", "4", "1K", "1M", **found)
            self.assertEqual([size["choice"] for size in report["sizes"]], choices)
            self.assertEqual("hoistd" in report["sizes"][0]["seconds"], report["hoistd"])
            self.assertEqual(report["choices"][-1]["implementation"], "cpu-1")
            self.assertEqual(report["choices_with_hoistd"][-1],
                             {"from": 1 << 20, "implementation": "hoistd"})
            table = self.explain_on_gpu(bool(found), "--measured", **found)
            self.assertEqual([size["choice"] for size in table["sizes"]], choices)
            self.assertEqual([size["behind"] for size in table["sizes"]], [0, 0])
        for word, found in (("one does", variables), ("none does", {})):
            line = f"  while a hoistd answers ({word}): original, hoistd from 1 MiB\n"
            self.assertIn(line, tried_until(
                lambda text, line=line: line in text,
                lambda found=found: self.tool(EXPLAIN, ON_GPU, "--cpus", "4",
                                              **found).stdout.decode()))
        for where in ("off", "inprocess"):
            report = self.explain(ON_GPU, "1M", **variables, HOIST_GPU=where)["variants"][0]
            self.assertFalse(report["hoistd"])
        for number in (signal.SIGSTOP, signal.SIGKILL):  # its socket stays
            daemon.send_signal(number)
            report = self.explain(ON_GPU, "--cpus", "4", "1M", **variables)["variants"][0]
            self.assertFalse(report["hoistd"])
            self.assertEqual(report["sizes"][0]["choice"], "cpu-1")
        picture = self.path / "plot.svg"
        self.tool(EXPLAIN, ON_GPU, "--cpus", "4", "--plot", picture)
        self.assertIn("hoistd from 1 MiB", picture.read_text())

    def test_choices_are_judged_with_and_without_a_hoistd(self):
        profile = self.with_hoistd()
        text = self.tool(sys.executable, REGRET, profile, profile).stdout.decode()
        alone, lent = text.split(f"| {ON_GPU}, a hoistd answers |")
        self.assertIn("| 1 MiB | 10 | **9** | 300 | 0 |", alone)
        self.assertIn("| 1 MiB | 10 | 9 | 300 | **6** | 0 |", lent)

    def test_choices_are_judged_by_times_of_another_profile(self):
        decided = self.path / "decided.json"
        self.write_profile({"original": {1 << 20: 0.01}, "cpu-1": {1 << 20: 0.008}},
                           [(0, "original"), (1 << 20, "cpu-1")]).rename(decided)
        measured = self.write_profile(
            {"original": {1 << 10: 0.001, 1 << 20: 0.01}, "cpu-1": {1 << 10: 0.002, 1 << 20: 0.011}},
            [(0, "original")], noise=0.02)
        done = self.tool(sys.executable, REGRET, decided, measured)
        self.assertIn("| 1 KiB | **1** | 2 | 0 |", done.stdout.decode())
        self.assertIn("| 1 MiB | 10 | **11** | 10.0 ± 1.6 |", done.stdout.decode())
        self.assertIn("at most 10.0 % (1 MiB) behind; beyond two standard errors 6.9 % (1 MiB)",
                      done.stdout.decode())
        decided.write_text(measured.read_text().replace('"rows":', '"rows": [], "others":'))
        done = self.tool(sys.executable, REGRET, decided, measured, status=1)
        self.assertIn(b"no operation in common", done.stderr)
        decided.write_text("{}")
        done = self.tool(sys.executable, REGRET, decided, measured, status=1)
        self.assertIn(b"no profile of `hoist tune`", done.stderr)

    def test_one_cpu_never_chooses_all(self):
        self.tune("--op", VARIANT)
        for sizes in (["1G"], ["64K", "1M"]):
            for env in ({"HOIST_THREADS": "1"}, {}):
                words = [EXPLAIN, "--json", VARIANT, *sizes]
                command = words if env else ["taskset", "-c", str(min(os.sched_getaffinity(0))),
                                             *words]
                done = run(*command, env=dict(self.env, **env))
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                variant = json.loads(done.stdout)["variants"][0]
                self.assertEqual(variant["cpus"], 1)
                for choice in variant["choices"]:
                    self.assertNotEqual(choice["implementation"], "cpu-all")

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one CPU")
    def test_fewer_cpus_do_not_replace_a_profile_of_more(self):
        self.tune("--op", VARIANT)
        before = (self.cache / "profile.json").read_bytes()
        if json.loads(before)["machine"]["cpus"] < 2:
            self.skipTest("one CPU by quota")
        done = self.tune("--op", VARIANT, status=3, HOIST_THREADS="1")
        self.assertIn(b"HOIST_PROFILE", done.stderr)
        self.assertEqual((self.cache / "profile.json").read_bytes(), before)
        narrow = {"HOIST_THREADS": "1", "HOIST_PROFILE": str(self.path / "narrow.json")}
        self.tune("--op", VARIANT, **narrow)
        # With more CPUs than were measured it holds still, and says so.
        report = self.explain(VARIANT, HOIST_PROFILE=narrow["HOIST_PROFILE"])
        self.assertTrue(report["profile"])
        self.assertIn("with 1 of the", report["why"])
        self.tune("--op", VARIANT, HOIST_PROFILE=narrow["HOIST_PROFILE"])

    def test_another_operation_is_kept_beside(self):
        self.tune("--op", VARIANT)
        self.tune("--op", "hash/cksum")
        profile = json.loads((self.cache / "profile.json").read_text())
        self.assertEqual({one["name"] for one in profile["variants"]}, {VARIANT, "hash/cksum"})

    def test_what_is_extrapolated_is_marked(self):
        self.tune("--op", VARIANT)
        sizes = self.explain(VARIANT, "1M", "900G")["variants"][0]["sizes"]
        self.assertEqual([size["extrapolated"] for size in sizes], [False, True])
        said = self.tool(EXPLAIN, VARIANT, "1M", "900G").stdout.decode()
        marked = [line for line in said.splitlines() if " ~" in line]
        self.assertEqual(len(marked), 2, said)
        self.assertIn("900 GiB", marked[0])
        self.assertRegex(marked[1], "^  ~ extrapolated: ")
        self.assertNotIn("~", self.tool(EXPLAIN, VARIANT, "1M").stdout.decode())

    def test_the_bar_moves_within_a_variant(self):
        ours, theirs = pty.openpty()
        with open(ours, "rb", buffering=0) as shown:
            subprocess.run([TUNE, "--quick", "--seconds", "2", "--force", "--op", VARIANT],
                           env=self.env, stdout=subprocess.DEVNULL, stderr=theirs, check=True)
            os.close(theirs)
            text = os.read(shown.fileno(), 1 << 16)
        shares = [int(share) for share in re.findall(rb"(\d+) %", text)]
        self.assertEqual(shares, sorted(shares))
        self.assertGreater(shares[-1], 5, shares)

    def test_plot_is_a_picture(self):
        plot = self.path / "plot.svg"
        self.tool(EXPLAIN, VARIANT, "--plot", plot, status=1)
        self.tune("--op", VARIANT)
        self.tool(EXPLAIN, VARIANT, "--plot", plot)
        root = xml.etree.ElementTree.parse(plot).getroot()
        self.assertTrue(root.tag.endswith("svg"))
        self.assertEqual(len(root.findall("{*}svg")), 1)
        self.assertGreaterEqual(len(root.findall("{*}svg/{*}path")), 2)
        self.tune("--op", "hash/cksum")  # of an operation all measured variants
        self.tool(EXPLAIN, "hash", "--plot", plot, "--force")
        self.assertEqual(len(xml.etree.ElementTree.parse(plot).getroot().findall("{*}svg")), 2)
        self.tool(EXPLAIN, "sort", "--plot", plot, status=1)

    def test_plot_says_what_it_shows(self):
        """Four implementations' legend takes several lines; what was not measured is dashed."""
        self.with_hoistd()
        plot = self.path / "plot.svg"
        self.tool(EXPLAIN, ON_GPU, "--cpus", "1", "--plot", plot)
        svg = plot.read_text()
        self.assertEqual(svg_checks.faults(svg), [])
        for words in ("original", "cpu-1", "cuda", "hoistd", "measured", "the choice changes",
                      "input size (KiB, MiB, GiB)", "time (s, ms, µs)"):
            self.assertIn(f">{words}</text>", svg)
        self.assertNotIn("extrapolated: ", svg)
        self.write_profile({"original": {1 << 10: 0.001, 1 << 20: 0.01},
                            "cpu-1": {1 << 10: 0.002, 1 << 24: 0.1}}, [(0, "original")])
        self.tool(EXPLAIN, ON_GPU, "--cpus", "1", "--plot", plot, "--force")
        svg = plot.read_text()
        self.assertEqual(svg_checks.faults(svg), [])
        self.assertIn(">extrapolated: this size was not measured</text>", svg)
        # The original beyond 1 MiB, but not the engine, which was measured to 16 MiB.
        self.assertIn('class="c0 curve extrapolated"', svg)
        self.assertNotIn('class="c1 curve extrapolated"', svg)

    def test_profile_of_another_machine_or_owner_or_garbage_is_ignored(self):
        self.tune("--op", VARIANT)
        file = self.cache / "profile.json"
        text = file.read_text()
        for damage in (text.replace('"cpu": "', '"cpu": "other '), text[:100], "", "[" * 10000):
            file.write_text(damage)
            self.assertFalse(self.explain(VARIANT)["profile"])
        file.write_text(text)
        self.assertTrue(self.explain(VARIANT)["profile"])
        file.chmod(0o666)
        self.assertFalse(self.explain(VARIANT)["profile"])

    def test_hoist_profile_names_the_file(self):
        mine = self.path / "mine.json"
        self.tune("--op", VARIANT, HOIST_PROFILE=str(mine))
        self.assertTrue(mine.exists())
        self.assertTrue(pathlib.Path(f"{mine}.decisions").exists())
        self.assertFalse(self.cache.exists())
        self.assertTrue(self.explain(VARIANT, HOIST_PROFILE=str(mine))["profile"])
        self.assertFalse(self.explain(VARIANT)["profile"])

    def test_interrupt_leaves_the_old_profile_and_no_files(self):
        self.tune("--op", VARIANT)
        before = (self.cache / "profile.json").read_bytes()
        with subprocess.Popen([TUNE, "--op", "sort"], env=self.env, stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL) as tuning:
            while not list((self.path / "tmp").glob("*/input-0")) and tuning.poll() is None:
                time.sleep(0.01)
            tuning.send_signal(signal.SIGINT)
            errors = tuning.communicate(timeout=60)[1].decode()
            self.assertEqual(tuning.returncode, 1, errors)
        self.assertIn("interrupt", errors)
        self.assertEqual((self.cache / "profile.json").read_bytes(), before)
        self.assertEqual(list((self.path / "tmp").iterdir()), [])

    def test_a_second_interrupt_ends_at_once_and_leaves_nothing(self):
        with subprocess.Popen([TUNE, "--op", "sort"], env=self.env, stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL) as tuning:
            while not list((self.path / "tmp").glob("*/input-0")) and tuning.poll() is None:
                time.sleep(0.01)
            tuning.send_signal(signal.SIGINT)  # two numbers: of one, the second may merge with the first
            tuning.send_signal(signal.SIGTERM)
            tuning.communicate(timeout=60)
        self.assertIn(tuning.returncode, (-signal.SIGINT, -signal.SIGTERM))
        # What removes the files goes on after the process has ended.
        deadline = time.monotonic() + 60
        while self.remains() and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(self.remains(), [])

    def remains(self):
        """Files in the folder for them, and processes that name it."""
        folder = self.path / "tmp"
        return [*folder.iterdir(), *self.processes_with(str(folder))]

    def processes_with(self, word):
        """The command lines of processes that name it."""
        lines = []
        for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                lines.append(file.read_bytes().decode(errors="replace"))
            except OSError:
                continue  # it has ended
        return [line for line in lines if word in line]

    def test_refine_without_timings_does_nothing(self):
        self.tune("--op", VARIANT)
        done = self.tool(TUNE, "--refine", "--json")
        self.assertEqual(json.loads(done.stdout), {"refined": False})

    def test_without_originals_nothing_is_measured(self):
        done = self.tune("--op", VARIANT, status=3, PATH="/nonexistent")
        self.assertIn(b"sha256sum", done.stderr)
        self.assertFalse(self.cache.exists())

    def test_usage(self):
        for program, words in ((TUNE, ["--op", "none"]), (TUNE, ["--none"]), (EXPLAIN, []),
                               (EXPLAIN, ["none"]), (EXPLAIN, ["sort", "12Q"]),
                               (EXPLAIN, ["sort", "99999999999999999999"])):
            done = self.tool(program, *words, status=2)
            self.assertTrue(done.stderr.startswith(b"hoist: error: "), done.stderr)
        for program in (TUNE, EXPLAIN):
            self.assertIn(b"Examples:", self.tool(program, "--help").stdout)
        nowhere = {"XDG_CACHE_HOME": "", "HOME": ""}
        self.tool(TUNE, "--op", VARIANT, status=3, **nowhere)


if __name__ == "__main__":
    if not TUNE.exists():
        raise SystemExit(77)
    unittest.main()
