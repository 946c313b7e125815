// What reaches files and what is said when it does not: output, temporary files, messages. The
// installed sort is the judge of texts.
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <functional>

#include "base/threads.h"
#include "ops/sort/messages.h"
#include "ops/sort/output.h"
#include "ops/sort/sort_testing.h"
#include "ops/sort/temp_files.h"

namespace hoist::sort {
namespace {

namespace fs = std::filesystem;

struct Ended {
  int status = -1;  // exit status; -1: by a signal
  int signal = 0;
  std::string errors;
};

// Runs `body` in a child and returns how it ended. Its standard error is kept.
Ended in_child(const std::function<int()>& body) {
  const int errors = memfd_create("err", MFD_CLOEXEC);
  const pid_t child = fork();
  if (child == 0) {
    dup2(errors, STDERR_FILENO);
    _exit(body());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  Ended ended;
  if (WIFEXITED(status)) ended.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  ended.errors = read_memory_file(errors);
  return ended;
}

void make_standard_output(const char* path, int flags) {
  const int fd = open(path, flags, 0600);
  dup2(fd, STDOUT_FILENO);
  close(fd);
}

// Writes `size` bytes of short lines and says what went wrong.
int write_lines(const std::string& path, size_t size) {
  Result<Output> output = Output::open(path);
  if (!output) return report("sort", output.error()), 2;
  Status done = output->begin();
  bool good = done.has_value();
  for (size_t written = 0; good && written < size; written += 3)
    good = output->append("ab", 2, '\n');
  if (done) done = output->finish();
  if (!done) return report("sort", done.error()), 2;
  return 0;
}

std::string write_file(const TemporaryFolder& folder, const std::string& name, size_t size) {
  const std::string path = folder.path() + "/" + name;
  std::ofstream out(path, std::ios::binary);
  for (size_t written = 0; written < size; written += 3) out << "ab\n";
  return path;
}

TEST(Output, FailuresAreWordedAsByGnuSort) {
  const TemporaryFolder folder;
  for (const size_t size : {0, 3, 4092, 4098, 8190, 9000, 300000}) {
    const std::string file = write_file(folder, "input", size);
    const std::vector<std::pair<std::string, std::function<int()>>> cases = {
        {"sort " + file + " > /dev/full",
         [&] {
           make_standard_output("/dev/full", O_WRONLY);
           return write_lines("", size);
         }},
        {"sort " + file + " >&-",
         [&] {
           make_standard_output("/dev/null", O_RDONLY);
           return write_lines("", size);
         }},
        {"sort " + file + " -o /dev/full", [&] { return write_lines("/dev/full", size); }},
        {"sort " + file + " -o '/no where/f'", [&] { return write_lines("/no where/f", size); }},
        {"sort " + file + " -o " + folder.path(), [&] { return write_lines(folder.path(), size); }},
    };
    for (const auto& [command, body] : cases) {
      const ProgramResult expected = run_program({"sh", "-c", command});
      const Ended ended = in_child(body);
      EXPECT_EQ(ended.status, expected.status) << command << " " << size;
      EXPECT_EQ(ended.errors, expected.errors) << command << " " << size;
    }
  }
}

TEST(Output, FileOfOptionOIsTruncatedNotBeforeBegin) {
  const TemporaryFolder folder;
  const std::string path = write_file(folder, "f", 30);
  Result<Output> output = Output::open(path);
  ASSERT_TRUE(output.has_value());
  EXPECT_EQ(fs::file_size(path), 30U);
  ASSERT_TRUE(output->begin());
  EXPECT_EQ(fs::file_size(path), 0U);
  ASSERT_TRUE(output->append("x", 1, '\n'));
  ASSERT_TRUE(output->finish());
  EXPECT_EQ(content(path), "x\n");
}

TEST(Output, AnEmptyFileHasChangedThoughNothingIsWritten) {
  const TemporaryFolder folder;
  const std::string path = write_file(folder, "f", 0);
  const timespec long_ago[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), long_ago, 0), 0);
  Result<Output> output = Output::open(path);
  ASSERT_TRUE(output.has_value());
  ASSERT_TRUE(output->begin());
  std::ofstream(path, std::ios::app)
      << "another's";  // as the original, it takes nothing away later
  ASSERT_TRUE(output->finish());
  EXPECT_EQ(content(path), "another's");
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_GT(info.st_mtim.tv_sec, 1000);
}

TEST(Output, NewFileHasTheModeThatTheUmaskLeaves) {
  const TemporaryFolder folder;
  const mode_t before = umask(027);
  EXPECT_TRUE(Output::open(folder.path() + "/new").has_value());
  umask(before);
  EXPECT_EQ(fs::status(folder.path() + "/new").permissions(), static_cast<fs::perms>(0640));
}

TEST(Output, ThreadsWriteToTheirPlacesBehindWhatIsThere) {
  const TemporaryFolder folder;
  const std::string path = write_file(folder, "f", 6);
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(lseek(fd, 3, SEEK_SET), 3);
  UniqueFd shared(dup(fd));
  Output output(UniqueFd(fd), "f");
  ASSERT_TRUE(output.reserve(26000));
  ThreadPool pool(3);
  pool.parallel_for(26, [&](size_t i) {
    const std::string piece(1000, static_cast<char>('a' + i));
    EXPECT_TRUE(output.write_at(i * 1000, piece.data(), piece.size()));
  });
  ASSERT_TRUE(output.finish());
  EXPECT_EQ(lseek(shared.get(), 0, SEEK_CUR), 26003);
  std::string expected = "ab\n";
  for (char c = 'a'; c <= 'z'; ++c) expected += std::string(1000, c);
  EXPECT_EQ(content(path), expected);
}

TEST(Output, PlacesAreNotGivenWhereTheyWouldNotHold) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/f";
  Output appending(UniqueFd(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600)), "f");
  EXPECT_FALSE(appending.reserve(10));
  Output device(UniqueFd(open("/dev/null", O_WRONLY)), "null");
  EXPECT_FALSE(device.reserve(10));
  Output file(UniqueFd(open(path.c_str(), O_WRONLY)), "f");
  EXPECT_FALSE(file.reserve(uint64_t{1} << 60));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const UniqueFd read_end(ends[0]);
  Output pipe(UniqueFd(ends[1]), "pipe");
  EXPECT_FALSE(pipe.reserve(10));
}

