#!/usr/bin/env python3
"""The sort engine against the installed sort: options, locales, odd inputs, odd surroundings."""

import concurrent.futures
import os
import shutil
import signal
import subprocess
import sys
import unittest

import sort_pair
from sort_pair import Case

FOLDER = None
LOCALES = []


def setUpModule():
    global FOLDER, LOCALES
    FOLDER = sort_pair.temporary_folder("sort")
    locale_folder = os.path.join(FOLDER, "locales")
    os.makedirs(locale_folder)
    LOCALES = sort_pair.compile_locales(locale_folder)


def locale_environment(name):
    return {"LC_ALL": name, "LOCPATH": os.path.join(FOLDER, "locales")}


INPUTS = {
    "empty": b"",
    "a newline": b"\n",
    "newlines": b"\n\n\n",
    "no final newline": b"b\na\nc",
    "one line without newline": b"x",
    "NULs": b"a\0b\na\0a\na\n\0\n\0\0\na\0\n\x01\n",
    "invalid UTF-8": b"\xff\n\xc3\n\xc3\xa4\n\xe4\n\x80\x80\na\xffb\na\n\xed\xa0\x80\n",
    "equal keys": b"1 b\n1 a\n01 b\n 1 b\n1 b\n1.0 a\n1\n",
    "blanks": b"  b  1\n\tb\t1\n b 1\nb\n   \n\t\na   b c\n a b  c\n",
    "carriage returns": b"b\r\na\r\n\r\n1\r\n",
    "numbers": b"10\n9\n-3\n-3.5\n1,000\n1.000\n0\n-0\n+4\n.5\n,5\n1e3\n0x1F\nnan\n-inf\ninf\nx\n"
               b"3K\n2M\n4k\n5m\n",
    "versions": b"a-1.10\na-1.9\na-1.9~rc\na-1.9.tar.gz\n.\n..\n.b\n\na1\na01\na001\nA~\n",
    "months": b"Mar\nmay\nJAN\n dec\nxyz\njune\nM\xc3\xa4r\nfeb 2\nfeb 1\n",
    "letters": "b\nB\na\nA\n\u00e4\n\u00c4\nz\n_a\n-b\nco-op\ncoop\nCo op\nzo\u00eb\n"
               "zoe\n".encode(),
    "fields": b"a,3,x\nb,,y\n,1\nc\n,,\nb,2,x\na,3\nb,10,x\n",
}

ORDERS = [
    "", "-r", "-u", "-s", "-f", "-d", "-i", "-df", "-fi", "-b", "-n", "-nr", "-nu", "-ns", "-g",
    "-gr", "-h", "-hr", "-fh", "-M", "-Mr", "-V", "-Vr", "-z", "-zu", "-k2", "-k2,2", "-k2n",
    "-k2b,2 -k1,1r", "-k1.2,1.3", "-k1.2b,2.1b", "-t, -k2", "-t, -k2,2n -k1,1",
    "-t, -k2,2nr -k3 -s", "-t, -k2,2 -u", "-rs -k1,1", "+1", "+1 -2", "+0.1n -1", "-fu", "-bu",
    "-nk1,1 -rk2", "-t\\0 -k2", "-k9", "-k2,1",
]


class Comparison(unittest.TestCase):
    """Cases run on two threads; the first differences are reported."""

    def check_all(self, cases):
        def told(numbered):
            index, case = numbered
            folder = os.path.join(FOLDER, f"{self.id()}-{index}")
            found = sort_pair.difference(case, folder)
            shutil.rmtree(folder, ignore_errors=True)
            return f"\n{case.shell()}\n{found}" if found else ""

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            differences = [text for text in pool.map(told, enumerate(cases)) if text]
        self.assertFalse(differences, f"{len(differences)} differ: " + "".join(differences[:5]))

    def check(self, arguments, **rest):
        self.check_all([Case(arguments, **rest)])


