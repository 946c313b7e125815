// The command line: what is understood, what is left to the original, and that the installed sort
// agrees on which is which.
#include <sys/resource.h>

#include "ops/sort/sort_testing.h"
#include "ops/sort/spec.h"

namespace hoist::sort {
namespace {

Result<Options> parse(std::vector<std::string> arguments, std::string_view version = "9.1") {
  arguments.insert(arguments.begin(), "sort");
  return parse_options(arguments, version);
}

Options parsed(std::vector<std::string> arguments) {
  Result<Options> options = parse(std::move(arguments));
  EXPECT_TRUE(options) << options.error().message;
  return options.value_or(Options{});
}

std::string refusal(std::vector<std::string> arguments, std::string_view version = "9.1") {
  const Result<Options> options = parse(std::move(arguments), version);
  if (options) return "accepted";
  EXPECT_EQ(options.error().code, ErrorCode::unsupported);
  return options.error().message;
}

TEST(SortOptions, PlainSortHasNoKeys) {
  const Options options = parsed({});
  EXPECT_EQ(options.mode, Mode::sort);
  EXPECT_TRUE(options.keys.empty());
  EXPECT_EQ(options.files, std::vector<std::string>{"-"});
  EXPECT_EQ(options.batch_size, 16u);
  EXPECT_EQ(options.memory_limit, 0u);
  EXPECT_EQ(options.field_separator, -1);
  EXPECT_TRUE(parsed({"-r"}).keys.empty());
  EXPECT_TRUE(parsed({"-r"}).reverse);
}

TEST(SortOptions, KeysCountFromZero) {
  const Options options = parsed({"-k2.3b,4.5bn", "-k1,1"});
  ASSERT_EQ(options.keys.size(), 2u);
  const Key& key = options.keys[0];
  EXPECT_EQ(key.start_field, 1u);
  EXPECT_EQ(key.start_char, 2u);
  EXPECT_EQ(key.end_field, 3u);
  EXPECT_EQ(key.end_char, 5u);
  EXPECT_TRUE(key.skip_start_blanks);
  EXPECT_TRUE(key.skip_end_blanks);
  EXPECT_EQ(key.ordering, Ordering::numeric);
  EXPECT_EQ(options.keys[1].end_field, 0u);
  EXPECT_EQ(options.keys[1].end_char, 0u);
}

TEST(SortOptions, KeysInheritOnlyWithoutLettersOfTheirOwn) {
  const Options options = parsed({"-nr", "-k1,1", "-k2,2f", "-k3,3r"});
  ASSERT_EQ(options.keys.size(), 3u);
  EXPECT_EQ(options.keys[0].ordering, Ordering::numeric);
  EXPECT_TRUE(options.keys[0].reverse);
  EXPECT_EQ(options.keys[1].ordering, Ordering::text);
  EXPECT_FALSE(options.keys[1].reverse);
  EXPECT_EQ(options.keys[2].ordering, Ordering::text);
  EXPECT_TRUE(options.reverse);
}

TEST(SortOptions, ObsoleteKeys) {
  unsetenv("_POSIX2_VERSION");
  unsetenv("POSIXLY_CORRECT");
  const Options options = parsed({"+1.2", "-3.4", "+2n", "-3", "file"});
  ASSERT_EQ(options.keys.size(), 2u);
  EXPECT_EQ(options.keys[0].start_field, 1u);
  EXPECT_EQ(options.keys[0].start_char, 2u);
  EXPECT_EQ(options.keys[0].end_field, 3u);
  EXPECT_EQ(options.keys[0].end_char, 4u);
  EXPECT_EQ(options.keys[1].end_field, 2u);
  EXPECT_EQ(options.keys[1].end_char, 0u);
  EXPECT_EQ(options.files, std::vector<std::string>{"file"});
  setenv("_POSIX2_VERSION", "200112", 1);
  EXPECT_EQ(parsed({"+1"}).files, std::vector<std::string>{"+1"});
  EXPECT_EQ(parsed({"+1", "-2"}).keys.size(), 1u);
  unsetenv("_POSIX2_VERSION");
}

TEST(SortOptions, OperandsEndOptionsUnderPosix) {
  setenv("POSIXLY_CORRECT", "1", 1);
  EXPECT_EQ(parsed({"f", "-r"}).files, (std::vector<std::string>{"f", "-r"}));
  EXPECT_EQ(parsed({"f", "-o", "x"}).output, "x");
  unsetenv("POSIXLY_CORRECT");
  EXPECT_EQ(parsed({"f", "-r", "--", "-n"}).files, (std::vector<std::string>{"f", "-n"}));
}

TEST(SortOptions, Values) {
  EXPECT_EQ(parsed({"-S", "10"}).memory_limit, 10u << 10);
  EXPECT_EQ(parsed({"-S", "3M", "-S", "2M"}).memory_limit, 3u << 20);
  EXPECT_EQ(parsed({"-S", "0"}).memory_limit, 1u);
  EXPECT_EQ(parsed({"-S", "7b"}).memory_limit, 7u);
  EXPECT_EQ(parsed({"-S", "K"}).memory_limit, 1024u);
  EXPECT_GT(parsed({"-S", "10%"}).memory_limit, 1u << 20);
  EXPECT_EQ(parsed({"-t", "\\0"}).field_separator, 0);
  EXPECT_EQ(parsed({"-t", "\xff"}).field_separator, 255);
  EXPECT_EQ(parsed({"--batch-size=3"}).batch_size, 3u);
  EXPECT_EQ(parsed({"--parallel=4"}).threads, 4);
  EXPECT_EQ(parsed({"--parallel=99999999999999999999999"}).threads, INT_MAX);
  EXPECT_EQ(parsed({"-T", "a", "-T", "b"}).temporary_directories,
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(parsed({"--compress-program=gzip"}).compress_program, "gzip");
  EXPECT_EQ(parsed({"-o", "x", "-o", "x"}).output, "x");
  EXPECT_EQ(parsed({"-z"}).terminator, '\0');
  EXPECT_EQ(parsed({"-c"}).mode, Mode::check);
  EXPECT_EQ(parsed({"--check=qui"}).mode, Mode::check_quiet);
  EXPECT_EQ(parsed({"-C", "-m"}).mode, Mode::check_quiet);
  EXPECT_EQ(parsed({"-m", "a", "b"}).mode, Mode::merge);
  EXPECT_EQ(parsed({"--sort=num"}).keys.at(0).ordering, Ordering::numeric);
}

TEST(SortOptions, TheRestIsLeftToTheOriginal) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"-k0"},
                                             {"-k1.0"},
                                             {"-k1,"},
                                             {"-k", "x"},
                                             {"-nM"},
                                             {"-k1dn"},
                                             {"-t", ""},
                                             {"-t", "ab"},
                                             {"-t", "a", "-t", "b"},
                                             {"-o", "a", "-o", "b"},
                                             {"-c", "-o", "x"},
                                             {"-c", "a", "b"},
                                             {"-cC"},
                                             {"-S", "x"},
                                             {"-S", "1X"},
                                             {"-S", "99999999999999999999"},
                                             {"-S", "5B"},
                                             {"--batch-size=1"},
                                             {"--parallel=0"},
                                             {"--parallel=1k"},
                                             {"--sort=x"},
                                             {"--check=x"},
                                             {"--check="},
                                             {"--s"},
                                             {"--nonsense"},
                                             {"-Q"},
                                             {"--files0-from=x", "y"}}) {
    EXPECT_EQ(refusal(arguments), "usage error") << shown(arguments);
  }
  EXPECT_EQ(refusal({"-R"}), "random sort");
  EXPECT_EQ(refusal({"-k1R"}), "random sort");
  EXPECT_EQ(refusal({"--debug"}), "unsupported option");
  EXPECT_EQ(refusal({"--help"}), "unsupported option");
  EXPECT_EQ(refusal({"--version"}), "unsupported option");
  EXPECT_EQ(refusal({"--random-source=x"}), "unsupported option");
  EXPECT_EQ(refusal({"-k1.99999999999999999999"}), "huge key position");
}

