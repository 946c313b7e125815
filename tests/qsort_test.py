#!/usr/bin/env python3
"""qsort() in programs that run under Hoist: the same results, counted, and harmless."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from hoist_tree import BUILD, HOIST, Scratch, compile_c, environment, run, tried_until

ENGINE = BUILD / "lib/libhoist_qsort.so"

PROGRAM = r"""
#define _GNU_SOURCE
#include <locale.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kMany = 120000 };
struct record { int32_t group; char tag; int64_t key; };

static uint64_t state = 1;
static uint64_t next(void) { return (state = state * 6364136223846793005u + 1442695040888963407u) >> 20; }

static int by_int(const void* a, const void* b) {
  int x = *(const int*)a, y = *(const int*)b;
  return (x > y) - (x < y);
}
static int by_difference(const void* a, const void* b) {
  return (int)(*(const unsigned*)a - *(const unsigned*)b);
}
static int by_record(const void* a, const void* b, void* context) {
  const struct record *x = a, *y = b;
  ++*(long*)context;
  if (x->group != y->group) return x->group < y->group ? 1 : -1;
  return (x->key > y->key) - (x->key < y->key);
}
static int by_string(const void* a, const void* b) { return strcmp(*(char**)a, *(char**)b); }
static int by_collation(const void* a, const void* b) { return strcoll(*(char**)a, *(char**)b); }
static int by_chance(const void* a, const void* b) {
  unsigned x = *(const unsigned*)a * 2654435761u, y = *(const unsigned*)b * 2654435761u;
  return (x > y) - (x < y);
}

static jmp_buf out;
static long countdown;
static int by_leaving(const void* a, const void* b) {
  if (--countdown == 0) longjmp(out, 1);
  return by_int(a, b);
}
static int by_forking(const void* a, const void* b) {
  if (--countdown == 0) {
    fflush(stdout);
    if (fork() != 0) wait(NULL);
  }
  return by_int(a, b);
}
static int by_sorting(const void* a, const void* b) {
  if (--countdown == 0) {
    int* inner = malloc(kMany * sizeof *inner);
    for (int i = 0; i < kMany; ++i) inner[i] = i * 7919 % 10007;
    qsort(inner, kMany, sizeof *inner, by_int);
    for (int i = 1; i < kMany; ++i) if (inner[i - 1] > inner[i]) abort();
    free(inner);
  }
  return by_int(a, b);
}

static void tell(const void* data, size_t size) {
  uint64_t hash = 14695981039346656037u;
  for (const unsigned char* p = data; size-- > 0; ++p) hash = (hash ^ *p) * 1099511628211u;
  printf("%016lx\n", (unsigned long)hash);
}
static long sum(const int* array) {
  long total = 0;
  for (int i = 0; i < kMany; ++i) total += array[i] ^ 0x55;
  return total;
}
static volatile sig_atomic_t ticks;
static void tick(int number) { (void)number; ++ticks; }