class MatrixTest(Comparison):
    def matrix(self, locale, orders):
        cases = []
        for order in orders:
            for number, data in enumerate(INPUTS.values()):
                if "z" in order.split(" ")[0]:
                    data = data.replace(b"\n", b"\0")
                case = Case(order.split(), environment=locale_environment(locale))
                if number % 3 == 0:
                    case.files["in"] = data
                    case.arguments.append("in")
                else:
                    case.stdin = data
                    case.stdin_is_file = number % 3 == 1
                case.stdout_is_file = number % 2 == 0
                cases.append(case)
        return cases

    def test_in_c(self):
        self.check_all(self.matrix("C", ORDERS))

    def test_in_other_locales(self):
        cases = []
        for locale in LOCALES[1:]:
            cases += self.matrix(locale, ORDERS if locale == "en_US.UTF-8" else ORDERS[::5])
        self.check_all(cases)

    def test_most_is_taken_over(self):
        log = os.path.join(FOLDER, "log")
        for number, order in enumerate(ORDERS):
            case = Case(order.split(), stdin=b"b\na\n", environment=locale_environment("C"))
            sort_pair.run(case, os.path.join(FOLDER, f"taken-{number}"), True, log)
        with open(log) as file:
            taken = sum("taken over" in line for line in file)
        self.assertEqual(taken, len(ORDERS))

    def test_long_lines(self):
        line = b"lorem ipsum " * (10 << 20 >> 4) + b"\n"
        data = b"short\n" + line + b"b 2\n" + line.replace(b"m i", b"m j", 1) + line
        for locale in ("C", "en_US.UTF-8"):
            if locale in LOCALES:
                self.check_all([Case(arguments, stdin=data, environment=locale_environment(locale))
                                for arguments in ([], ["-u"], ["-k2"], ["-n"])])


class FilesTest(Comparison):
    FILES = {"a": b"c\na\n", "b": b"b\nd", "e": b""}

    def test_operands(self):
        many = {f"f{i:03}": f"{i * 7 % 100}\nx{i}\n".encode() for i in range(100)}
        self.check_all([
            Case(["a", "b", "e"], files=self.FILES),
            Case(["a", "-", "b"], files=self.FILES, stdin=b"z\nA\n"),
            Case(["-", "-"], stdin=b"z\nA\n"),
            Case(["-", "-"], stdin=b"z\nA\n", stdin_is_file=True),
            Case(["a", "a", "a"], files=self.FILES),
            Case(sorted(many), files=many),
            Case(["-n", "--batch-size=2", "-S1k", *many], files=many),
            Case(["missing"]),
            Case(["a", "missing", "b"], files=self.FILES),
            Case(["missing", "gone"]),
            Case(["."]),
            Case(["a", "."], files=self.FILES),
            Case(["-c", "."]),
            Case(["-m", ".", "a"], files=self.FILES),
            Case(["--", "-a"], files={"-a": b"2\n1\n"}),
            Case([""]),
        ])

    def test_output(self):
        files = {**self.FILES, "out": b"old content that is longer than the new\n"}
        self.check_all([
            Case(["a", "-o", "new"], files=files),
            Case(["a", "-o", "new"], files=files, umask=0o077),
            Case(["a", "-oout", "b"], files=files),
            Case(["a", "-o", "a"], files=files),
            Case(["-m", "a", "b", "-o", "a"], files=files),
            Case(["-m", "e", "b", "-o", "b"], files=files),
            Case(["-S1k", "a", "-o", "a"], files={"a": b"".join(b"%d\n" % (i * 7919 % 9999)
                                                                  for i in range(9999))}),
            Case(["-o", "missing/out", "a"], files=files),
            Case(["-o", ".", "a"], files=files),
            Case(["-o", "/dev/full", "a"], files=files),
            Case(["-o", "/dev/null", "a"], files=files),
            Case(["-o", "out", "missing"], files=files),
            Case(["-o", "a", "-o", "a", "a"], files=files),
        ])

    def test_file_lists(self):
        lists = {**self.FILES, "list": b"a\0b\0", "open": b"a\0b", "empty": b"", "gap": b"a\0\0b\0",
                 "input": b"a\0-\0", "gone": b"a\0missing\0"}
        cases = [Case([f"--files0-from={name}"], files=lists, stdin=b"s\n") for name in lists]
        cases += [Case(["--files0-from=-"], files=lists, stdin=data, stdin_is_file=is_file)
                  for data in lists.values() for is_file in (False, True)]
        cases += [Case(["--files0-from=missing"]), Case(["--files0-from=."]),
                  Case(["--files0-from=list", "a"], files=lists),
                  Case(["--files0-from=list", "-c"], files=lists),
                  Case(["--files0-from=list", "-m", "-o", "a"], files=lists)]
        self.check_all(cases)

    def test_merge(self):
        files = {"a": b"1\n3\n5\n", "b": b"2\n3\n4\n", "c": b"3", "d": b"", "u": b"9\n1\n5\n"}
        commands = ("a b c d", "a - b", "-u a b c", "-r u a", "-n --batch-size=2 a b c d a b c d a",
                    "-s a a", "", "a", "u", "-o a a b", "-k1,1 -u a b u", "missing a")
        self.check_all([Case(["-m", *command.split()], files=files, stdin=b"0\n3\n")
                        for command in commands])

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    @unittest.skipIf(os.environ.get("HOIST_COVERAGE") == "ON", "others cannot write the counts")
    def test_unreadable_files(self):
        folder = os.path.join(FOLDER, "unreadable")
        os.makedirs(folder)
        os.chmod(FOLDER, 0o755)
        os.chmod(folder, 0o777)
        for name, mode in (("shut", 0o000), ("open", 0o644)):
            with open(os.path.join(folder, name), "w") as file:
                file.write("b\na\n")
            os.chmod(os.path.join(folder, name), mode)
        # The engine in a place that another user can reach.
        engine = os.path.join(folder, "hoist-sort")
        shutil.copy(sort_pair.ENGINE, engine)
        case = Case([])

        def run(program, arguments, is_engine):
            environment = sort_pair.environment_of(case, is_engine)
            done = subprocess.run(["sort", *arguments], executable=program, cwd=folder, user=65534,
                                  group=65534, extra_groups=[], env=environment,
                                  capture_output=True, stdin=subprocess.DEVNULL, check=False)
            return done.returncode, done.stdout, done.stderr

        for arguments in (["shut"], ["open", "shut"], ["-m", "open", "shut"], ["-c", "shut"],
                          ["-o", "shut", "open"], ["open"]):
            self.assertEqual(run(engine, arguments, True),
                             run(sort_pair.ORIGINAL, arguments, False), arguments)