TEST(SortOptions, ReleasesDiffer) {
  EXPECT_FALSE(parse({"-h"}, "9.1")->dialect.ronna_and_quetta);
  EXPECT_TRUE(parse({"-h"}, "9.4")->dialect.ronna_and_quetta);
  EXPECT_TRUE(parse({"-g"}, "9.10")->dialect.nans_by_sign);
  EXPECT_EQ(refusal({"-h"}, ""), "order of an unknown release");
  EXPECT_EQ(refusal({"-g"}, "9.3"), "order of an unknown release");
  EXPECT_EQ(refusal({"-n"}, ""), "accepted");
}

TEST(SortOptions, BatchSizeIsBoundedByDescriptors) {
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const uint64_t largest = limit.rlim_cur - 3;
  EXPECT_EQ(refusal({"--batch-size=" + std::to_string(largest)}), "accepted");
  EXPECT_EQ(refusal({"--batch-size=" + std::to_string(largest + 1)}), "usage error");
}

TEST(SortOptions, FileListFromAFile) {
  const TemporaryFolder folder;
  const std::string list = folder.path() + "/list";
  const auto files_of = [&](const std::string& content) {
    std::ofstream(list, std::ios::binary) << content;
    return parse({"--files0-from=" + list});
  };
  EXPECT_EQ(files_of(std::string("a\0b", 3))->files, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(files_of(std::string("a\0b\0", 4))->files, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(files_of(""));
  EXPECT_FALSE(files_of(std::string("a\0\0b", 4)));
  EXPECT_FALSE(files_of(std::string("a\0-\0", 4)));
  EXPECT_FALSE(parse({"--files0-from=" + folder.path()}));
  EXPECT_FALSE(parse({"--files0-from=" + folder.path() + "/none"}));
}

TEST(SortOptions, FileListOnStandardInputStaysReadable) {
  const std::string list("a\0b\0", 4);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], list.data(), list.size()), static_cast<ssize_t>(list.size()));
  close(ends[1]);
  const int saved = dup(STDIN_FILENO);
  dup2(ends[0], STDIN_FILENO);
  close(ends[0]);
  const Result<Options> options = parse({"--files0-from=-"});
  std::string again(list.size() + 1, '\0');
  const ssize_t count = read(STDIN_FILENO, again.data(), again.size());
  dup2(saved, STDIN_FILENO);
  close(saved);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->files, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(again.substr(0, static_cast<size_t>(count)), list);
}