TEST(Output, FileSizeLimitEndsTheProcessAsItEndsTheOriginal) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/f";
  const auto limited = [&](bool ignored) {
    return in_child([&] {
      const rlimit limit{4096, 4096};
      setrlimit(RLIMIT_FSIZE, &limit);
      if (ignored) signal(SIGXFSZ, SIG_IGN);
      return write_lines(path, 9000);
    });
  };
  EXPECT_EQ(limited(false).signal, SIGXFSZ);
  EXPECT_EQ(fs::file_size(path), 4096U);
  const Ended told = limited(true);
  EXPECT_EQ(told.status, 2);
  EXPECT_EQ(told.errors, "sort: write failed: " + path + ": File too large\nsort: write error\n");
}

TEST(Output, BrokenPipeMetByAnotherThreadEndsTheProcess) {
  const auto broken = [](bool ignored) {
    return in_child([&] {
      signal(SIGPIPE, ignored ? SIG_IGN : SIG_DFL);
      int ends[2];
      if (pipe(ends) != 0) return 3;
      close(ends[0]);
      dup2(ends[1], STDOUT_FILENO);
      Result<Output> output = Output::open("");
      const std::string much(1 << 20, 'x');
      ThreadPool pool(2);
      std::atomic<bool> elsewhere = false;
      const pid_t main_thread = gettid();
      while (!elsewhere) {
        pool.parallel_for(2, [&](size_t) {
          if (gettid() == main_thread || elsewhere.exchange(true)) return;
          EXPECT_FALSE(output->append(much.data(), much.size()));
        });
      }
      const Status status = output->status();
      report("sort", status.error());
      return 2;
    });
  };
  EXPECT_EQ(broken(false).signal, SIGPIPE);
  EXPECT_EQ(broken(true).errors,
            "sort: write failed: 'standard output': Broken pipe\nsort: write error\n");
}