class CheckTest(Comparison):
    def test_messages_and_status(self):
        inputs = [b"", b"a\n", b"a\nb\nc\n", b"a\nb\na\n", b"b\na", b"a\na\n", b"a\n\n", b"\n\n",
                  b"a\nb\nb\nc\na\n", b"a\0x\na\0w\n", b"\xff\n\xfe\n", b"10\n9\n", b"1 b\n1 a\n"]
        cases = []
        for options in ("-c", "-C", "--check", "--check=quiet", "--check=silent",
                        "--check=diagnose-first", "-cu", "-Cu", "-cr", "-cn", "-cs -k1,1", "-cm",
                        "-cf", "-cuk1,1", "-c -z"):
            for data in inputs:
                cases.append(Case(options.split(), stdin=data))
                cases.append(Case([*options.split(), "f"], files={"f": data},
                                  environment=locale_environment(LOCALES[-1])))
        self.check_all(cases)

    def test_later_disorder(self):
        lines = [b"%09d" % i for i in range(200000)]
        for at in (1, 2, 65536, 199999):
            disordered = lines[:at] + [b"000000000"] + lines[at:]
            self.check(["-c"], stdin=b"\n".join(disordered) + b"\n")
            self.check(["-cu", "-k1n"], stdin=b"\n".join(disordered) + b"\n")

    def test_errors(self):
        files = {"a": b"1\n", "b": b"2\n"}
        self.check_all([Case(arguments.split(), files=files) for arguments in (
            "-c a b", "-C a b", "-c missing", "-C missing", "-c -o x a", "-cC a", "-c .")])


class CommandLineTest(Comparison):
    def test_left_to_the_original(self):
        commands = ["--help", "--version", "-R --random-source=f f", "--debug f", "-k0", "-k1.0",
                    "-k1,", "-kx", "-nM", "-t", "-tab", "-ta -tb", "-oa -ob", "-Sx", "-S1B",
                    "-S99999999999999999999", "--batch-size=1", "--batch-size=999999999",
                    "--parallel=0", "--sort=x", "--check=x", "--s", "--nonsense", "-Q", "-y f",
                    "-k1.99999999999999999999 f", "--compress-program= f"]
        self.check_all([Case(command.split(), files={"f": b"b\na\n"}) for command in commands]
                       + [Case(["-t", ""]), Case(["-o", ""])])

    def test_posix_modes(self):
        cases = []
        for environment in ({"POSIXLY_CORRECT": "1"}, {"_POSIX2_VERSION": "200112"},
                            {"_POSIX2_VERSION": "199209", "POSIXLY_CORRECT": "1"}):
            for command in ("+1 f", "f +1", "+1 -2 f", "f -r", "f -o out", "f -oout", "-r -- f",
                            "f -- -r"):
                cases.append(Case(command.split(), files={"f": b"a 2\nb 1\n"},
                                  environment=environment))
        self.check_all(cases)

    def test_translated_messages(self):
        environment = {**locale_environment("de_DE.UTF-8"), "LANGUAGE": "de"}
        commands = ("-c f", "missing", ".", "-o /dev/full f", "-o missing/x f", "-kx")
        self.check_all([Case(command.split(), files={"f": b"b\na\n"}, environment=environment)
                        for command in commands])


