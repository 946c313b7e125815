#!/usr/bin/env python3
"""Black-box tests of interception and of `hoist run`: whatever runs under it behaves as without.

The programs are the machine's own. Most tests use a copy of the built tree whose engines are a
probe (hoist_tree.py), which tells that it was started and how."""

import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

from hoist_tree import (BUILD, HOIST, PRELOAD, Scratch, build_id_offset, compile_c,
                        copy_with_build_id, engine_is_built, environment, run)

SORT = shutil.which("sort")
STRANGER = 100_000 + 2 * os.getpid()  # and the next: users that no other run of this has
KNOWN = b"\x62\x8e\x28\x32\x9c\x22\x96\xb3\xa0\xe6\x67\x12\xbf\xeb\x89\xb5\xba\x24\xe9\x30"


def setUpModule():
    global SCRATCH, TREE, RUN
    SCRATCH = Scratch()
    TREE = SCRATCH.tree("tree")
    RUN = [TREE / "bin/hoist", "run"]


def tearDownModule():
    SCRATCH.close()


def known_sort():
    """A copy of sort that the compiled-in table knows, whatever the machine's build is."""
    path = SCRATCH.path / "known/sort"
    if not path.exists():
        path.parent.mkdir()
        copy_with_build_id(SORT, path, KNOWN)
    return path


def program(name):
    path = shutil.which(name)
    if path is None:
        raise unittest.SkipTest(f"{name} is not installed")
    return path


def stats_of(*command, env=None, **options):
    """The JSON that --stats=FILE leaves, and the finished process."""
    target = SCRATCH.path / "stats.json"
    target.unlink(missing_ok=True)
    done = run(*RUN, f"--stats={target}", "--", *command, env=env, **options)
    return json.loads(target.read_text()), done


def reason_of(*command, env=None, **options):
    """Why the last recorded program was left alone; "TAKEN" where the probe ran."""
    stats, done = stats_of(*command, env=env, **options)
    if done.stdout.startswith(b"TAKEN"):
        return "TAKEN"
    return stats["programs"][-1]["reason"]


class Status(unittest.TestCase):
    def both(self):
        yield [*RUN, "--"]
        yield [*RUN, "--stats=/dev/null", "--"]

    def test_exit_codes_are_the_programs_own(self):
        for prefix in self.both():
            for code in (0, 1, 2, 7, 126, 255):
                with self.subTest(code=code, prefix=prefix):
                    done = run(*prefix, "sh", "-c", f"exit {code}")
                    self.assertEqual((done.returncode, done.stdout, done.stderr), (code, b"", b""))

    def test_death_by_signal_is_handed_on(self):
        for prefix in self.both():
            for name in ("TERM", "KILL", "HUP", "INT", "USR1", "PIPE", "ABRT"):
                with self.subTest(signal=name, prefix=prefix):
                    done = run(*prefix, "sh", "-c", f"ulimit -c 0; kill -{name} $$")
                    self.assertEqual(done.returncode, -getattr(signal, "SIG" + name))

    def test_programs_that_cannot_start(self):
        not_executable = SCRATCH.path / "not-executable"
        not_executable.write_text("x")
        for prefix in self.both():
            done = run(*prefix, "no-such-program-anywhere")
            self.assertEqual(done.returncode, 127)
            self.assertRegex(done.stderr, rb"^hoist: error: cannot run no-such-program-anywhere \(")
            self.assertEqual(run(*prefix, not_executable).returncode, 126)

    def test_usage_errors(self):
        for words in (["run"], ["run", "--"], ["run", "--verify=2", "--", "true"],
                      ["run", "--verify=-0.1", "--", "true"], ["run", "--verify=x", "--", "true"],
                      ["run", "--verify=nan", "--", "true"], ["run", "--nonsense", "--", "true"],
                      ["run", "--ops", "nonsense", "--", "true"], ["nonsense"], [],
                      ["run", "--ops", "fft", "--", "true"], ["run", "--verify", "--", "true"],
                      ["run", "--stats=", "--", "true"], ["run", "--stats=/tmp", "--", "true"],
                      ["run", "--stats", "out.json", "--", "true"], ["run", "--ops"]):
            with self.subTest(words=words):
                done = run(HOIST, *words)
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                self.assertRegex(done.stderr, rb"^hoist: error: .+ \(.+\): .+\n$")

    def test_usage_errors_say_what_was_meant(self):
        for words, expected in ((["runn"], b"no command runn .*: is it run\\?"),
                                (["frobnicate"], b"no command frobnicate .*: `hoist --help`"),
                                (["run", "--verify", "--", "true"],
                                 rb"--verify lacks its value \(hoist run\): give --verify=RATE"),
                                (["top", "--x"], rb" --x \(hoist top\): see `hoist top --help`"),
                                ([], rb"no command is given \(hoist\): `hoist --help`"),
                                (["match", "buil"], rb"no command buil \(hoist match\): is it bui"),
                                (["explain", "x"], rb"no such operation \(x\): there are sort/C"),
                                (["explain", "sort", "5X"], rb"not a size \(5X\): write 65536"),
                                (["match", "repair"], b"`hoist match repair --help`"),
                                (["tensors", "unpack", "--frob"], b"`hoist tensors unpack --help`"),
                                (["run", "--stats", "o.json", "--", "true"], b"--stats=o.json")):
            self.assertRegex(run(HOIST, *words).stderr, expected)
        self.assertEqual(run(*RUN, "--stats", "env", "--", "true").returncode, 0)

    def test_program_options_are_not_ours(self):
        for words in (["--", "echo", "--stats", "--", "-x"], ["echo", "--stats", "--", "-x"]):
            self.assertEqual(run(*RUN, *words).stdout, b"--stats -- -x\n")

    def test_unwritable_stats_file_is_found_out_before(self):
        mark = SCRATCH.path / "mark"
        done = run(*RUN, "--stats=/no/such/folder/x.json", "--", "touch", mark)
        self.assertEqual(done.returncode, 1)
        for name in ("", SCRATCH.path):
            done = run(*RUN, f"--stats={name}", "--", "touch", mark)
            self.assertEqual(done.returncode, 2)
        self.assertFalse(mark.exists())