TEST(TempFiles, HaveNoNameAndTakeDirectoriesInTurn) {
  const TemporaryFolder a;
  const TemporaryFolder b;
  TempFiles files({a.path(), b.path()}, "");
  for (int i = 0; i < 4; ++i) {
    Result<sort::Run> run = files.create();
    ASSERT_TRUE(run.has_value());
    EXPECT_TRUE(run->name().starts_with((i % 2 == 0 ? a : b).path() + "/sort"));
    EXPECT_TRUE(fs::is_empty(a.path()) && fs::is_empty(b.path()));
    struct stat info;
    ASSERT_EQ(fstat(run->fd(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0600U);
    ASSERT_TRUE(run->output().append("x", 1, '\n'));
    ASSERT_TRUE(run->finish());
    EXPECT_EQ(run->size(), 2U);
  }
}

TEST(TempFiles, MissingDirectoryIsWordedAsByGnuSort) {
  const TemporaryFolder folder;
  const std::string file = write_file(folder, "input", 300000);
  TempFiles files({folder.path() + "/a b"}, "");
  const Result<sort::Run> run = files.create();
  ASSERT_FALSE(run.has_value());
  const ProgramResult expected = run_program({"sort", "-S1k", "-T", folder.path() + "/a b", file});
  EXPECT_EQ("sort: " + run.error().message + "\n", expected.errors);
}

TEST(TempFiles, FullDiskIsAnError) {
  const TemporaryFolder folder;
  if (mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "mounting is not allowed here";
  }
  {
    TempFiles files({folder.path()}, "");
    Result<sort::Run> run = files.create();
    ASSERT_TRUE(run.has_value());
    const std::string much(1 << 20, 'x');
    EXPECT_FALSE(run->output().append(much.data(), much.size()));
    const Status finished = run->finish();
    ASSERT_FALSE(finished.has_value());
    EXPECT_EQ(finished.error().message,
              "write failed: " + run->name() + ": No space left on device");
  }
  EXPECT_EQ(umount(folder.path().c_str()), 0);
}

TEST(TempFiles, CompressionGoesThroughTheProgram) {
  const TemporaryFolder folder;
  TempFiles files({folder.path()}, "gzip");
  Result<sort::Run> run = files.create();
  ASSERT_TRUE(run.has_value());
  for (int i = 0; i < 100000; ++i) ASSERT_TRUE(run->output().append("line", 4, '\n'));
  ASSERT_TRUE(run->finish());
  EXPECT_LT(run->size(), 10000U);
  std::optional<Filter> filter;
  Result<LineReader> reader = run->decompress('\n', 4096, filter);
  ASSERT_TRUE(reader.has_value());
  int lines = 0;
  for (Line line; reader->next(line);) lines += line.length == 4;
  EXPECT_EQ(lines, 100000);
  EXPECT_TRUE(filter->wait());
}

TEST(TempFiles, FailingCompressionProgramIsNamed) {
  const TemporaryFolder folder;
  TempFiles failing({folder.path()}, "false");
  Result<sort::Run> run = failing.create();
  ASSERT_TRUE(run.has_value());
  const Status finished = run->finish();
  ASSERT_FALSE(finished.has_value());
  EXPECT_EQ(finished.error().message, "'false' [-d] terminated abnormally");
  TempFiles missing({folder.path()}, folder.path() + "/none");
  EXPECT_FALSE(missing.create().has_value());
}

TEST(Messages, NamesAreQuotedAsByGnuSort) {
  std::mt19937_64 random(test_seed());
  const std::vector<std::string> pieces = {
      "a",      "b",      "'",  "\"", " ", "\t", "\n", "\001", "\177", "\377", "é",
      "\u200b", "\u0085", "\\", "$",  "`", "~",  "#",  "{",    "}",    "*",    "?",
      "[",      "]",      "(",  ")",  "<", ">",  "|",  ";",    "&",    "=",    "^",
      "!",      ":",      ",",  "%",  "@", "+",  "_",  ".",    "0",    "-",    "日"};
  for (const char* locale : {"C", "C.UTF-8"}) {
    setenv("LC_ALL", locale, 1);
    ASSERT_NE(std::setlocale(LC_ALL, ""), nullptr);
    for (int i = 0; i < 300; ++i) {
      std::string name = i < static_cast<int>(pieces.size()) ? pieces[static_cast<size_t>(i)] : "";
      while (name.empty() || random() % 3 != 0) name += pick(pieces, random);
      if (name == "-" || fs::exists(name)) continue;
      const ProgramResult expected = run_program({"sort", "--", name});
      const Error error = io_error("cannot read", name, ENOENT);
      EXPECT_EQ("sort: " + error.message + "\n", expected.errors) << locale;
    }
  }
  unsetenv("LC_ALL");
  std::setlocale(LC_ALL, "C");
}

}  // namespace
}  // namespace hoist::sort