int main(int argc, char** argv) {
  const char* mode = argv[1];
  int* ints = malloc(kMany * sizeof *ints);
  for (int i = 0; i < kMany; ++i) ints[i] = (int)next();
  if (!strcmp(mode, "small")) {
    for (int i = 0; i < 100; ++i) qsort(ints + 500 * i, 500, sizeof *ints, by_int);
    tell(ints, kMany * sizeof *ints);
  } else if (!strcmp(mode, "ints")) {
    qsort(ints, kMany, sizeof *ints, by_int);
    tell(ints, kMany * sizeof *ints);
  } else if (!strcmp(mode, "overflow")) {
    qsort(ints, kMany, sizeof *ints, by_difference);
    tell(ints, kMany * sizeof *ints);
  } else if (!strcmp(mode, "chance")) {
    qsort(ints, kMany, sizeof *ints, by_chance);
    tell(ints, kMany * sizeof *ints);
  } else if (!strcmp(mode, "records")) {
    struct record* records = calloc(kMany, sizeof *records);
    for (int i = 0; i < kMany; ++i) records[i] = (struct record){(int)(next() % 9), (char)i, (int64_t)(next() % 5000)};
    long calls = 0;
    qsort_r(records, kMany, sizeof *records, by_record, &calls);
    tell(records, kMany * sizeof *records);
    if (calls == 0) abort();
  } else if (!strcmp(mode, "strings") || !strcmp(mode, "collated")) {
    const int collated = !strcmp(mode, "collated");
    if (collated && setlocale(LC_ALL, "") == NULL) return 9;
    char** strings = malloc(kMany * sizeof *strings);
    for (int i = 0; i < kMany; ++i) asprintf(&strings[i], "%s%lu", i % 3 ? "a" : "B", (unsigned long)next() % 9999);
    qsort(strings, kMany, sizeof *strings, collated ? by_collation : by_string);
    for (int i = 0; i < kMany; i += 997) puts(strings[i]);
  } else if (!strcmp(mode, "longjmp")) {
    const long before = sum(ints);
    countdown = argc > 2 ? atol(argv[2]) : 1;
    if (setjmp(out) == 0) qsort(ints, kMany, sizeof *ints, by_leaving);
    printf("%d\n", sum(ints) == before);
    qsort(ints, kMany, sizeof *ints, by_int);
    tell(ints, kMany * sizeof *ints);
  } else if (!strcmp(mode, "fork")) {
    countdown = argc > 2 ? atol(argv[2]) : 1;
    qsort(ints, kMany, sizeof *ints, by_forking);
    tell(ints, kMany * sizeof *ints);
    for (int i = 0; i < kMany; ++i) ints[i] ^= 0x2a5a5a5a;
    qsort(ints, kMany, sizeof *ints, by_int);
    tell(ints, kMany * sizeof *ints);
  } else if (!strcmp(mode, "nested")) {
    countdown = argc > 2 ? atol(argv[2]) : 1;
    qsort(ints, kMany, sizeof *ints, by_sorting);
    tell(ints, kMany * sizeof *ints);
  } else if (!strcmp(mode, "signals")) {
    signal(SIGALRM, tick);
    const struct itimerval timer = {{0, 300}, {0, 300}};
    setitimer(ITIMER_REAL, &timer, NULL);
    for (int round = 0; round < 5; ++round) {
      for (int i = 0; i < kMany; ++i) ints[i] = (int)next();
      qsort(ints, kMany, sizeof *ints, by_int);
      tell(ints, kMany * sizeof *ints);
    }
    if (ticks == 0) abort();
  } else if (!strcmp(mode, "vfork")) {
    const pid_t child = vfork();
    if (child == 0) {
      qsort(ints, kMany, sizeof *ints, by_int);
      _exit(0);
    }
    waitpid(child, NULL, 0);
    tell(ints, kMany * sizeof *ints);
  }
  return 0;
}
"""

# Programs that live in narrow or unusual circumstances.
CIRCUMSTANCES = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum { kMany = 300000, kBytes = kMany * sizeof(int), kSmallStack = 16384 };
static int* ints;

static int by_int(const void* a, const void* b) {
  int x = *(const int*)a, y = *(const int*)b;
  return (x > y) - (x < y);
}
static void sort(const char* when) {
  unsigned value = 1;
  for (int i = 0; i < kMany; ++i) ints[i] = (int)(value = value * 1664525u + 1013904223u);
  qsort(ints, kMany, sizeof *ints, by_int);
  int wrong = 0;
  for (int i = 1; i < kMany; ++i) wrong += ints[i - 1] > ints[i];
  printf("%s %d\n", when, wrong);
  fflush(stdout);
}
static void sort_late(void) { sort("late"); }
static void* sort_in_thread(void* when) {
  sort(when);
  return NULL;
}
static void* outlive(void* unused) {
  usleep(20000);
  puts("outlived");
  return unused;
}
static sigjmp_buf out;
static void leave(int number) { (void)number; siglongjmp(out, 1); }
static void unlock_page(int number, siginfo_t* info, void* unused) {
  (void)number, (void)unused;
  if (gettid() != getpid()) _exit(9);
  mprotect((void*)((unsigned long)info->si_addr & ~4095ul), 4096, PROT_READ | PROT_WRITE);
}
static void restrict_system_calls(void) {
#define ALLOW(n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, n, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_write), ALLOW(SYS_mmap), ALLOW(SYS_munmap), ALLOW(SYS_brk), ALLOW(SYS_exit_group),
      ALLOW(SYS_newfstatat), ALLOW(SYS_sysinfo),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) puts("no filter");
}

int main(int argc, char** argv) {
  const char* mode = argv[1];
  ints = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (!strcmp(mode, "atexit")) {
    atexit(sort_late);
    sort("main");
  } else if (!strcmp(mode, "small-stack")) {
    pthread_attr_t attributes;
    pthread_t thread;
    char* stack = mmap(NULL, 2 * kSmallStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(stack, kSmallStack, PROT_NONE);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack + kSmallStack, kSmallStack);
    for (int round = 0; round < 2; ++round) {
      if (pthread_create(&thread, &attributes, sort_in_thread, "thread") != 0) return 9;
      pthread_join(thread, NULL);
      sort("main");
    }
  } else if (!strcmp(mode, "thread")) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, sort_in_thread, "thread") != 0) return 9;
    pthread_join(thread, NULL);
  } else if (!strcmp(mode, "last-thread")) {
    pthread_t thread;
    sort("main");
    pthread_create(&thread, NULL, outlive, NULL);
    pthread_detach(thread);
    pthread_exit(NULL);
  } else if (!strcmp(mode, "errno")) {
    errno = EXDEV;
    sort("main");
    printf("%d\n", errno == EXDEV);
  } else if (!strcmp(mode, "handler-leaves")) {
    const struct itimerval often = {{0, 1700}, {0, 1700}}, never = {{0, 0}, {0, 0}};
    signal(SIGALRM, leave);
    setitimer(ITIMER_REAL, &often, NULL);
    for (volatile int round = 0; round < 50; ++round) {
      if (sigsetjmp(out, 1) == 0) qsort(ints, kMany, sizeof *ints, by_int);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    sort("main");
  } else if (!strcmp(mode, "watched-pages")) {
    struct sigaction action = {.sa_sigaction = unlock_page, .sa_flags = SA_SIGINFO};
    for (int i = 0; i < kMany; ++i) ints[i] = i * 7919 % 100003;
    sigaction(SIGSEGV, &action, NULL);
    mprotect(ints, kBytes, PROT_READ);
    qsort(ints, kMany, sizeof *ints, by_int);
    sort("main");
  } else if (!strcmp(mode, "sandbox")) {
    if (argc > 2) sort("before");
    restrict_system_calls();
    sort("after");
    _exit(0);
  } else if (!strcmp(mode, "no-environment")) {
    extern char** environ;
    for (char** entry = environ; *entry != NULL; ++entry) memset(*entry, 'x', strlen(*entry));
    environ = NULL;
    sort("main");
  } else if (!strcmp(mode, "limits")) {
    struct rlimit limit = {8 << 20, 8 << 20};
    setrlimit(RLIMIT_AS, &limit);
    sort("main");
  }
  return 0;
}
"""

