#!/usr/bin/env python3
"""Black-box tests of `hoist match`, and the two worked examples of docs/reference/match.md."""

import glob
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import tempfile
import time
import unicodedata
import unittest

from hoist_tree import BUILD, environment, run

TOOL = BUILD / "libexec/hoist/hoist-match"
SEED = int(os.environ.get("HOIST_TEST_SEED", random.SystemRandom().randrange(2**32)))
KEYS = {
    "type", "name", "frequency", "emotives", "matches", "past", "present", "future", "sequence",
    "missing", "extras", "anomalies", "potential", "similarity", "evidence", "confidence", "snr",
    "fragmentation", "weighted_similarity", "weighted_evidence", "weighted_confidence",
    "weighted_snr", "entropy", "normalized_entropy", "global_normalized_entropy",
    "itfdf_similarity", "tfidf_score", "confluence", "predictive_information",
    "pattern_probability", "weighted_strength", "bayesian_posterior", "bayesian_prior",
    "bayesian_likelihood"}


def tool(*arguments, text=None):
    options = {"input": text.encode()} if text is not None else {}
    done = run(TOOL, *arguments, **options)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def name_of(events):
    events = [sorted(event) for event in events if event]
    return hashlib.sha1(repr(events).encode()).hexdigest()


def lcs(a, b):
    row = [0] * (len(b) + 1)
    for x in a:
        diagonal = 0
        for j, y in enumerate(b):
            above = row[j + 1]
            row[j + 1] = diagonal + 1 if x == y else max(above, row[j])
            diagonal = above
    return row[-1]