// Random command lines, most of them nearly right: accepted exactly where the installed sort
// accepts them (or stepped aside from on purpose), with the same result.
class RandomCommandLines : public ::testing::Test {
 protected:
  void SetUp() override {
    if (version_ != "9.1" && version_ != "9.4") GTEST_SKIP() << "no GNU sort 9.1 or 9.4";
    setenv("LC_ALL", "C", 1);  // the locale that this process is in
    std::filesystem::current_path(folder_.path());
    for (const char* name : {"f", "g", "+1", "-1", "-r", "x"}) {
      std::ofstream(name) << "b 3 " << name << "\na 10\n c,2\nA,1 2\n" << name << "\n10\n9\n";
    }
    std::ofstream("list", std::ios::binary) << std::string("f\0g\0", 4);
  }
  void TearDown() override {
    std::filesystem::current_path("/");
    unsetenv("_POSIX2_VERSION");
    unsetenv("POSIXLY_CORRECT");
    unsetenv("LC_ALL");
  }

  std::string number() {
    return pick<std::string>(
        {"0", "1", "2", "3", "1.0", "1.1", "2.3", "+1", " 2", "", "x", "1x", "1."}, random_);
  }
  std::string letters() {
    return pick<std::string>({"", "", "", "b", "n", "r", "f", "d", "V", "h", "nr", "bf", "x"},
                             random_);
  }
  std::string token();