# Exceptions and cancellation out of a comparator, by another copy of the C++ runtime than the
# engine's.
UNWINDING = r"""
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <stdexcept>

static int ints[150000];
static long countdown;
static bool cancels;
static int compare(const void* a, const void* b) {
  if (--countdown == 0) {
    if (cancels) pthread_exit(nullptr);
    throw std::runtime_error("thrown");
  }
  return *(const int*)a < *(const int*)b ? -1 : *(const int*)a > *(const int*)b;
}
struct Tell { ~Tell() { puts("destroyed"); } };
static void* sort(void*) {
  Tell tell;
  for (int& value : ints) value = rand();
  qsort(ints, sizeof ints / sizeof *ints, sizeof *ints, compare);
  puts("sorted");
  return nullptr;
}
int main() {
  for (long when : {5L, 60L, 5000L, 149000L, 1L << 40}) {
    countdown = when;
    try { sort(nullptr); } catch (const std::exception& error) { puts(error.what()); }
  }
  cancels = true;
  for (long when : {5L, 5000L}) {
    pthread_t thread;
    countdown = when;
    pthread_create(&thread, nullptr, sort, nullptr);
    pthread_join(thread, nullptr);
  }
}
"""


def setUpModule():
    global SCRATCH, PATH, NARROW, UNWINDER
    SCRATCH = Scratch()
    PATH = compile_c(PROGRAM, SCRATCH.path / "sorter", "-O1", "-w")
    if PATH is None:
        SCRATCH.close()
        raise unittest.SkipTest("no C compiler")
    NARROW = compile_c(CIRCUMSTANCES, SCRATCH.path / "narrow", "-O1", "-w", "-pthread")
    UNWINDER = compile_c(UNWINDING, SCRATCH.path / "unwinder", "-O1", "-x-c++", "-pthread")