class SpillTest(Comparison):
    """Inputs beyond the memory limit."""

    DATA = b"".join(b"%d word%d\n" % (i * 7919 % 30011, i % 97) for i in range(30000))

    def test_orders(self):
        self.check_all([
            Case([*options.split(), "-S", size], stdin=self.DATA,
                 environment=locale_environment(locale))
            for options in ("", "-n", "-u", "-nu", "-s -k2,2", "-r -k2,2 -k1n", "-z", "-k2,2 -u")
            for size, locale in (("1b", "C"), ("100k", LOCALES[-1]))])

    def test_surroundings(self):
        arguments = ["-S1k", "--batch-size=3"]
        self.check_all([
            Case(arguments + extra, stdin=self.DATA, files={"f": self.DATA},
                 environment=environment)
            for extra, environment in (
                (["--parallel=3"], {}),
                (["-T", "."], {}),
                (["-T", ".", "-T", "/tmp", "f", "-"], {}),
                (["--compress-program=gzip"], {}),
                (["-o", "f", "f"], {}),
                (["-T", "missing"], {}),
                ([], {"TMPDIR": "/nonexistent"}),
                ([], {"TMPDIR": ""}),
            )])


class SharedOutputTest(unittest.TestCase):
    """Several sorts that write to one open file: every line arrives, as with the original."""

    def sort_together(self, texts):
        folder = sort_pair.temporary_folder("shared")
        paths = []
        for number, text in enumerate(texts):
            paths.append(os.path.join(folder, str(number)))
            with open(paths[-1], "wb") as out:
                out.write(text)
        target = os.path.join(folder, "out")
        environment = sort_pair.environment_of(Case([]), True)
        with open(target, "wb") as out:
            running = [subprocess.Popen(["sort", path], executable=sort_pair.ENGINE,
                                        env=environment, stdout=out) for path in paths]
            for process in running:
                self.assertEqual(process.wait(sort_pair.SECONDS), 0)
        with open(target, "rb") as result:
            found = result.read()
        self.assertEqual(sorted(found.splitlines()), sorted(b"".join(texts).splitlines()))

    def test_small_outputs(self):
        self.sort_together([b"line %d\n" % number for number in range(40)])

    def test_large_outputs(self):
        self.sort_together([b"".join(b"%d %d\n" % (number, i) for i in range(200000))
                            for number in range(4)])


class LongDuplicatesTest(Comparison):
    def test_pairs_of_long_lines(self):
        """Two equal lines of 4 MB under a key once took minutes; the time limit is the check."""
        text = b"y" * (4 << 20)
        for options in ([], ["-k1,1"], ["-f"], ["-u"], ["-k1,1f", "-s"], ["-d"], ["-V"]):
            self.check([*options, "in"], files={"in": text + b"\n" + text + b"\nx\n"})