class Signals(unittest.TestCase):
    SCRIPT = ("import signal, sys, time\n"
              "signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))\n"
              "signal.signal(signal.SIGUSR1, lambda *_: print('usr1', flush=True))\n"
              "print('ready', flush=True)\n"
              "while True: time.sleep(0.01)\n")

    def start(self, *options, **more):
        process = subprocess.Popen([*map(str, RUN), *options, "--", sys.executable, "-c",
                                    self.SCRIPT], stdout=subprocess.PIPE, env=environment(), **more)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def test_signals_to_hoist_reach_the_program(self):
        for options in ((), ("--stats=/dev/null",)):
            with self.subTest(options=options):
                process = self.start(*options)
                process.send_signal(signal.SIGUSR1)
                self.assertEqual(process.stdout.readline(), b"usr1\n")
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(60), 9)

    def test_stop_and_continue(self):
        # In a group of its own, with us as the parent outside it: in an orphaned group, which ours
        # may be, the terminal's stop signals do nothing (POSIX).
        process = self.start("--stats=/dev/null", preexec_fn=os.setpgrp)
        process.send_signal(signal.SIGTSTP)
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status))
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 9)

    def test_every_signal_that_can_be_had_is_passed_on(self):
        script = ("import signal, sys, time\n"
                  "seen = []\n"
                  "numbers = [int(word) for word in sys.argv[1:]]\n"
                  "for number in numbers: signal.signal(number, lambda n, _: seen.append(n))\n"
                  "print('ready', flush=True)\n"
                  "end = time.monotonic() + 60\n"
                  "while len(seen) < len(numbers) and time.monotonic() < end: time.sleep(0.01)\n"
                  "print(*sorted(seen))\n")
        numbers = [signal.SIGALRM, signal.SIGVTALRM, signal.SIGPIPE, signal.SIGUSR2, signal.SIGIO,
                   signal.SIGWINCH, signal.SIGURG, signal.SIGXCPU, signal.SIGRTMIN + 3,
                   signal.SIGRTMAX]
        words = [str(int(number)) for number in sorted(numbers)]
        process = subprocess.Popen([*map(str, RUN), "--stats=/dev/null", "--", sys.executable, "-c",
                                    script, *words], stdout=subprocess.PIPE, env=environment())
        self.assertEqual(process.stdout.readline(), b"ready\n")
        for number in numbers:
            process.send_signal(number)
        self.assertEqual(process.communicate(timeout=90)[0].decode().split(), words)
        self.assertEqual(process.returncode, 0)

    def test_an_alarm_set_before_is_the_programs(self):
        done = run(*RUN, "--stats=/dev/null", "--", "sleep", "60",
                   preexec_fn=lambda: signal.alarm(1))
        self.assertEqual(done.returncode, -signal.SIGALRM)

    def test_a_signal_to_the_group_arrives_once(self):
        script = ("import os, signal, time\n"
                  "seen = []\n"
                  "signal.signal(signal.SIGUSR1, lambda n, _: seen.append(n))\n"
                  "os.kill(0, signal.SIGUSR1)\n"
                  "time.sleep(0.3)\n"  # a second one would have come
                  "raise SystemExit(20 + len(seen))\n")
        done = run(*RUN, "--stats=/dev/null", "--", sys.executable, "-c", script,
                   start_new_session=True)
        self.assertEqual(done.returncode, 21)

    def test_a_program_that_others_stop_does_not_stop_hoist(self):
        script = "echo $$; read line; exit 7"
        process = subprocess.Popen([*map(str, RUN), "--stats=/dev/null", "--", "sh", "-c", script],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env=environment())
        child = int(process.stdout.readline())
        os.kill(child, signal.SIGSTOP)
        status = pathlib.Path(f"/proc/{child}/status")
        while "State:\tT" not in status.read_text():
            pass
        os.kill(child, signal.SIGCONT)
        process.communicate(b"x\n", timeout=60)
        self.assertEqual(process.returncode, 7)

    def test_the_terminals_interrupt_reaches_the_program_once(self):
        script = ("import signal, sys, time\n"
                  "count = 0\n"
                  "def interrupted(*_):\n"
                  "    global count\n"
                  "    count += 1\n"
                  "    print('interrupted', flush=True)\n"
                  "signal.signal(signal.SIGINT, interrupted)\n"
                  "signal.signal(signal.SIGTERM, lambda *_: sys.exit(10 + count))\n"
                  "print('ready', flush=True)\n"
                  "while True: time.sleep(0.01)\n")
        command = [*map(str, RUN), "--stats=/dev/null", "--", sys.executable, "-c", script]
        child, terminal = pty.fork()
        if child == 0:
            os.execve(command[0], command, environment())
        with os.fdopen(terminal, "r+b", buffering=0) as stream:
            self.assertIn(b"ready", stream.readline())
            stream.write(b"\x03")
            self.assertIn(b"interrupted", stream.readline())
            os.kill(child, signal.SIGTERM)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 11)

    def test_without_statistics_hoist_is_the_program(self):
        process = subprocess.Popen([*map(str, RUN), "--", "sh", "-c", "echo $$"],
                                   stdout=subprocess.PIPE, env=environment())
        self.assertEqual(int(process.communicate()[0]), process.pid)

    def test_ignored_signals_stay_ignored(self):
        script = ("import signal\n"
                  "print(*map(repr, map(signal.getsignal, (signal.SIGCHLD, signal.SIGHUP))))\n"
                  "raise SystemExit(5)")

        def ignore():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

        for options in ((), ("--stats=/dev/null",)):
            done = run(*RUN, *options, "--", sys.executable, "-c", script, preexec_fn=ignore)
            self.assertEqual(done.returncode, 5)
            self.assertEqual(done.stdout.count(b"SIG_IGN"), 2)


class Streams(unittest.TestCase):
    def test_untouched(self):
        data = bytes(range(256)) * 4096
        for options in ((), ("--stats=/dev/null",), ("--ops", "sort")):
            done = run(*RUN, *options, "--", "cat", input=data)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, data, b""))

    def test_closed_standard_error_changes_no_status(self):
        done = run("sh", "-c", "exec \"$@\" 2>&-", "sh", *RUN, "--stats", "--explain", "--",
                   "sh", "-c", "exit 6")
        self.assertEqual(done.returncode, 6)

    def test_standard_error_that_nobody_reads_changes_no_status(self):
        target = SCRATCH.path / "unread.json"
        for options in (("--stats", "--explain"), (f"--stats={target}", "--explain")):
            reader, writer = os.pipe()
            os.close(reader)
            for script, expected in (("exit 6", 6), ("kill -PIPE $$", -signal.SIGPIPE)):
                done = subprocess.run([*map(str, RUN), *options, "--", "sh", "-c", script],
                                      stderr=writer, env=environment(), check=False)
                self.assertEqual(done.returncode, expected)
            os.close(writer)
        self.assertIn("programs", json.loads(target.read_text()))

    def test_sigpipe(self):
        done = run("sh", "-c", "\"$@\" | head -n 1", "sh", *RUN, "--stats=/dev/null", "--", "yes")
        self.assertEqual((done.stdout, done.stderr), (b"y\n", b""))