  const std::string version_ = installed_version();
  const TemporaryFolder folder_;
  std::mt19937_64 random_{test_seed()};
};

std::string RandomCommandLines::token() {
  switch (random_() % 10) {
    case 0:
      return "-k" + number() + letters() + (random_() % 2 ? "," + number() + letters() : "");
    case 1:
      return "+" + number() + letters();
    case 2:
      return "-" + number() + letters();
    case 3:
      return "-" +
             pick<std::string>({"b", "d", "f", "g", "h", "i", "M", "n", "r", "s", "u", "V", "z",
                                "m", "c", "C", "y"},
                               random_) +
             letters();
    case 4:
      return "-t" + pick<std::string>({",", " ", "", "\\0", "ab"}, random_);
    case 5:
      return "-S" +
             pick<std::string>({"1", "1k", "1M", "5%", "7b", "k", "1B", "1e", "-1", " 9", "1Y", ""},
                               random_);
    case 6:
      return "--" + pick<std::string>({"",
                                       "rev",
                                       "re",
                                       "key=2",
                                       "sort=n",
                                       "sort=h",
                                       "sor=",
                                       "check",
                                       "check=q",
                                       "check=x",
                                       "par=2",
                                       "parallel=0",
                                       "batch-size=2",
                                       "b=2",
                                       "batch=1",
                                       "stable",
                                       "files0-from=list",
                                       "files0-from=f",
                                       "ignore",
                                       "ignore-c",
                                       "version-",
                                       "z",
                                       "zero=1",
                                       "field-separator=,",
                                       "un",
                                       "numeric",
                                       "mo",
                                       "out=o1",
                                       "tem=."},
                                      random_);
    case 7:
      return pick<std::string>({"-o", "-oo1", "-oo2", "-T.", "-T", "-k"}, random_);
    default:
      return pick<std::string>({"f", "g", "x", "-", "--", "+1", "-r"}, random_);
  }
}

TEST_F(RandomCommandLines, AgreeWithTheInstalledSort) {
  int accepted = 0;
  for (int round = 0; round < 1500; ++round) {
    unsetenv("_POSIX2_VERSION");
    unsetenv("POSIXLY_CORRECT");
    if (random_() % 4 == 0) setenv("POSIXLY_CORRECT", "", 1);
    if (random_() % 4 == 0) {
      setenv("_POSIX2_VERSION",
             pick<std::string>({"199209", "200112", "200809", "x"}, random_).c_str(), 1);
    }
    std::vector<std::string> argv = {"sort"};
    for (size_t left = 1 + random_() % 4; left > 0; --left) argv.push_back(token());
    std::filesystem::remove("o1");
    std::filesystem::remove("o2");
    const std::string input = "i 1\nh 2\n";
    const Result<Options> options = parse_options(argv, version_);
    const std::string sorted =
        options && options->mode == Mode::sort ? sort_plainly(*options, input) : "";
    ProgramResult outcome = run_program(argv, input);
    const std::string told = shown(argv) + outcome.errors;
    if (!options) {
      // Only what GNU sort refuses, and -y, which it ignores.
      const bool ignored = options.error().message == "unsupported option";
      ASSERT_TRUE(outcome.status != 0 || ignored) << told << options.error().message;
      continue;
    }
    if (options->mode != Mode::sort) continue;
    // Refused later: a file that does not exist.
    if (std::any_of(options->files.begin(), options->files.end(), [](const std::string& file) {
          return file != "-" && !std::filesystem::exists(file);
        })) {
      ASSERT_EQ(outcome.status, 2) << told;
      continue;
    }
    // With next to no memory GNU sort may want a temporary file where we do not.
    if (outcome.errors.find("cannot create temporary file") != std::string::npos) continue;
    ASSERT_EQ(outcome.status, 0) << told;
    ++accepted;
    if (!options->output.empty()) {
      std::ifstream in(options->output, std::ios::binary);
      outcome.output.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
    ASSERT_EQ(sorted, outcome.output) << told;
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace hoist::sort