class MatchCommand(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.index = self.folder / "index"

    def file(self, name, lines):
        path = self.folder / name
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return path

    def ok(self, *arguments, text=None):
        status, out, err = tool(*arguments, text=text)
        self.assertEqual(status, 0, err)
        return out

    def build(self, patterns, *options):
        lines = [p if isinstance(p, str) else json.dumps(p) for p in patterns]
        self.ok("build", "-i", self.file("patterns.jsonl", lines), "-o", self.index, *options)

    def refused(self, status, pattern, *arguments, text=None):
        got, out, err = tool(*arguments, text=text)
        self.assertEqual((got, out), (status, ""), err)
        self.assertRegex(err, r"^hoist: error: " + pattern)

    def query(self, *options):
        return json.loads(self.ok("query", self.index, *options, "--json"))

    def test_dedup_of_a_file_that_is_called_jsonl(self):
        patterns = self.folder / "patterns.jsonl"
        patterns.write_text('[["a","b"],["c"]]\n[["a","b"],["d"]]\n[["x"],["y"]]\n')
        status, out, err = tool("dedup", patterns, "--threshold", "0.5")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual([line.split()[:2] for line in out.splitlines()], [["1", "2"]])

    def test_records(self):
        self.build([[["shoe"], ["sock"], ["hat"]],
                    {"name": "mine", "events": [["b", "a"], ["c"]], "frequency": 3,
                     "emotives": {"joy": 0.5}, "metadata": {"k": [1, 2]}},
                    [["shoe"], [], ["sock"], ["hat"]]])
        record, = self.query("--state", '[["a","b"],["x"]]')
        self.assertEqual(set(record), KEYS)
        self.assertEqual((record["name"], record["frequency"], record["emotives"]),
                         ("mine", 3, {"joy": 0.5}))
        self.assertEqual((record["matches"], record["past"], record["present"], record["future"]),
                         (["a", "b"], [], [["a", "b"]], [["c"]]))
        self.assertEqual(record["extras"], [[], ["x"]])
        self.assertEqual(record["similarity"], 2 * 2 / 6 * 100 / 100)
        record, = self.query("--state", '[["shoe"],["hat"]]')
        self.assertEqual((record["frequency"], record["missing"]), (2, [[], ["sock"], []]))
        self.assertEqual(self.query("--state", '[["nothing"],["known"]]'), [])
        flat, = self.query("--state", '[["shoe"]]')
        self.assertEqual((flat["present"], flat["future"]), (["shoe"], ["sock", "hat"]))
        self.assertNotIn("entropy", flat)

    def test_names_are_those_of_python(self):
        if unicodedata.unidata_version != "14.0.0":
            points = [c for c in range(0x3000) if unicodedata.category(chr(c)) != "Cn"]
        else:
            points = [c for c in range(0x110000) if not 0xd800 <= c < 0xe000]
        symbols = [chr(c) for c in points if c != 10]
        rows = [[["x", *symbols[i:i + 400]]] for i in range(0, len(symbols), 400)]
        rows += [[["it's"], ['"'], ["it's \"both\"", "\\", ""]], [["b", "a", "a"], [], ["\n\t\r"]]]
        self.build([])
        out = self.ok("learn", self.index, text="".join(json.dumps(r) + "\n" for r in rows))
        self.assertEqual(out.split(), [name_of(row) for row in rows])

    def test_scores_agree_with_a_slow_search(self):
        rng = random.Random(SEED)
        patterns = {}
        for _ in range(400):
            events = [[f"s{rng.randrange(12)}"] for _ in range(rng.randrange(2, 20))]
            patterns[name_of(events)] = [event[0] for event in events]
        self.build([[[token] for token in tokens] for tokens in patterns.values()])
        states = [[f"s{rng.randrange(14)}" for _ in range(rng.randrange(2, 30))] for _ in range(20)]
        path = self.file("states", [json.dumps([[t] for t in state]) for state in states])
        for scorer, size in (("lcs", lambda n, m: max(n, m)), ("indel", lambda n, m: n + m)):
            answers = self.query("--states", path, "--scorer", scorer, "--threshold", "0.5",
                                 "--top", "0")
            for state, answer in zip(states, answers):
                expected = {}
                for name, tokens in patterns.items():
                    common = lcs(tokens, state) * (1 if scorer == "lcs" else 2)
                    score = 1 - (size(len(tokens), len(state)) - common) / size(len(tokens),
                                                                               len(state))
                    if score >= 0.5:
                        expected[name] = score
                self.assertEqual({hit["name"] for hit in answer}, set(expected), f"seed {SEED}")
                for hit in answer:
                    self.assertAlmostEqual(hit["normalized"], expected[hit["name"]], 12)
                order = [(-hit["normalized"], hit["name"]) for hit in answer]
                self.assertEqual(order, sorted(order))

    def test_learn_delete_sync_stats_verify(self):
        self.build([[["a"], ["b"]]])
        name = self.ok("learn", self.index, "--durability", "sync", text='[["c","d"]]').strip()
        self.assertEqual(name, name_of([["c", "d"]]))
        self.assertEqual(len(self.query("--state", '[["c","d"]]')), 1)
        self.ok("learn", self.index, "--format", "lines", text="a b\n\nx y z\n")
        stats = json.loads(self.ok("stats", self.index, "--json"))
        self.assertEqual((stats["patterns"], stats["frequencies"]), (3, 4))
        self.ok("sync", self.index)
        stats = json.loads(self.ok("stats", self.index, "--json"))
        self.assertEqual((stats["patterns"], stats["recent_patterns"]), (3, 0))
        self.ok("delete", self.index, name)
        self.refused(1, "no pattern ", "delete", self.index, name)
        self.assertEqual(self.query("--state", '[["c","d"]]'), [])
        self.assertEqual(json.loads(self.ok("verify", self.index, "--json")),
                         {"ok": True, "patterns": 2})

    def test_show(self):
        self.build([{"events": [["shoe"], ["sock"]], "frequency": 2, "emotives": {"joy": 0.5},
                     "metadata": {"k": [1]}}, {"name": "mine", "events": [["b", "a"], ["c d"]]}])
        name = name_of([["shoe"], ["sock"]])
        self.ok("learn", self.index, text='{"events":[["shoe"],["sock"]],"emotives":{"joy":1}}')
        shown = json.loads(self.ok("show", self.index, name, "mine", "--json"))
        self.assertEqual(shown, [
            {"name": name, "frequency": 3, "events": [["shoe"], ["sock"]], "line": "shoe sock",
             "emotives": [{"joy": 0.5}, {"joy": 1}], "metadata": {"k": [1]}},
            {"name": "mine", "frequency": 1, "events": [["a", "b"], ["c d"]], "emotives": [],
             "metadata": None}])
        self.assertEqual(self.ok("show", self.index, name, "mine"), (
            f"name       {name}\nline       shoe sock\nevents     [[\"shoe\"], [\"sock\"]]\n"
            'frequency  3\nemotives   [{"joy": 0.5}, {"joy": 1.0}]\nmetadata   {"k":[1]}\n\n'
            'name       mine\nevents     [["a", "b"], ["c d"]]\nfrequency  1\n'))
        status, out, err = tool("show", self.index, "none", "mine", "--json")
        self.assertEqual((status, [one["name"] for one in json.loads(out)]), (1, ["mine"]))
        self.assertEqual(err, "hoist: error: no pattern none (in the index): a search gives the names\n")

    def test_queries_show_the_text(self):
        self.build([[["a"], ["b"]], [["b", "a"], ["c"]]])
        state = '[["a"],["b"]]'
        texts = {name_of([["a"], ["b"]]): ([["a"], ["b"]], "a b"),
                 name_of([["b", "a"], ["c"]]): ([["a", "b"], ["c"]], None)}
        for synced in (False, True):
            if synced:
                self.ok("sync", self.index)
            for scorer in ("kato", "lcs", "indel", "levenshtein", "difflib", "difflib-autojunk"):
                hits = self.query("--state", state, "--scorer", scorer, "--show")
                self.assertEqual({hit["name"]: (hit["events"], hit.get("line")) for hit in hits}, texts)
                for hit, plain in zip(hits, self.query("--state", state, "--scorer", scorer)):
                    del hit["events"]
                    hit.pop("line", None)
                    self.assertEqual(hit, plain)
            out = self.ok("query", self.index, "--state", state, "--scorer", "lcs", "--show")
            self.assertEqual([line.split("  ", 2)[2] for line in out.splitlines()],
                             ["a b", '[["a", "b"], ["c"]]'])
            out = self.ok("query", self.index, "--state", state, "--show")
            self.assertEqual(len(out.splitlines()), 2)
            self.assertIn("[a b] ", out)

    def test_lines_of_one_word(self):
        lines = ["one", "", "two words", "one", " \t", "three"]
        status, out, err = tool("build", "--format", "lines", "-i", self.file("lines", lines), "-o",
                                self.index)
        self.assertEqual((status, out), (0, ""))
        self.assertRegex(err, r": 3 patterns of 4 lines, .*; 2 blank lines left out\n$")
        one = name_of([["one"]])
        shown = json.loads(self.ok("show", self.index, one, "--json"))[0]
        self.assertEqual((shown["line"], shown["frequency"]), ("one", 2))
        self.assertEqual(self.ok("learn", self.index, "--format", "lines", text="four\none\n").split(),
                         [name_of([["four"]]), one])
        for synced in (False, True):
            if synced:
                self.ok("sync", self.index)
            for scorer in ("kato", "lcs", "indel", "levenshtein", "difflib", "difflib-autojunk"):
                hits = self.query("--state", '[["one"],["x"]]', "--scorer", scorer)
                self.assertEqual([hit["name"] for hit in hits], [one], scorer)
            self.assertEqual(self.query("--state", '[["one"]]')[0]["name"], one)
        self.assertEqual(json.loads(self.ok("verify", self.index, "--json"))["patterns"], 4)
        repaired = self.folder / "repaired"
        self.ok("repair", self.index, "-o", repaired)
        self.assertEqual(self.ok("show", repaired, one), self.ok("show", self.index, one))
        self.refused(2, "a pattern of 1 symbols: at least 2", "learn", self.index, text='[["a"]]')
        _, _, err = tool("build", "-i", self.file("two", ['[["a"],["b"]]']), "-o", self.folder / "x")
        self.assertNotIn("left out", err)

    @unittest.skipIf(os.environ.get("HOIST_SANITIZE"), "sanitizers take address space")
    def test_more_results_than_there_are_take_no_memory(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

        self.build([[["a"], [str(n)]] for n in range(50)])
        self.ok("learn", self.index, text='[["a"],["late"]]')
        for scorer in ("kato", "lcs", "difflib"):
            for top in (0, 51, 52, 10**9, 2**31, 2**32, 2**63, 2**64 - 1):
                done = run(TOOL, "query", self.index, "--state", '[["a"],["7"]]', "--scorer", scorer,
                           "--top", top, "--json", preexec_fn=limit)
                self.assertEqual((done.returncode, done.stderr), (0, b""), (scorer, top))
                self.assertEqual(len(json.loads(done.stdout)), 51, (scorer, top))

    def test_no_sort_and_no_store(self):
        self.build([[["b", "a"], ["c"]]], "--no-sort", "--no-store")
        self.assertEqual(self.query("--state", '[["a","b"],["c"]]', "--no-sort")[0]["matches"],
                         ["b", "c"])
        self.refused(3, "the index is search-only", "learn", self.index, text='[["a","b"]]')
        self.ok("verify", self.index)
        other = self.folder / "sorted"
        self.ok("build", "-i", self.folder / "patterns.jsonl", "-o", other)
        self.refused(2, "the index sorts", "query", other, "--state", '[["a"]]', "--no-sort")

    def test_errors_leave_nothing_behind(self):
        bad = {
            '[["a"]]': "a pattern of 1 symbols", "[]": "a pattern of 0 symbols",
            '{"events":[["a","b"]],"x":1}': "an unknown key x", '[["a",1]]': "a symbol that is no",
            '{"name":"n"}': "no events", '[["a","b"]': "not JSON: it ends inside a list",
            '[["a"] ["b"]]': "not JSON at byte 8: a comma, bracket or quote is missing",
            '[[a]]': "not JSON at byte 3: ", '[["a","\x01"]]': "not JSON at byte 8: a control char", '{"events":[["a","b"]],"frequency":0}':
            "a frequency that is no", '[["a","\\ud800"]]': "not JSON at byte 14: a wrong escape"}
        for line, message in bad.items():
            path = self.file("bad.jsonl", ['[["a"],["b"]]', "", line])
            self.refused(2, message + r".* \(.*bad.jsonl:3\)", "build", "-i", path, "-o",
                         self.index)
            self.assertEqual(os.listdir(self.folder), ["bad.jsonl"])
        self.build([[["a", "b"]]])
        self.refused(2, r".* exists \(an index\): pass --force", "build", "-i", self.folder / "bad.jsonl",
                     "-o", self.index)
        self.refused(1, "", "query", self.folder / "none", "--state", "[]")
        self.refused(2, "no scorer", "query", self.index, "--state", "[]", "--scorer", "x")
        self.refused(2, "no key", "query", self.index, "--state", "[]", "--rank", "x")
        for option, value in (("--rank", "similarity"), ("--fuzzy", "0.5")):
            self.refused(2, f"{option} is for records", "query", self.index, "--state", '[["a"]]',
                         "--scorer", "lcs", option, value)
            self.ok("query", self.index, "--state", '[["a"]]', "--scorer", "kato", option, value)
        self.refused(2, "no command bogus .*: .*match has build, query, .*, bench$", "bogus")
        self.refused(2, "no command biuld .*: is it build\\?", "biuld")
        for states, text in (((), "no state to search for"),
                             (("--state", "[]", "--states", "-"), "states twice")):
            self.refused(2, text + r" \(hoist match query\): give either --state or --states",
                         "query", self.index, *states)
        self.refused(2, r"--output is required \(.*match build\): see `.*match build --help`$",
                     "build", "-i", "-")
        self.refused(2, r"not JSON.* \(--state\): a state is a list of events, as in",
                     "query", self.index, "--state", "[[")
        self.refused(2, ".*(--state)", "query", self.index, "--state", "[1]")
        self.refused(1, "an index of 1 patterns needs|the index has", "query", self.index,
                     "--state", "[]", "--max-memory", "10")
        self.refused(2, "no amount of memory", "query", self.index, "--state", "[]",
                     "--max-memory", "x")

    def test_numbers_that_are_none(self):
        self.build([[["a"], ["b"]]])
        for option, value, text in (("--top", "-1", "whole number"), ("--top", "x", "whole number"),
                                    ("--threshold", "nan", "0 to 1"),
                                    ("--threshold", "-0.1", "0 to 1"), ("--fuzzy", "2", "0 to 1")):
            status, out, err = tool("query", self.index, "--state", '[["a"]]', option, value)
            self.assertEqual((status, out), (2, ""), (option, value))
            self.assertRegex(err, f"^hoist: error: {option}: {value} .*{text}")

    def test_many_states(self):
        self.build([[["a"], ["b"]], [["a"], ["c"]]])
        states = self.file("states", ['[["a"],["b"]]', "", '[["z"],["y"]]'])
        answers = self.query("--states", states)
        self.assertEqual([len(answer) for answer in answers], [2, 0])
        self.assertEqual(self.query("--states", self.file("none", ["", " "])), [])
        for bad in ('[["a"]', '[["a"],[1]]'):
            lines = ['[["a"],["b"]]', "", bad]
            self.refused(2, r".* \(.*bad:3\)", "query", self.index, "--states",
                         self.file("bad", lines), "--json")
        # A later batch: what came before it is one JSON text.
        late = self.file("late", ['[["a"],["b"]]'] * 300 + ['[["a"]'])
        status, out, err = tool("query", self.index, "--states", late, "--json")
        self.assertEqual((status, json.loads(out)), (2, [answers[0]] * 256))
        self.assertRegex(err, r"late:301")
        lines = self.ok("query", self.index, "--states", states, "--jsonl").splitlines()
        self.assertEqual([json.loads(line) for line in lines], answers)
        lines = self.ok("query", self.index, "--state", '[["a"],["b"]]', "--jsonl").splitlines()
        self.assertEqual([json.loads(line) for line in lines], answers[0])

    def test_what_learn_printed_survives_a_kill(self):
        self.build([])
        rng = random.Random(SEED)
        expected = []
        for _ in range(3):
            process = subprocess.Popen([TOOL, "learn", self.index], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, env=environment())
            for n in range(rng.randrange(1, 200)):
                events = [[f"k{rng.randrange(10**9)}"], [str(n)]]
                process.stdin.write(json.dumps(events).encode() + b"\n")
                process.stdin.flush()
                expected.append(process.stdout.readline().decode().strip())
                self.assertEqual(expected[-1], name_of(events))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            process.wait()
        verified = json.loads(self.ok("verify", self.index, "--json"))
        self.assertEqual(verified, {"ok": True, "patterns": len(set(expected))})

    def test_a_damaged_log_is_refused_and_repaired(self):
        self.build([[["a"], ["b"]]])
        lines = "".join(json.dumps([["n"], [str(n)]]) + "\n" for n in range(300))
        names = self.ok("learn", self.index, text=lines).split()
        log = max((self.index / "store").glob("*.log"), key=lambda path: path.stat().st_size)
        damaged = bytearray(log.read_bytes())
        damaged[len(damaged) // 2] ^= 4
        log.write_bytes(damaged)
        missing = "1 of .* missing .*hoist match repair"
        for command in ("verify", "stats"):
            self.refused(1, missing, command, self.index)
        self.refused(1, missing, "learn", self.index, text='[["x"],["y"]]')
        new = self.folder / "new"
        report = json.loads(self.ok("repair", self.index, "-o", new, "--json"))
        self.assertEqual(report["saved"] + report["lost"], 301)
        self.assertEqual((report["lost"], report["damaged"]), (1, True))
        self.ok("verify", new)
        self.ok("delete", new, names[0], names[-1])
        self.assertEqual(log.read_bytes(), bytes(damaged))
        self.refused(2, ".* exists", "repair", self.index, "-o", new)
        self.refused(2, "the damaged index would be replaced", "repair", self.index, "-o", self.index,
                     "--force")
        self.ok("repair", self.index, "-o", new, "--force")
        other = self.folder / "other"
        self.refused(1, "no index", "repair", self.folder / "none", "-o", other)
        self.assertFalse(other.exists())

    def test_a_build_that_is_stopped_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            for ends in (False, True):  # whether the input ends before the signal is looked at
                building = subprocess.Popen(
                    [TOOL, "build", "-i", "-", "-o", self.folder / "stopped.index"],
                    stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
                    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
                building.stdin.write(b'[["a"],["b"]]\n' * 5000)
                building.stdin.flush()
                while not list(self.folder.glob("stopped.index.*.part")):
                    self.assertIsNone(building.poll())
                    time.sleep(0.01)
                building.send_signal(signal.SIGSTOP)
                if ends:
                    building.stdin.close()
                    building.stdin = None
                building.send_signal(number)
                building.send_signal(signal.SIGCONT)
                building.communicate(timeout=60)
                self.assertEqual(building.returncode, -number)
                self.assertEqual(list(self.folder.glob("stopped*")), [])

    def test_a_full_disk_is_an_error(self):
        self.build([[["a", "b"]]])
        lines = "".join(f'[["k{n}"],["n"]]\n' for n in range(20000))
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        done = run(TOOL, "learn", self.index, input=lines.encode(), preexec_fn=limit,
                   restore_signals=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr.decode(), "hoist: error: cannot .*")
        learned = len(done.stdout.split())
        self.assertGreater(learned, 100)
        verified = json.loads(self.ok("verify", self.index, "--json"))
        self.assertTrue(verified["ok"])
        self.assertGreaterEqual(verified["patterns"], learned + 1)
        path = self.file("more.jsonl", lines.splitlines())
        done = run(TOOL, "build", "-i", path, "-o", self.folder / "other", preexec_fn=limit,
                   restore_signals=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual({*os.listdir(self.folder)}, {"index", "patterns.jsonl", "more.jsonl"})

    def test_example_near_duplicate_paragraphs(self):
        """docs/reference/match.md: paragraphs of /usr/share/doc that differ by a few words."""
        paragraphs = []
        for path in sorted(glob.glob("/usr/share/doc/*/copyright"))[:150]:
            text = pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
            for paragraph in re.split(r"\n\s*\.?\n", text):
                words = paragraph.split()
                if len(words) >= 20:
                    paragraphs.append(" ".join(words[:200]))
        if len(paragraphs) < 50:
            self.skipTest("no documentation here")
        path = self.file("paragraphs.txt", paragraphs[:2000])
        pairs = set()
        for line in self.ok("dedup", path, "--threshold", "0.9").splitlines():
            a, b, score = line.split("\t")
            self.assertLess(int(a), int(b))
            self.assertGreaterEqual(float(score), 0.9)
            pairs.add((int(a), int(b)))
        self.assertTrue(pairs)
        words = [paragraph.split() for paragraph in paragraphs[:2000]]
        rng = random.Random(SEED)
        for _ in range(300):
            a, b = sorted(rng.sample(range(1, len(words) + 1), 2))
            x, y = words[a - 1], words[b - 1]
            score = 2.0 * lcs(x, y) / (len(x) + len(y)) * 100.0
            self.assertEqual(score >= 90 - 1e-6, (a, b) in pairs, (SEED, a, b))

    def test_example_log_templates(self):
        """docs/reference/match.md: which template a line of a log comes from."""
        templates = [
            "Accepted publickey for * from * port * ssh2",
            "Failed password for * from * port * ssh2",
            "Failed password for invalid user * from * port * ssh2",
            "Connection closed by * port * [preauth]",
            "pam_unix(sshd:session): session opened for user * by (uid=0)"]
        self.ok("build", "--format", "lines", "-i", self.file("templates", templates),
                "-o", self.index)
        names = {name_of([[word] for word in t.split()]): t for t in templates}
        lines = {
            "Failed password for invalid user admin from 10.0.0.7 port 5022 ssh2": templates[2],
            "Accepted publickey for eva from 10.1.2.3 port 40022 ssh2": templates[0],
            "Connection closed by 10.0.0.9 port 1234 [preauth]": templates[3]}
        states = self.file("log", [json.dumps([[w] for w in line.split()]) for line in lines])
        answers = self.query("--states", states, "--scorer", "indel", "--top", "1")
        self.assertEqual([names[answer[0]["name"]] for answer in answers], list(lines.values()))


if __name__ == "__main__":
    unittest.main()