class Statistics(unittest.TestCase):
    def test_schema_where_nothing_was_taken(self):
        stats, _ = stats_of("sh", "-c", "true; /bin/true a b")
        self.assertEqual(set(stats), {"programs", "operations"})
        self.assertEqual(stats["operations"], {})
        for entry in stats["programs"]:
            self.assertEqual(set(entry), {"pid", "argv", "taken_over", "reason"})
            self.assertIs(entry["taken_over"], False)
            self.assertEqual(entry["reason"], "no engine replaces it")
            self.assertIsInstance(entry["pid"], int)
        self.assertIn(["/bin/true", "a", "b"], [entry["argv"] for entry in stats["programs"]])

    @unittest.skipUnless(engine_is_built("hash"), "the hash engine is not built")
    def test_schema_where_a_program_was_taken(self):
        target = SCRATCH.path / "taken.json"
        plain = run("sha256sum", SCRATCH.big)
        done = run(HOIST, "run", f"--stats={target}", "--", "sha256sum", SCRATCH.big)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (plain.returncode, plain.stdout, plain.stderr))
        stats = json.loads(target.read_text())
        if stats["programs"][0]["reason"] == "build-id unknown":
            self.skipTest("this build of sha256sum is not in the table")
        self.assertEqual([entry["taken_over"] for entry in stats["programs"]], [True])
        counts = stats["operations"]["hash"]
        self.assertEqual(set(counts), {"calls", "bytes", "seconds", "implementations", "passed"})
        self.assertEqual(counts["bytes"], SCRATCH.big.stat().st_size)
        self.assertEqual(sum(part["calls"] for part in counts["implementations"].values()),
                         counts["calls"])

    @unittest.skipUnless(engine_is_built("hash"), "the hash engine is not built")
    def test_our_other_libraries_hinder_no_takeover(self):
        """Those of memcpy() and of BLAS, which is there as soon as a GPU may serve."""
        for options, changes in (([], {"HOIST_SOCKET": "/nonexistent/socket"}),
                                 ([], {"HOIST_GPU": "inprocess"}),
                                 (["--ops", "+memcpy"], {})):
            target = SCRATCH.path / "beside.json"
            done = run(HOIST, "run", *options, f"--stats={target}", "--", "sh", "-c",
                       "sha256sum \"$0\"; :", SCRATCH.big, env=environment(**changes))
            self.assertEqual(done.returncode, 0, done.stderr)
            programs = {entry["argv"][0]: entry for entry in json.loads(target.read_text())["programs"]}
            if programs["sha256sum"]["reason"] == "build-id unknown":
                self.skipTest("this build of sha256sum is not in the table")
            self.assertTrue(programs["sha256sum"]["taken_over"], programs)

    def test_summary_and_explanation(self):
        done = run(*RUN, "--stats", "--", known_sort(), SCRATCH.small)
        self.assertEqual(done.stdout, b"a\nb\n")
        self.assertRegex(done.stderr, rb"^hoist: .*sort .*small \(pid \d+\): .*small input\n$")
        done = run(*RUN, "--explain", "--", known_sort(), SCRATCH.small)
        self.assertRegex(done.stderr, rb"ran on the original: small input")

    def test_environment_variable_and_nested_runs(self):
        outer = SCRATCH.path / "outer.json"
        done = run(*RUN, "--", *RUN, "--", "true", env=environment(HOIST_STATS=str(outer)))
        self.assertEqual(done.returncode, 0)
        commands = [entry["argv"][-1] for entry in json.loads(outer.read_text())["programs"]]
        self.assertIn("true", commands)

    def test_no_segment_stays_behind(self):
        done = run(*RUN, "--stats=/dev/null", "--", "sh", "-c", "echo $HOIST_COUNTERS")
        self.assertFalse(pathlib.Path(done.stdout.decode().strip()).exists())

    def test_special_files_are_written_through(self):
        done = run(*RUN, "--stats=/dev/stdout", "--", "true")
        self.assertEqual(set(json.loads(done.stdout)), {"programs", "operations"})
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())

    def test_a_redirected_standard_output_is_added_to(self):
        target = SCRATCH.path / "redirected"
        with open(target, "wb") as out:
            inode = os.fstat(out.fileno()).st_ino
            subprocess.run([*map(str, RUN), "--stats=/dev/stdout", "--", "echo", "said"],
                           stdout=out, env=environment(), check=True)
        said, stats = target.read_text().split("\n", 1)
        self.assertEqual((said, target.stat().st_ino), ("said", inode))
        self.assertEqual(set(json.loads(stats)), {"programs", "operations"})

    def test_empty_and_foreign_arguments(self):
        stats, _ = stats_of("echo", "", "größe", "\udcff", "")
        self.assertEqual(stats["programs"][0]["argv"], ["echo", "", "größe", "\xff", ""])

    def test_nothing_seen_is_said(self):
        self.assertEqual(run(*RUN, "--explain", "--stats", "--", "true").stderr.count(b"no prog"), 0)
        done = run(*RUN, "--explain", "--", "sh", "-c", "exit 3", env=environment(HOIST="off"))
        self.assertEqual(done.returncode, 3)
        binary = compile_c("int main(void) { return 4; }\n", SCRATCH.path / "unseen", "-static")
        if binary is None:
            self.skipTest("no static C library")
        done = run(*RUN, "--explain", "--", binary)
        self.assertEqual((done.returncode, done.stderr), (
            4, b"hoist: no program was seen (static, setuid or of another word size)\n"))

    def as_stranger(self, uid, *words, **changes):
        """Runs as a user whose counter folder somebody else has made."""
        if os.geteuid() != 0:
            self.skipTest("needs root to run as another user")
        squatted = pathlib.Path(f"/dev/shm/hoist-{uid}")
        if not squatted.exists():
            squatted.mkdir()
            self.addCleanup(squatted.rmdir)
        SCRATCH.path.chmod(0o755)
        return run(*RUN, *words, env=environment(**changes), user=uid, group=uid, extra_groups=[],
                   cwd="/")

    @unittest.skipIf(os.environ.get("HOIST_COVERAGE") == "ON", "others cannot write the counts")
    def test_squatted_counter_folder(self):
        room = SCRATCH.path / "room"
        room.mkdir()
        room.chmod(0o777)
        for changes in ({"TMPDIR": str(room), "XDG_RUNTIME_DIR": None},
                        {"XDG_RUNTIME_DIR": str(room), "TMPDIR": "/nonexistent"}):
            done = self.as_stranger(STRANGER, "--stats", "--", "sh", "-c", "exit 5", **changes)
            self.assertEqual(done.returncode, 5)
            self.assertRegex(done.stderr,
                             rb"^hoist: sh -c exit 5 \(pid \d+\): ran on the original: ")
            left = [path.name for path in room.rglob("*")]
            self.assertIn(left, ([], ["hoist"]))  # the lasting folder, empty

    @unittest.skipIf(os.environ.get("HOIST_COVERAGE") == "ON", "others cannot write the counts")
    def test_no_place_for_counters(self):
        target = SCRATCH.path / "room-for-json"
        target.touch()
        target.chmod(0o666)
        for option in ("--stats", f"--stats={target}"):
            done = self.as_stranger(STRANGER + 1, option, "--", "sh", "-c", "echo x; exit 5",
                                    TMPDIR="/nonexistent", XDG_RUNTIME_DIR=None)
            self.assertEqual((done.returncode, done.stdout), (5, b"x\n"))
            self.assertRegex(done.stderr, rb"^hoist: warning: the program ran, but nothing was coun")
        self.assertEqual(json.loads(target.read_text()), {"programs": [], "operations": {}})

    def test_top_sees_a_running_program(self):
        process = subprocess.Popen([*map(str, RUN), "--stats=/dev/null", "--", "cat"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env=environment())
        process.stdin.write(b"x")
        process.stdin.flush()
        process.stdout.read(1)  # cat runs now
        runs = json.loads(run(HOIST, "top", "--once", "--json").stdout)["runs"]
        text = run(HOIST, "top", "--once").stdout
        process.communicate()
        mine = [entry for entry in runs if entry["pid"] == process.pid]
        self.assertEqual(len(mine), 1)
        self.assertEqual([(entry["argv"], entry["alive"]) for entry in mine[0]["programs"]],
                         [(["cat"], True)])
        self.assertRegex(text, rb"(?m)^ *%d .* cat$" % process.pid)

    def test_concurrent_runs(self):
        def one(index):
            target = SCRATCH.path / f"concurrent{index}.json"
            run(*RUN, f"--stats={target}", "--", "sh", "-c", f"true; echo {index} | cat")
            results[index] = json.loads(target.read_text())

        results = {}
        threads = [threading.Thread(target=one, args=(index,)) for index in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for index, stats in results.items():
            self.assertEqual(sorted(entry["argv"][0] for entry in stats["programs"]), ["cat", "sh"])
            self.assertEqual(stats["programs"][0]["argv"][2], f"true; echo {index} | cat")


class Recognition(unittest.TestCase):
    def test_engine_gets_the_programs_own_arguments(self):
        done = run(*RUN, "--", known_sort(), "-k", "1", SCRATCH.big)
        self.assertEqual(done.returncode, 42)
        self.assertEqual(done.stdout.decode().splitlines(),
                         [f"TAKEN sort:coreutils:9.1:{known_sort()}", f"ARG {known_sort()}",
                          "ARG -k", "ARG 1", f"ARG {SCRATCH.big}"])

    def test_argv0_is_kept(self):
        done = run("bash", "-c", 'exec -a odd/name "$1" "$2"', "bash", known_sort(), SCRATCH.big,
                   env=environment(LD_PRELOAD=str(TREE / "lib/libhoist_preload.so")))
        self.assertIn(b"\nARG odd/name\n", done.stdout)

    def test_a_renamed_program_is_recognised(self):
        renamed = SCRATCH.path / "renamed"
        shutil.copy(known_sort(), renamed)
        self.assertEqual(reason_of(renamed, SCRATCH.big), "TAKEN")

    def test_found_in_the_path_as_exec_finds_it(self):
        known = known_sort().parent
        (SCRATCH.path / "folder/sort").mkdir(parents=True)
        (SCRATCH.path / "plain").mkdir()
        (SCRATCH.path / "plain/sort").write_bytes(known_sort().read_bytes())  # not executable
        (SCRATCH.path / "script").mkdir()
        (SCRATCH.path / "script/sort").write_text("#!/bin/sh\necho script\n")
        (SCRATCH.path / "script/sort").chmod(0o755)
        others = ":".join(str(SCRATCH.path / name) for name in ("missing", "folder", "plain"))
        for path, expected in ((f"{others}:{known}", b"TAKEN"), ("", b"TAKEN"),
                               (f"/missing::{SCRATCH.path}/script", b"TAKEN"),
                               (f"{SCRATCH.path}/script:{known}", b"script"), ("/missing", b"")):
            with self.subTest(path=path):
                done = run(*RUN, "--", "sort", SCRATCH.big, env=environment(PATH=path), cwd=known)
                self.assertEqual(done.stdout[:len(expected) or None].split()[:1],
                                 expected.split()[:1])
                self.assertEqual(done.returncode, {b"TAKEN": 42, b"script": 0, b"": 127}[expected])

    def test_another_program_of_that_name_is_not(self):
        fake = SCRATCH.path / "fake/sort"
        fake.parent.mkdir()
        shutil.copy(program("cat"), fake)
        self.assertEqual(reason_of(fake, SCRATCH.big), "build-id unknown")

    def test_users_table(self):
        learnt = SCRATCH.path / "learnt/sort"
        learnt.parent.mkdir()
        copy_with_build_id(SORT, learnt, bytes(range(20)))
        home = SCRATCH.path / "data"
        (home / "hoist").mkdir(parents=True)
        table = home / "hoist/programs"
        env = environment(XDG_DATA_HOME=str(home))
        self.assertEqual(reason_of(learnt, SCRATCH.big, env=env), "build-id unknown")
        table.write_text(f"# ours\n{bytes(range(20)).hex()} sort coreutils 9.3\n")
        table.chmod(0o600)
        self.assertEqual(reason_of(learnt, SCRATCH.big, env=env), "TAKEN")
        self.assertEqual(reason_of(learnt, SCRATCH.big,
                                   env=environment(HOME=str(SCRATCH.path))), "build-id unknown")
        other_name = learnt.with_name("sha256sum")  # one binary, many programs
        os.link(learnt, other_name)
        self.assertEqual(reason_of(other_name, SCRATCH.big, env=env), "learnt under another name")
        table.chmod(0o666)
        self.assertEqual(reason_of(learnt, SCRATCH.big, env=env), "build-id unknown")
        table.unlink()
        os.mkfifo(table)
        self.assertEqual(reason_of(learnt, SCRATCH.big, env=env), "build-id unknown")

    def test_started_through_the_dynamic_linker(self):
        linker = pathlib.Path("/lib64/ld-linux-x86-64.so.2")
        done = run(*RUN, "--", linker, known_sort(), SCRATCH.small)
        self.assertEqual((done.returncode, done.stdout), (0, b"a\nb\n"))
        done = run(*RUN, "--", linker, known_sort(), SCRATCH.big)
        self.assertEqual(done.stdout, run(SORT, SCRATCH.big).stdout)

    def test_missing_engine_leaves_the_original(self):
        empty = SCRATCH.tree("empty", engines=())
        target = SCRATCH.path / "missing.json"
        done = run(empty / "bin/hoist", "run", f"--stats={target}", "--", known_sort(), SCRATCH.big)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, run(SORT, SCRATCH.big).stdout, b""))
        self.assertEqual(json.loads(target.read_text())["programs"][0]["reason"],
                         "engine not found")

    def test_damaged_engine_leaves_the_original(self):
        damaged = SCRATCH.tree("damaged")
        (damaged / "libexec/hoist/hoist-sort").write_bytes(b"\x7fELF")
        done = run(damaged / "bin/hoist", "run", "--", known_sort(), SCRATCH.big)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, run(SORT, SCRATCH.big).stdout, b""))

    def test_engine_that_steps_aside(self):
        done = run(*RUN, "--", known_sort(), SCRATCH.big, env=environment(PROBE_ASIDE="1"))
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, run(SORT, SCRATCH.big).stdout, b""))


