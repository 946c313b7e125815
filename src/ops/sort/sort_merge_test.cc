// Merging, against a stable sort for files in order and a plain "smallest head" for others.
#include <sys/stat.h>

#include "ops/sort/check.h"
#include "ops/sort/merge.h"
#include "ops/sort/sort_testing.h"

namespace hoist::sort {
namespace {

enum class Way { lines, ranges_trusted, ranges };

UniqueFd memory_file(const std::string& content) {
  UniqueFd fd(memfd_create("run", MFD_CLOEXEC));
  EXPECT_TRUE(write_full(fd.get(), content.data(), content.size()));
  EXPECT_EQ(lseek(fd.get(), 0, SEEK_SET), 0);
  return fd;
}

std::string read_back(int fd) {
  std::string content(static_cast<size_t>(lseek(fd, 0, SEEK_END)), '\0');
  EXPECT_TRUE(pread_full(fd, content.data(), content.size(), 0));
  return content;
}

std::vector<std::string> split(const std::string& text, char terminator) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(terminator, at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

Line view(const std::string& text) { return {text.data(), text.size()}; }

class Merger {
 public:
  explicit Merger(const std::vector<std::string>& arguments)
      : options_(parse(arguments)), comparator_(options_), coder_(comparator_) {}

  std::string merge(Way way, const std::vector<std::string>& files, uint64_t range_bytes = 64) {
    UniqueFd target = memory_file("");
    UniqueFd kept(dup(target.get()));
    Output output(std::move(target), "target");
    const MergeContext context{coder_, pool_, 1 << 20};
    if (way == Way::lines) {
      std::vector<LineReader> readers;
      for (const std::string& file : files) {
        readers.emplace_back(memory_file(file), "file", options_.terminator, 128);
      }
      EXPECT_TRUE(merge_lines(readers, coder_, output));
    } else {
      std::vector<UniqueFd> fds;
      std::vector<FileRange> ranges;
      for (const std::string& file : files) {
        fds.push_back(memory_file(file));
        ranges.push_back({fds.back().get(), "file", 0, file.size()});
      }
      const Result<bool> merged =
          merge_ranges(ranges, way == Way::ranges_trusted, range_bytes, context, output);
      EXPECT_TRUE(merged.has_value() && *merged);
    }
    EXPECT_TRUE(output.finish());
    return read_back(kept.get());
  }

  // The smallest head first, as often as there is one.
  std::string merge_plainly(const std::vector<std::string>& files) {
    std::vector<std::vector<std::string>> lines;
    for (const std::string& file : files) lines.push_back(split(file, options_.terminator));
    std::vector<size_t> heads(files.size());
    std::string result;
    std::optional<std::string> previous;
    while (true) {
      std::optional<size_t> best;
      for (size_t i = 0; i < files.size(); ++i) {
        if (heads[i] == lines[i].size()) continue;
        if (!best || compare(lines[i][heads[i]], lines[*best][heads[*best]]) < 0) best = i;
      }
      if (!best) return result;
      const std::string& line = lines[*best][heads[*best]++];
      if (options_.unique && previous && compare(*previous, line) == 0) continue;
      previous = line;
      result += line + options_.terminator;
    }
  }

  // The file's lines in order, as a run would hold them.
  std::string sorted(const std::string& file) {
    std::vector<std::string> lines = split(file, options_.terminator);
    std::stable_sort(lines.begin(), lines.end(),
                     [&](const std::string& a, const std::string& b) { return compare(a, b) < 0; });
    std::string result;
    for (const std::string& line : lines) result += line + options_.terminator;
    return result;
  }

  const Coder& coder() const { return coder_; }
  const Options& options() const { return options_; }
  ThreadPool& pool() { return pool_; }

 private:
  static Options parse(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "sort");
    const std::string version = installed_version();
    Result<Options> options = parse_options(arguments, version.empty() ? "9.1" : version);
    EXPECT_TRUE(options.has_value()) << shown(arguments) << options.error().message;
    return *options;
  }

  int compare(const std::string& a, const std::string& b) {
    return comparator_.compare(view(a), view(b));
  }

  Options options_;
  Comparator comparator_;
  Coder coder_;
  ThreadPool pool_{3};
};

// Lines that agree in their beginnings often, some of them equal, empty or with NULs.
std::string random_lines(size_t count, char terminator, std::mt19937_64& random) {
  const std::vector<std::string> pieces = {
      "",    "a",  "b", "ab", "ba", "B", " ",      "1",     "23", "-7",
      "\t4", "x1", "é", "ch", "h",  "c", "aaaaaa", "zzzzz", ".5", std::string(1, '\0')};
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    for (size_t words = random() % 7; words > 0; --words) text += pick(pieces, random);
    text += terminator;
  }
  return text;
}

const std::vector<std::vector<std::string>> kOptions = {
    {},      {"-r"},          {"-u"},        {"-ru"},      {"-z"},           {"-n"},
    {"-nu"}, {"-s", "-k2,2"}, {"-f"},        {"-fu"},      {"-k1,1nr"},      {"-d", "-k2"},
    {"-g"},  {"-V"},          {"-sr", "-n"}, {"-M", "-s"}, {"-u", "-k1.2b"}, {"-t", "a", "-k2,2"}};

TEST(Merge, SortedFilesInEveryWay) {
  std::mt19937_64 random(test_seed());
  Locales locales;
  for (const std::string& locale : locales.names()) {
    Locales::select(locale);
    for (const std::vector<std::string>& arguments : kOptions) {
      Merger merger(arguments);
      for (const size_t file_count : {1, 2, 3, 7}) {
        std::vector<std::string> files;
        for (size_t i = 0; i < file_count; ++i) {
          files.push_back(
              merger.sorted(random_lines(random() % 80, merger.options().terminator, random)));
        }
        const std::string expected = merger.merge_plainly(files);
        for (const Way way : {Way::lines, Way::ranges_trusted, Way::ranges}) {
          EXPECT_EQ(merger.merge(way, files), expected)
              << locale << " " << shown(arguments) << static_cast<int>(way);
        }
      }
    }
  }
}

// Czech sorts "ch" as one letter behind "h", which codes do not know.
TEST(Merge, WrongGuessesAreNoticed) {
  const TemporaryFolder folder;
  const auto made = run_program(
      {"localedef", "--no-archive", "-i", "cs_CZ", "-f", "UTF-8", folder.path() + "/cs_CZ.UTF-8"});
  if (made.status != 0) GTEST_SKIP() << "no cs_CZ locale to compile";
  std::mt19937_64 random(test_seed());
  setenv("LOCPATH", folder.path().c_str(), 1);
  Locales::select("cs_CZ.UTF-8");
  for (const std::vector<std::string>& arguments : kOptions) {
    Merger merger(arguments);
    std::vector<std::string> files;
    for (int i = 0; i < 4; ++i) {
      files.push_back(merger.sorted(random_lines(150, merger.options().terminator, random)));
    }
    const std::string expected = merger.merge_plainly(files);
    for (const Way way : {Way::lines, Way::ranges_trusted, Way::ranges}) {
      EXPECT_EQ(merger.merge(way, files, 512), expected)
          << shown(arguments) << static_cast<int>(way);
    }
  }
  unsetenv("LOCPATH");
  Locales::select("C");
}

TEST(Merge, FilesOutOfOrder) {
  std::mt19937_64 random(test_seed());
  for (const std::vector<std::string>& arguments : kOptions) {
    Merger merger(arguments);
    for (int round = 0; round < 20; ++round) {
      std::vector<std::string> files;
      for (size_t i = 0; i < 3; ++i) {
        std::string text = random_lines(60, merger.options().terminator, random);
        // Ordered at first, so that some ranges are merged before the disorder is met.
        files.push_back(merger.sorted(text) +
                        random_lines(random() % 9, merger.options().terminator, random));
      }
      files.push_back(random_lines(20, merger.options().terminator, random));
      const std::string expected = merger.merge_plainly(files);
      for (const Way way : {Way::lines, Way::ranges}) {
        EXPECT_EQ(merger.merge(way, files), expected) << shown(arguments);
      }
    }
  }
}

TEST(Merge, MissingTerminatorsEmptyFilesAndLongLines) {
  Merger merger({});
  const std::string deep(60000, 'd');  // longer than offset-value codes reach
  const std::vector<std::vector<std::string>> cases = {
      {""},
      {"", "", ""},
      {"a"},
      {"a", "a\n", ""},
      {"a\nb", "a\nb\n", "c"},
      {"\n\n\n", "\n"},
      {deep + "1\n" + deep + "3\n", deep + "2\n" + deep + "3", deep.substr(1) + "\n"},
      {std::string(300000, 'x') + "\n", "a\n" + std::string(300001, 'x'), "b\n"},
  };
  for (const std::vector<std::string>& files : cases) {
    const std::string expected = merger.merge_plainly(files);
    for (const Way way : {Way::lines, Way::ranges_trusted, Way::ranges}) {
      EXPECT_EQ(merger.merge(way, files), expected);
    }
  }
}

TEST(Merge, OneLineRepeatedIsCutAnywhere) {
  std::string same;
  for (int i = 0; i < 5000; ++i) same += "same 1\n";
  Merger all({});
  EXPECT_EQ(all.merge(Way::ranges, {same, same}, 1024), same + same);
  Merger unique({"-u"});
  EXPECT_EQ(unique.merge(Way::ranges, {same, same}, 1024), "same 1\n");
  Merger stable({"-s", "-k1,1"});
  std::string other;
  for (int i = 0; i < 5000; ++i) other += "same 2\n";
  EXPECT_EQ(stable.merge(Way::ranges_trusted, {same, other}, 1024), same + other);
}

TEST(Merge, OneVeryLargeRangeIsLeftToTheMergeByLines) {
  Merger merger({});
  const std::string large(uint64_t{70} << 20, 'l');
  const UniqueFd file = memory_file(large + "\n");
  Output output(memory_file(""), "target");
  const std::vector<FileRange> files = {{file.get(), "file", 0, large.size() + 1}};
  const MergeContext context{merger.coder(), merger.pool(), 1 << 20};
  const Result<bool> merged = merge_ranges(files, true, 1 << 20, context, output);
  ASSERT_TRUE(merged.has_value());
  EXPECT_FALSE(*merged);
}

TEST(Merge, RunsThroughTemporaryFiles) {
  std::mt19937_64 random(test_seed());
  const TemporaryFolder folder;
  for (const std::string program : {"", "gzip"}) {
    Merger merger({"-S1M"});
    const MergeContext context{merger.coder(), merger.pool(), 1 << 20};
    TempFiles files({folder.path()}, program);
    std::vector<sort::Run> runs;  // not testing::Test::Run
    std::vector<std::string> contents;
    for (int i = 0; i < 40; ++i) {
      contents.push_back(merger.sorted(random_lines(5000, '\n', random)));
      Result<sort::Run> run = files.create();
      ASSERT_TRUE(run.has_value());
      ASSERT_TRUE(run->output().append(contents.back().data(), contents.back().size()));
      ASSERT_TRUE(run->finish());
      runs.push_back(std::move(*run));
      ASSERT_TRUE(limit_runs(runs, files, context));
      EXPECT_TRUE(program.empty() || runs.size() < 16);
    }
    UniqueFd target = memory_file("");
    UniqueFd kept(dup(target.get()));
    Output output(std::move(target), "target");
    ASSERT_TRUE(merge_runs(runs, context, output));
    ASSERT_TRUE(output.finish());
    EXPECT_TRUE(read_back(kept.get()) == merger.merge_plainly(contents));
  }
}

TEST(Check, FindsWhatGnuSortFinds) {
  std::mt19937_64 random(test_seed());
  for (const std::vector<std::string>& arguments : kOptions) {
    Merger merger(arguments);
    for (int round = 0; round < 12; ++round) {
      std::string text = merger.sorted(random_lines(30, merger.options().terminator, random));
      if (round % 3 != 0) text += random_lines(1, merger.options().terminator, random);
      if (round % 2 != 0 && !text.empty()) text.pop_back();
      LineReader reader(memory_file(text), "-", merger.options().terminator, 64);
      const std::optional<Disorder> disorder = find_disorder(reader, merger.coder());
      std::vector<std::string> argv = {"sort", "-c"};
      argv.insert(argv.end(), arguments.begin(), arguments.end());
      const auto original = run_program(argv, text);
      ASSERT_EQ(original.status, disorder ? 1 : 0) << shown(argv);
      if (disorder) {
        EXPECT_EQ(original.errors, "sort: -:" + std::to_string(disorder->line_number) +
                                       ": disorder: " + disorder->text +
                                       merger.options().terminator);
      }
    }
  }
}

}  // namespace
}  // namespace hoist::sort