def tearDownModule():
    SCRATCH.close()


class QsortCase(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.home = pathlib.Path(home.name)

    def both(self, *command, options=(), hoist=HOIST, **variables):
        """Runs it plain and under Hoist: same streams and status. The counts about qsort."""
        env = environment(HOME=str(self.home), XDG_CACHE_HOME=str(self.home), **variables)
        stats = self.home / "stats.json"
        plain = run(*command, env=env)
        done = run(hoist, "run", f"--stats={stats}", *options, "--", *command, env=env)
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout))
        return json.loads(stats.read_text())["operations"].get(
            "qsort", {"calls": 0, "bytes": 0, "implementations": {}, "passed": {}}), done


@unittest.skipUnless(ENGINE.exists(), "the engine is not built in this preset")
class Taken(QsortCase):
    def test_plain_orders(self):
        for mode in ("ints", "records", "strings"):
            with self.subTest(mode=mode):
                counts, _ = self.both(PATH, mode)
                self.assertEqual((counts["calls"], counts["passed"]), (1, {}))
                self.assertGreater(counts["bytes"], 120000)

    def test_strings_in_the_order_of_a_locale(self):
        made = subprocess.run(["localedef", "--no-archive", "-i", "en_US", "-f", "UTF-8",
                               str(self.home / "en_US.UTF-8")], capture_output=True, check=False)
        if made.returncode != 0:
            self.skipTest("no sources of locales")
        counts, _ = self.both(PATH, "collated", LC_ALL="en_US.UTF-8", LOCPATH=str(self.home))
        self.assertEqual((counts["calls"], counts["passed"]), (1, {}))

    def test_implementation_follows_the_threads(self):
        counts, _ = self.both(PATH, "ints", HOIST_THREADS="1")
        self.assertEqual(list(counts["implementations"]), ["cpu-1"])
        counts, _ = self.both(PATH, "ints", HOIST_THREADS="2")
        self.assertIn(list(counts["implementations"]), (["cpu-all"], ["cpu-1"]))

    def test_what_is_left_says_why(self):
        for mode in ("chance", "overflow"):
            with self.subTest(mode=mode):
                counts, _ = self.both(PATH, mode)
                self.assertEqual(counts["calls"], 0)
                self.assertRegex(" ".join(counts["passed"]), "^comparator ")

    def test_small_arrays_are_not_even_counted(self):
        counts, _ = self.both(PATH, "small")
        self.assertEqual((counts["calls"], counts["passed"]), (0, {}))

    def test_comparators_that_do_more(self):
        for mode in ("longjmp", "fork", "nested"):
            for when in (1, 30, 50, 5000, 110000):
                with self.subTest(mode=mode, when=when):
                    self.both(PATH, mode, str(when))

    def test_signals(self):
        counts, _ = self.both(PATH, "signals")
        self.assertEqual(counts["calls"], 5)

    def test_circumstances(self):
        for mode in ("thread", "small-stack", "last-thread", "errno", "handler-leaves",
                     "watched-pages", "sandbox", "limits"):
            with self.subTest(mode=mode):
                self.both(NARROW, mode)
        counts, _ = tried_until(lambda seen: seen[0]["calls"] == 1,
                                lambda: self.both(NARROW, "thread"))
        self.assertEqual(counts["calls"], 1)

    def test_sandbox_after_a_call(self):
        counts, _ = self.both(NARROW, "sandbox", "after")
        self.assertEqual(counts["calls"], 1)

    def test_settings_hold_in_programs_that_empty_their_environment(self):
        counts, _ = self.both(NARROW, "no-environment")
        self.assertEqual(counts["calls"], 1)
        counts, _ = self.both(NARROW, "no-environment", options=["--ops=-qsort"])
        self.assertEqual((counts["calls"], counts["passed"]),
                         (0, {"switched off by HOIST_OPS": 1}))
        counts, _ = self.both(NARROW, "no-environment", options=["--verify=1"])
        self.assertEqual(counts["passed"], {"verify: same": 1})

    def test_call_at_exit(self):
        counts, _ = self.both(NARROW, "atexit")
        self.assertEqual((counts["calls"], len(counts["passed"])), (1, 1))

    def test_exceptions_and_cancellation(self):
        if UNWINDER is None:
            self.skipTest("no C++ compiler")
        counts, _ = self.both(UNWINDER)
        self.assertEqual(counts["calls"], 1)

    def test_vfork_child_keeps_the_original(self):
        counts, _ = self.both(PATH, "vfork")
        self.assertEqual(counts["calls"], 0)

    def test_verify(self):
        for mode in ("ints", "records", "strings"):
            counts, done = self.both(PATH, mode, options=["--verify=1"])
            self.assertEqual(counts["passed"], {"verify: same": 1})
            self.assertIn(b"qsort: 1 verified, 0 mismatch", done.stderr)

    def test_note_switches_it_off(self):
        (self.home / "hoist").mkdir()
        (self.home / "hoist/switched-off").write_text("qsort differed\n")
        counts, _ = self.both(PATH, "ints")
        self.assertEqual((counts["calls"], counts["passed"]), (0, {"switched off by --verify": 1}))