def machine_key():
    """The key that a file of decisions must hold to count here (src/takeover/decisions.h)."""
    path = SCRATCH.path / "machine-key"
    source = ('#include "takeover/decisions.c"\n'
              'int main(void) { printf("%016" PRIx64, hoist_machine_key()); return 0; }\n')
    version = run(HOIST, "--version").stdout.decode().split()[-1]
    folder = pathlib.Path(__file__).resolve().parent.parent / "src"
    if not path.exists() and compile_c(source, path, f"-I{folder}", "-D_GNU_SOURCE",
                                       f'-DHOIST_VERSION="{version}"') is None:
        raise unittest.SkipTest("needs the sources and a compiler")
    return run(path).stdout.decode()


class Placement(unittest.TestCase):
    """Decisions in a file of the user's choose between the original, one thread and all CPUs."""

    def setUp(self):
        self.key = machine_key()
        self.home = pathlib.Path(tempfile.mkdtemp(dir=SCRATCH.path))
        (self.home / "hoist").mkdir(mode=0o700)
        self.file = self.home / "hoist/decisions"
        self.env = environment(XDG_CACHE_HOME=str(self.home))
        self.kilobyte = SCRATCH.path / "kilobyte"
        self.kilobyte.write_bytes(b"b\na\n" * 256)

    def decide(self, *rows):
        self.file.unlink(missing_ok=True)
        text = "".join(f"{line}\n" for line in (f"hoist-decisions 1 {self.key}", *rows))
        self.file.write_text(text)
        self.file.chmod(0o600)

    def reason(self, *words):
        return reason_of(*words, env=self.env)

    def taken_without_counters(self, *words):
        """Through the launcher, which looks at the program before it is started."""
        return run(*RUN, "--", *words, env=self.env).stdout.startswith(b"TAKEN")

    def engine(self, *words, prefix=()):
        """What the real engine counts for a sort: implementations, reasons, the program's."""
        if not engine_is_built("sort"):
            self.skipTest("the sort engine is not built")
        target = self.home / "stats.json"
        target.unlink(missing_ok=True)
        done = run(*prefix, HOIST, "run", f"--stats={target}", "--", *words, env=self.env)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(done.stdout, run(SORT, SCRATCH.big).stdout)
        stats = json.loads(target.read_text())
        counted = stats["operations"].get("sort", {"implementations": {}, "passed": {}})
        return (set(counted["implementations"]), set(counted["passed"]),
                stats["programs"][-1]["reason"])

    def test_break_even(self):
        for rows, expected in ((["sort/C cpus=1 0 original 1024 cpu-1"], "TAKEN"),
                               (["sort/C cpus=1 0 original 1025 cpu-1"], "small input"),
                               (["sort/C cpus=1 0 original"], "small input"),
                               (["sort/C cpus=1 0 cpu-1"], "TAKEN"),
                               (["sort/numeric cpus=1 0 cpu-1"], "small input"),
                               (["sort/C cpus=100000 0 cpu-1"], "small input")):
            with self.subTest(rows=rows):
                self.decide(*rows)
                self.assertEqual(self.reason(known_sort(), self.kilobyte), expected)
                self.assertEqual(self.taken_without_counters(known_sort(), self.kilobyte),
                                 expected == "TAKEN")

    def test_variants(self):
        for row, words, env in (("sort/numeric", ["-n"], {}), ("sort/numeric", ["-k2,2g"], {}),
                                ("sort/numeric", ["-rk", "1n"], {}),
                                ("sort/numeric", ["--numeric"], {}), ("sort/C", ["-u"], {}),
                                ("sort/C", ["-to"], {"LC_ALL": "C.UTF-8"}),
                                ("sort/C", [], {"LC_ALL": "", "LC_COLLATE": "POSIX"}),
                                ("sort/locale", [], {"LC_ALL": "en_US.UTF-8"})):
            with self.subTest(row=row, words=words, env=env):
                self.decide(f"{row} cpus=1 0 cpu-1")
                found = reason_of(known_sort(), *words, self.kilobyte, env={**self.env, **env})
                self.assertEqual(found, "TAKEN")
        self.decide("hash/sha256sum cpus=1 0 cpu-1")
        self.assertEqual(self.reason(program("sha256sum"), self.kilobyte), "TAKEN")
        self.assertEqual(self.reason(program("sha256sum"), self.kilobyte, self.kilobyte),
                         "small input")

    def test_files_that_do_not_count(self):
        def cut(text):
            return text[:-1]

        row = "sort/C cpus=1 0 cpu-1"
        self.decide(row)
        good = self.file.read_text()
        for name, text in (("cut off", cut(good)), ("empty", ""), ("garbage", "\0\xff garbage\n"),
                           ("other machine", good.replace(self.key, "0123456789abcdef")),
                           ("bad row", good + "sort/C cpus=1 0\n"), ("long", good + "#" * 20000),
                           ("other format", good.replace("decisions 1", "decisions 2"))):
            with self.subTest(name=name):
                self.file.write_text(text)
                self.assertEqual(self.reason(known_sort(), self.kilobyte), "small input")
        for mode, expected in ((0o602, "small input"), (0o620, "small input"), (0o644, "TAKEN")):
            self.decide(row)
            self.file.chmod(mode)
            self.assertEqual(self.reason(known_sort(), self.kilobyte), expected)
        moved = self.file.with_name("elsewhere")
        self.file.rename(moved)
        self.file.symlink_to(moved)
        self.assertEqual(self.reason(known_sort(), self.kilobyte), "small input")
        self.file.unlink()
        os.mkfifo(self.file)
        self.assertEqual(self.reason(known_sort(), self.kilobyte), "small input")

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a file away")
    def test_another_users_file_does_not_count(self):
        self.decide("sort/C cpus=1 0 cpu-1")
        os.chown(self.file, 12345, -1)
        self.assertEqual(self.reason(known_sort(), self.kilobyte), "small input")

    def test_engine_uses_one_thread(self):
        self.decide("sort/C cpus=1 0 original 100 cpu-1")
        size = SCRATCH.big.stat().st_size
        self.assertEqual(self.engine(known_sort(), SCRATCH.big),
                         ({"cpu-1"}, set(), f"placement: cpu-1 for {size} bytes"))

    def test_waiting_timings_are_folded(self):
        run(HOIST, "tune", "--quick", "--force", "--op", "hash/sha256sum", "--seconds", "1",
            env=self.env)
        self.assertTrue((self.home / "hoist/profile.json").exists())
        timings = self.home / "hoist/timings"
        for size, left in ((8192 - 128, True), (8192, False)):  # 64 records are worth it
            timings.write_bytes(bytes(size))
            timings.chmod(0o600)
            self.assertEqual(run(*RUN, "--", "true", env=self.env).returncode, 0)
            self.assertEqual(timings.exists(), left)

    def test_one_cpu_is_never_all(self):
        self.decide("sort/C cpus=1 0 original 100 cpu-all")
        cpu = min(os.sched_getaffinity(0))
        found = self.engine(known_sort(), SCRATCH.big, prefix=(program("taskset"), "-c", cpu))
        self.assertEqual(found[0], {"cpu-1"})
        self.assertRegex(found[2], "^placement: cpu-1 for")
        if len(os.sched_getaffinity(0)) > 1:
            self.env["HOIST_THREADS"] = "2"  # whatever else runs
            self.assertEqual(self.engine(known_sort(), SCRATCH.big)[0], {"cpu-all"})

    def test_engine_goes_back_where_the_original_is_faster(self):
        # Ahead at first, so that the preload library takes the program over.
        self.decide("sort/C cpus=1 0 cpu-1 1000 original 1099511627776 cpu-all")
        reason = "placement: the original is faster below 1099511627776 bytes"
        self.assertEqual(self.engine(known_sort(), SCRATCH.big), (set(), {reason}, reason))
        # Who asks for the engine gets it.
        done = run(HOIST, "sort", SCRATCH.big, env={**self.env, "PATH": f"{known_sort().parent}"})
        self.assertEqual(done.stdout, run(SORT, SCRATCH.big).stdout)
        target = self.home / "stats.json"
        run(HOIST, "run", f"--stats={target}", "--", HOIST, "sort", SCRATCH.big, env=self.env)
        self.assertEqual(json.loads(target.read_text())["programs"][-1]["reason"],
                         "asked for by name")