class SurroundingsTest(unittest.TestCase):
    """Shell scripts in which `sort` is one of the two programs."""

    FUNCTION = 'sort() { (exec -a sort "$PROGRAM" "$@"); }\n'

    def run_script(self, script, engine, environment=None):
        folder = os.path.join(FOLDER, f"{self.id()}-{'engine' if engine else 'original'}")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        with open(os.path.join(folder, "f"), "w") as file:
            file.write("".join(f"{i * 7919 % 100003}\n" for i in range(100003)))
        surroundings = sort_pair.environment_of(Case([], environment=environment or {}), engine)
        surroundings["PROGRAM"] = sort_pair.ENGINE if engine else sort_pair.ORIGINAL
        done = subprocess.run(["bash", "-c", self.FUNCTION + script], cwd=folder, env=surroundings,
                              capture_output=True, stdin=subprocess.DEVNULL,
                              timeout=sort_pair.SECONDS, check=False)
        return done.returncode, done.stdout, done.stderr, sort_pair.contents(folder)

    def check_script(self, script, **rest):
        ours = self.run_script(script, True, **rest)
        theirs = self.run_script(script, False, **rest)
        for mine, original in zip(ours, theirs):
            self.assertEqual(mine, original, script)

    def test_closed_streams(self):
        for script in ("sort f >&-", "sort <&-", "sort f <&- >out", "sort missing 2>&-",
                       "sort f 2>&- >out", "sort f <&- >&- 2>&-", "sort -c f >&-",
                       "sort -o out f >&-", "sort - <&-", "sort --files0-from=- <&-"):
            self.check_script(script + "; echo $?")

    def test_full_device(self):
        self.check_script("sort f >/dev/full; echo $?; sort -u f >/dev/full; echo $?")
        self.check_script("echo x | sort >/dev/full; echo $?; sort /dev/null >/dev/full; echo $?")

    def test_broken_pipe(self):
        self.check_script("sort -n f | head -1; echo ${PIPESTATUS[@]}")
        self.check_script("trap '' PIPE; sort -n f | head -1; echo ${PIPESTATUS[@]}")

    def test_output_in_the_middle_of_a_file(self):
        self.check_script("(echo head; sort f; echo tail) >out")
        self.check_script("echo head >out; sort f >>out; sort -n f >>out")
        self.check_script("echo a longer first line >out; sort f 1<>out")

    def test_input_in_the_middle_of_a_file(self):
        self.check_script("(read -r first; echo $first; sort; cat) <f")
        self.check_script("(read -r first; sort - f -) <f | cksum")

    def test_odd_inputs(self):
        self.check_script("sort <.; echo $?; sort /dev/null; echo $?")
        self.check_script("sort <(head -5 f) <(tail -5 f)")
        self.check_script("mkfifo p; head -50 f >p & sort p; sort -m <(sort f) <(sort f) | cksum")
        self.check_script("printf 'f\\0f\\0' >list; (sort --files0-from=-; cat) <list | cksum")
        self.check_script("sort --files0-from=<(printf 'f\\0') | cksum")

    def test_merging_named_pipes(self):
        """Their writers see one reader, whoever merges in the end."""
        writer = "mkfifo p; (seq 100000 120000 && echo written >&2) >p & sort -n f >a; "
        for merge in ("sort -m <(seq 10 99) p", "sort -nm p a", "sort -nm p <(sort -n f) a",
                      "sort -m p a -o a", "sort -m p a >>a", "sort -m --batch-size=2 p a a",
                      "sort -m p - - <a", "ulimit -n 9; sort -m p a a a a a a"):
            self.check_script(f"{writer} {merge} | cksum; wait; cksum a")
        self.check_script("mkfifo o; sort -n f >a; cksum <o & sort -m --batch-size=2 a a a -o o; wait")

    def test_symbolic_links(self):
        self.check_script("ln -s f l; sort l | cksum; ln -s out o; sort -o o f; ls -l | wc -l")
        self.check_script("cp f g; ln -s g l; sort -o l l")

    @unittest.skipIf(os.environ.get("HOIST_COVERAGE") == "ON", "the counts are over the limit")
    def test_file_size_limit(self):
        self.check_script("trap '' XFSZ; ulimit -f 8; sort f >out; echo $?")
        self.check_script("trap '' XFSZ; ulimit -f 8; sort -o out f; echo $?")

    def test_signals_remove_temporary_files(self):
        # All of the data but what the pipe holds has been read when the last write returns, which
        # is many times the memory limit; the program then waits for more.
        data = b"".join(b"%d\n" % (i * 7919 % 1000003) for i in range(100000)) * 6
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for engine in (True, False):
                folder = os.path.join(FOLDER, f"signal-{number}-{engine}")
                os.makedirs(folder)
                program = sort_pair.ENGINE if engine else sort_pair.ORIGINAL
                with subprocess.Popen(["sort", "-S100k", "-T", folder], executable=program,
                                      env=sort_pair.environment_of(Case([]), engine),
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE) as process:
                    process.stdin.write(data)
                    process.stdin.flush()
                    process.send_signal(number)
                    process.wait(sort_pair.SECONDS)
                    self.assertEqual(process.returncode, -number)
                    self.assertEqual(process.stderr.read(), b"")
                    self.assertEqual(os.listdir(folder), [], f"{number}, engine: {engine}")


if __name__ == "__main__":
    sort_pair.skip_unless_possible()
    unittest.main(verbosity=2)