class Untouched(QsortCase):
    def test_switched_off(self):
        counts, _ = self.both(PATH, "ints", options=["--ops=-qsort"])
        self.assertEqual((counts["calls"], counts["passed"]),
                         (0, {"switched off by HOIST_OPS": 1}))
        counts, _ = self.both(PATH, "ints", options=["--ops=sort"])
        self.assertEqual(counts["calls"], 0)
        counts, _ = self.both(PATH, "ints", HOIST="off")
        self.assertEqual(counts["calls"], 0)

    def test_engine_is_missing(self):
        tree = SCRATCH.tree("no-engine")
        counts, _ = self.both(PATH, "ints", hoist=tree / "bin/hoist")
        self.assertEqual((counts["calls"], counts["passed"]), (0, {"engine not found": 1}))

    def test_engine_is_damaged(self):
        tree = SCRATCH.tree("damaged")
        (tree / "lib/libhoist_qsort.so").write_bytes(b"no library")
        counts, _ = self.both(PATH, "ints", hoist=tree / "bin/hoist")
        self.assertEqual((counts["calls"], counts["passed"]), (0, {"engine not loaded": 1}))

    def test_programs_that_sort(self):
        for command in (["perl", "-e",
                         "print join ' ', sort { $a <=> $b } map { $_ * 7919 % 100003 } 1..50000"],
                        ["sqlite3", ":memory:",
                         "with recursive c(x) as (select 1 union all select x + 1 from c limit "
                         "50000) select sum(x) from (select x from c order by x * 7919 % 100003)"],
                        [sys.executable, "-c", "print(sorted(range(90000), key=lambda x: -x)[:9])"],
                        ["ls", "/usr/bin"]):
            if shutil.which(command[0]):
                with self.subTest(program=command[0]):
                    self.both(*command)


if __name__ == "__main__":
    unittest.main()