class Objections(unittest.TestCase):
    def test_arguments(self):
        big, small = SCRATCH.big, SCRATCH.small
        folder = SCRATCH.path / "known"
        for words, expected in (
                ([big], "TAKEN"), ([small], "small input"), ([small, big], "TAKEN"),
                (["-k", "2", small], "small input"), (["-k2", "-t", ",", big], "TAKEN"),
                (["--key", "2", "--output", "out", small], "small input"),
                (["+1", "-2", small], "small input"), ([folder], "TAKEN"),
                (["-R", big], "random order"), (["-nR", big], "random order"),
                (["-k1,1R", big], "random order"), (["-k", "1R", big], "random order"),
                (["--sort=random", big], "random order"), (["--random-sort", big], "random order"),
                (["-t", "R", big], "TAKEN"), (["-tR", big], "TAKEN"), (["-oR", big], "TAKEN"),
                (["--debug", big], "--debug"), (["--version-sort", big], "TAKEN"),
                (["--version"], "prints only help or a version"),
                (["--help"], "prints only help or a version"),
                (["--files0-from", small], "TAKEN"), (["--files0-from=x"], "TAKEN"),
                ([], "standard input is a character device"),
                (["--", "-missing"], "small input")):
            with self.subTest(words=words):
                self.assertEqual(reason_of(known_sort(), *words, cwd=SCRATCH.path), expected)

    def test_hash_and_gzip_arguments(self):
        big, small = SCRATCH.big, SCRATCH.small
        many = [str(small)] * 512
        packed = SCRATCH.path / "packed.gz"
        packed.write_bytes(os.urandom(200000))
        without_suffix = packed.with_suffix("")
        for name, words, expected in (
                ("sha256sum", [big], "TAKEN"), ("sha256sum", [small], "small input"),
                ("sha256sum", many, "TAKEN"), ("sha256sum", many[:511], "small input"),
                ("sha256sum", ["-c", small], "TAKEN"), ("md5sum", ["--check", small], "TAKEN"),
                ("b2sum", ["-l", "256", small], "small input"),
                ("cksum", ["-a", "crc", small], "small input"), ("md5sum", [big], "small input"),
                ("md5sum", [big, big, big], "TAKEN"),
                ("gzip", ["-k", big], "compression"), ("gzip", ["-9", big], "compression"),
                ("gzip", ["-dc", packed], "TAKEN"), ("gzip", ["-t", packed], "TAKEN"),
                ("gzip", ["-l", packed], "TAKEN"), ("gzip", ["-cd", without_suffix], "TAKEN"),
                ("gzip", ["--decompress", "-c", packed], "TAKEN"),
                ("gzip", ["--suffix", "d", "-k", big], "compression"),
                ("gzip", ["-S", "d", "-kc", big], "compression"),
                ("gzip", ["-dc", small], "small input"),
                ("gzip", ["-L"], "prints only help or a version")):
            with self.subTest(name=name, words=words):
                reason = reason_of(program(name), *words)
                if reason == "build-id unknown":
                    self.skipTest(f"this build of {name} is not in the table")
                self.assertEqual(reason, expected)

    def test_standard_input(self):
        with open(SCRATCH.big, "rb") as big, open(SCRATCH.small, "rb") as small:
            self.assertEqual(reason_of(known_sort(), stdin=big), "TAKEN")
            self.assertEqual(reason_of(known_sort(), stdin=small), "small input")
            big.seek(-10, os.SEEK_END)
            os.lseek(big.fileno(), -10, os.SEEK_END)
            self.assertEqual(reason_of(known_sort(), "-", stdin=big), "small input")
        # A whole pipe is there before the program starts, so nothing here depends on timing.
        for size, expected in ((10, "small input"), (40000, "TAKEN")):
            reader, writer = os.pipe()
            os.write(writer, b"x" * size)
            os.close(writer)
            with self.subTest(size=size):
                self.assertEqual(reason_of(known_sort(), stdin=reader), expected)
            os.close(reader)
        done = run("sh", "-c", "exec \"$@\" <&-", "sh", *RUN, "--", known_sort())
        plain = run("sh", "-c", "exec \"$@\" <&-", "sh", known_sort())
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (plain.returncode, plain.stdout, plain.stderr))

    def test_switches(self):
        for changes, expected in (
                ({"HOIST": "off"}, "HOIST=off"), ({"HOIST": "OFF"}, "HOIST=off"),
                ({"HOIST": "0"}, "HOIST=off"), ({"HOIST": "on"}, "TAKEN"),
                ({"HOIST_OPS": "hash"}, "switched off by HOIST_OPS"),
                ({"HOIST_OPS": "-sort"}, "switched off by HOIST_OPS"),
                ({"HOIST_OPS": "+hash"}, "TAKEN"), ({"HOIST_OPS": "hash,sort"}, "TAKEN"),
                ({"HOIST_OPS": "hash,+sort"}, "TAKEN"), ({"HOIST_OPS": "-hash,-gunzip"}, "TAKEN"),
                ({"HOIST_OPS": "sorted"}, "TAKEN"), ({"HOIST_OPS": "sorted,sort"}, "TAKEN"),
                ({"HOIST_OPS": "sorted,hash"}, "switched off by HOIST_OPS")):
            with self.subTest(**changes):
                self.assertEqual(reason_of(known_sort(), SCRATCH.big, env=environment(**changes)),
                                 expected)
        done = run(*RUN, "--ops", "-sort", "--", known_sort(), SCRATCH.big)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_values_that_mean_nothing(self):
        variables = {"HOIST_OPS": "sort,sorted", "HOIST_THREADS": "abc", "HOIST_GPU": "cuda",
                     "HOIST_VERIFY": "often", "HOIST_LOG": "all"}
        for command in (RUN + ["--explain", "--", "true"], [HOIST, "doctor"], [HOIST, "options"],
                        [HOIST, "explain", "sort"]):
            done = run(*command, env=environment(**variables))
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = [line for line in done.stderr.decode().splitlines() if "warning" in line]
            self.assertEqual(len(lines), len(variables), lines)
            self.assertEqual(lines[0], "hoist: warning: no operation sorted (HOIST_OPS): "
                             "it is left out, `hoist options` lists them")
            self.assertIn("hoist: warning: abc is no whole number from 1 (HOIST_THREADS): the CPUs "
                          "that affinity and cgroup allow count", lines)
        # Where nobody asks, a program's streams are its own.
        log = SCRATCH.path / "values.log"
        for command in (RUN + ["--", "true"], [HOIST, "sort", "/dev/null"]):
            for changes in ({}, {"HOIST_LOG_FILE": str(log)}):
                log.write_text("")
                done = run(*command, env=environment(**variables, **changes))
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
            lines = [line.split("warn: ")[1] for line in log.read_text().splitlines()]
            self.assertEqual(len(lines), len(variables), lines)
            self.assertIn("often is no share from 0 to 1 (HOIST_VERIFY): nothing is verified", lines)

    def test_environment(self):
        for changes, expected in (
                ({"LD_BIND_NOW": "1"}, "TAKEN"),
                ({"LD_PROFILE_OUTPUT": "/tmp"}, "an LD_ variable asks for more"),
                ({"MALLOC_PERTURB_": "7"}, "malloc debugging is on"),
                ({"MALLOC_ARENA_MAX": "2"}, "TAKEN"),
                ({"_POSIX2_VERSION": "199209"}, "_POSIX2_VERSION is set"),
                ({"POSIXLY_CORRECT": "1"}, "TAKEN"), ({"LC_ALL": "C.UTF-8"}, "TAKEN")):
            with self.subTest(**changes):
                self.assertEqual(reason_of(known_sort(), SCRATCH.big, env=environment(**changes)),
                                 expected)


    def test_library_path(self):
        shadow = SCRATCH.path / "shadow"
        shadow.mkdir()
        libraries = run("ldd", SORT).stdout.decode().split()
        libc = next(word for word in libraries if word.endswith("/libc.so.6"))
        for name in ("libstdc++.so.6", "libgcc_s.so.1", "libm.so.6"):  # engines need only libc
            (shadow / name).write_bytes(b"")
        env = environment(LD_PRELOAD=str(TREE / "lib/libhoist_preload.so"),
                          LD_LIBRARY_PATH=f"/nowhere:{shadow}")
        self.assertEqual(run(known_sort(), SCRATCH.big, env=env).returncode, 42)
        shutil.copy(libc, shadow)
        self.assertEqual(run(known_sort(), SCRATCH.big, env=env).returncode, 0)

    @unittest.skipIf(os.environ.get("HOIST_SANITIZE"), "sanitizers reserve address space")
    def test_limited_address_space(self):
        done = run("sh", "-c", "ulimit -v 1000000; exec \"$@\"", "sh", *RUN, "--", known_sort(),
                   SCRATCH.big)
        self.assertEqual(done.returncode, 0)


class OtherPreloads(unittest.TestCase):
    def library(self, *patterns):
        for pattern in patterns:
            for path in sorted(pathlib.Path("/usr/lib").glob(pattern)):
                return str(path)
        raise unittest.SkipTest(f"{patterns[0]} is not installed")

    @unittest.skipIf(os.environ.get("HOIST_SANITIZE"), "sanitizers bring an allocator of their own")
    def test_allocator(self):
        jemalloc = self.library("*/libjemalloc.so.2")
        for value in (jemalloc, f"{jemalloc}:{TREE}/lib/libhoist_preload.so"):
            env = environment(LD_PRELOAD=value)
            self.assertEqual(reason_of(known_sort(), SCRATCH.big, env=env), "TAKEN")
            self.assertEqual(run(*RUN, "--", "echo", "x", env=env).stdout, b"x\n")

    def test_another_tree_gives_way_to_ours(self):
        other = SCRATCH.tree("other-tree", engines=())
        for value in (f"{other}/lib/libhoist_preload.so",
                      f"{other}/lib/hoist/$LIB/libhoist_preload.so",
                      f"{other}/lib/libhoist_preload.so:{TREE}/lib/libhoist_preload.so"):
            env = environment(LD_PRELOAD=value)
            with self.subTest(value=value):
                self.assertEqual(reason_of(known_sort(), SCRATCH.big, env=env), "TAKEN")
                done = run(*RUN, "--", "sh", "-c", "echo $LD_PRELOAD", env=env)
                self.assertEqual(done.stdout.count(b"libhoist_preload.so"), 1)

    def test_libfaketime(self):
        faketime = self.library("*/faketime/libfaketime.so.1")
        env = environment(LD_PRELOAD=faketime, FAKETIME="@2001-01-01 00:00:00", TZ="UTC0")
        self.assertEqual(reason_of(known_sort(), SCRATCH.big, env=env),
                         "LD_PRELOAD holds another library")
        self.assertEqual(run(*RUN, "--", "date", "+%Y", env=env).stdout, b"2001\n")

    def test_stdbuf(self):
        program("stdbuf")
        done = run(*RUN, "--", "stdbuf", "-oL", known_sort(), SCRATCH.big)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, run(SORT, SCRATCH.big).stdout, b""))


class Children(unittest.TestCase):
    def taken(self, *command, **options):
        stats, done = stats_of(*command, **options)
        return done.stdout.count(b"TAKEN"), stats

    def test_shell_pipeline(self):
        count, _ = self.taken("sh", "-c", f"{known_sort()} {SCRATCH.big} | grep TAKEN")
        self.assertEqual(count, 1)

    def test_xargs(self):
        count, _ = self.taken("xargs", "-n", "1", known_sort(),
                              input=b"%s\n" % str(SCRATCH.big).encode() * 3)
        self.assertEqual(count, 3)

    def test_python_subprocess(self):
        for how in ("subprocess.run(command)",
                    "subprocess.run(command, close_fds=False)",
                    "subprocess.run(command, preexec_fn=lambda: None)",
                    "os.waitpid(os.posix_spawn(command[0], command, os.environ), 0)",
                    "os.spawnv(os.P_WAIT, command[0], command)"):
            with self.subTest(how=how):
                count, _ = self.taken(sys.executable, "-c",
                                      "import os, subprocess, sys; command = sys.argv[1:]; " + how,
                                      known_sort(), SCRATCH.big)
                self.assertEqual(count, 1)

    def test_vfork(self):
        source = ("#define _GNU_SOURCE\n#include <unistd.h>\n#include <sys/wait.h>\n"
                  "int main(int c, char** v) { int status; pid_t pid = vfork();\n"
                  "if (pid == 0) { execv(v[1], v + 1); _exit(1); }\n"
                  "waitpid(pid, &status, 0); return WEXITSTATUS(status); }\n")
        binary = compile_c(source, SCRATCH.path / "vfork")
        self.assertEqual(run(*RUN, "--", binary, known_sort(), SCRATCH.big).returncode, 42)

    def test_cleared_environment_runs_without_us(self):
        done = run(*RUN, "--", "env", "-i", known_sort(), SCRATCH.big)
        self.assertEqual((done.returncode, done.stdout), (0, run(SORT, SCRATCH.big).stdout))

    def test_setuid(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to make a setuid program of another user")
        setuid = pathlib.Path("/usr/local/bin") / f"hoist-test-setuid-{os.getpid()}"
        shutil.copy(known_sort(), setuid)
        self.addCleanup(setuid.unlink)
        os.chown(setuid, 65534, 65534)
        setuid.chmod(0o4755)
        SCRATCH.path.chmod(0o755)
        done = run(*RUN, "--", setuid, SCRATCH.big)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, run(SORT, SCRATCH.big).stdout, b""))

    def test_raised_privileges_that_were_there_before(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to give away the real user")
        source = ("#include <unistd.h>\nint setresuid(uid_t, uid_t, uid_t);\n"
                  "int main(int c, char** v) { (void)c; if (setresuid(65534, 0, 0) != 0) return 1;\n"
                  "execv(v[1], v + 1); return 1; }\n")
        binary = compile_c(source, SCRATCH.path / "raise")
        if binary is None:
            self.skipTest("no compiler")
        SCRATCH.path.chmod(0o755)
        done = run(binary, *RUN, "--", known_sort(), SCRATCH.big)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, run(SORT, SCRATCH.big).stdout, b""))

    def test_static_program(self):
        binary = compile_c("#include <stdio.h>\nint main(void) { puts(\"static\"); return 4; }\n",
                           SCRATCH.path / "static", "-static")
        if binary is None:
            self.skipTest("no static C library")
        for options in ((), ("--stats=/dev/null",)):
            done = run(*RUN, *options, "--", binary)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (4, b"static\n", b""))

    def test_program_with_its_own_cxx_library(self):
        source = ("#include <iostream>\n#include <stdexcept>\n"
                  "struct Early { Early() { std::cout << \"early \"; } } early;\n"
                  "int main(int, char**, char** env) { try { throw std::runtime_error(\"caught\"); }\n"
                  "catch (const std::exception& e) { std::cout << e.what() << (env != nullptr)\n"
                  "<< std::endl; } return 3; }\n")
        for flags in ((), ("-static-libstdc++", "-static-libgcc")):
            binary = compile_c(source, SCRATCH.path / "cxx", "-x-c++", *flags)
            if binary is None:
                self.skipTest("no C++ compiler")
            done = run(*RUN, "--", binary)
            self.assertEqual((done.returncode, done.stdout), (3, b"early caught1\n"))

    def test_forks_and_threads(self):
        source = ("#include <pthread.h>\n#include <stdio.h>\n#include <sys/wait.h>\n"
                  "#include <unistd.h>\n"
                  "static void* one(void* x) { return x; }\n"
                  "int main(void) { int bad = 0; for (int i = 0; i < 200; ++i) { pthread_t t;\n"
                  "pthread_create(&t, 0, one, 0); pid_t p = fork(); if (p == 0) {\n"
                  "if (i % 10 == 0) execl(\"/bin/true\", \"true\", (char*)0); _exit(0); }\n"
                  "int s; waitpid(p, &s, 0); bad |= s; pthread_join(t, 0); } return bad != 0; }\n")
        binary = compile_c(source, SCRATCH.path / "forks", "-pthread")
        stats, done = stats_of(binary)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(len(stats["programs"]), 21)

    def test_more_programs_than_slots(self):
        # No more are recorded than fit; all of them run.
        stats, done = stats_of("sh", "-c", "i=0; while [ $i -lt 40 ]; do /bin/true $i; "
                               "i=$((i+1)); done; echo $i")
        self.assertEqual((done.stdout, len(stats["programs"])), (b"40\n", 41))


class Environment(unittest.TestCase):
    def variables(self, *command, env=None):
        return set(run(*command, env=env).stdout.split(b"\0")) - {b""}

    def test_nothing_leaks(self):
        plain = self.variables("env", "-0")
        added = self.variables(*RUN, "--", "env", "-0") - plain
        self.assertEqual([entry.split(b"=")[0] for entry in added], [b"LD_PRELOAD"])
        added = self.variables(*RUN, "--ops", "sort", "--stats=/dev/null", "--verify=0.5", "--",
                               "env", "-0") - plain
        self.assertEqual({entry.split(b"=")[0] for entry in added},
                         {b"LD_PRELOAD", b"HOIST_OPS", b"HOIST_COUNTERS", b"HOIST_VERIFY"})

    def test_off_adds_nothing(self):
        env = environment(HOIST="off")
        self.assertEqual(self.variables(*RUN, "--", "env", "-0", env=env),
                         self.variables("env", "-0", env=env))

    def test_engine_sees_the_programs_environment(self):
        env = environment(PROBE_ENVIRONMENT="1", EMPTY="", ODD="a=b c")
        done = run(known_sort(), SCRATCH.big,
                   env={**env, "LD_PRELOAD": str(TREE / "lib/libhoist_preload.so")})
        seen = {line[4:] for line in done.stdout.decode().splitlines() if line.startswith("ENV ")}
        expected = {f"{name}={value}" for name, value in env.items()}
        self.assertEqual({entry.split("=")[0] for entry in seen - expected},
                         {"HOIST_TAKEOVER", "HOIST_RECOGNISED", "LD_PRELOAD"})
        self.assertEqual(expected - seen, set())

    def test_skip_mark_is_removed(self):
        # Only for the process whose number it holds; another's is left for it.
        env = environment(LD_PRELOAD=str(PRELOAD))
        script = "HOIST_SKIP=$$ exec env -0"
        self.assertNotIn(b"HOIST_SKIP", run("sh", "-c", script, env=env).stdout)
        self.assertIn(b"HOIST_SKIP=1\0", run("env", "-0", env={**env, "HOIST_SKIP": "1"}).stdout)

    def test_our_library_is_added_once(self):
        done = run(*RUN, "--", *RUN, "--", "sh", "-c", "echo $LD_PRELOAD")
        self.assertEqual(done.stdout.count(b"libhoist_preload.so"), 1)

    def test_unusable_counters_are_ignored(self):
        for path in ("/no/such/file", "/dev/null", "/etc/passwd", str(SCRATCH.small), ""):
            done = run("echo", "x", env=environment(LD_PRELOAD=str(PRELOAD), HOIST_COUNTERS=path))
            self.assertEqual((done.stdout, done.stderr), (b"x\n", b""))


class Places(unittest.TestCase):
    def check(self, hoist):
        done = run(hoist, "run", "--", known_sort(), SCRATCH.big)
        self.assertEqual((done.returncode, done.stderr), (42, b""))

    def test_odd_paths(self):
        for name in ("with space", "with:colon", "with$LIB", "with  two; and 'quotes'"):
            with self.subTest(name=name):
                self.check(SCRATCH.tree(name) / "bin/hoist")

    def test_copied_tree(self):
        for flags in ("-r", "-rL"):  # links stay links, or become files of their own
            copy = SCRATCH.path / f"copy{flags}"
            subprocess.run(["cp", flags, TREE, copy], check=True)
            self.check(copy / "bin/hoist")

    def test_started_through_a_link(self):
        link = SCRATCH.path / "link-to-hoist"
        link.symlink_to(TREE / "bin/hoist")
        self.check(link)

    def test_missing_preload_library(self):
        broken = SCRATCH.tree("broken")
        (broken / "lib/libhoist_preload.so").unlink()
        done = run(broken / "bin/hoist", "run", "--", "true")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, rb"^hoist: error: the preload library is missing \(.+\): ")

    def test_missing_command_line(self):
        broken = SCRATCH.tree("without-command-line")
        (broken / "libexec/hoist/hoist-command-line").unlink()
        self.check(broken / "bin/hoist")
        done = run(broken / "bin/hoist", "options")
        self.assertEqual((done.returncode, done.stdout), (3, b""))
        self.assertRegex(done.stderr, rb"^hoist: error: cannot start the command line "
                                      rb"\(.+: No such file or directory\): install Hoist whole\n$")

    def test_too_many_arguments(self):
        env = {"PATH": "/usr/bin:/bin"}
        for free in range(0, 400, 20):  # the command line's path is longer than ours
            size = 2 ** 21 - free - 16 * (130000 + 9) - 2 * (len(str(TREE)) + 40)
            arguments = ["x" * 130000] * 16 + ["y" * max(size, 1)]
            with self.subTest(free=free):
                try:
                    done = run(*RUN, "--bad", *arguments, env=env)
                except OSError:
                    continue
                self.assertIn(done.returncode, (1, 2))
                self.assertNotIn(b"install", done.stderr)

    def test_other_word_size_finds_a_library_of_its_own(self):
        folder = BUILD / "lib/hoist/lib/i386-linux-gnu"
        if not folder.is_dir():
            self.skipTest("built without a 32-bit compiler")
        self.assertEqual((folder / PRELOAD.name).read_bytes()[:5], b"\x7fELF\x01")


if __name__ == "__main__":
    if SORT is None or build_id_offset(pathlib.Path(SORT).read_bytes()) is None:
        print("run_test: skipped: no GNU sort with a build-id here")
        sys.exit(77)
    unittest.main()
