// Codes, the in-memory sort and the chunked reading against Comparator and a plain stable sort.
#include <array>
#include <climits>
#include <memory>
#include <string>

#include "device/device.h"
#include "device/test_devices.h"
#include "ops/sort/chunk.h"
#include "ops/sort/codes.h"
#include "ops/sort/emit.h"
#include "ops/sort/entries.h"
#include "ops/sort/gpu_sorter.h"
#include "ops/sort/sort_testing.h"

namespace hoist::sort {
namespace {

Line line(const std::string& text) { return {text.data(), text.size()}; }

Options options_for(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "sort");
  Result<Options> options = parse_options(arguments, "9.1");
  EXPECT_TRUE(options) << shown(arguments);
  return *options;
}

const std::vector<std::vector<std::string>>& command_lines() {
  static const std::vector<std::vector<std::string>> lines = {{},
                                                              {"-r"},
                                                              {"-s"},
                                                              {"-u"},
                                                              {"-f"},
                                                              {"-d"},
                                                              {"-i"},
                                                              {"-fdi"},
                                                              {"-n"},
                                                              {"-nr"},
                                                              {"-nu"},
                                                              {"-g"},
                                                              {"-h"},
                                                              {"-hrs"},
                                                              {"-M"},
                                                              {"-V"},
                                                              {"-b"},
                                                              {"-fu"},
                                                              {"-z"},
                                                              {"-k2"},
                                                              {"-k2,2n"},
                                                              {"-k1.3,2.4f"},
                                                              {"-t,", "-k2,2n", "-k1,1r"},
                                                              {"-u", "-k2,2"},
                                                              {"-k1,1", "-k2,2gr", "-s"},
                                                              {"-k2h", "-k1M"},
                                                              {"-Vfd"},
                                                              {"-k1iV"},
                                                              {"-hf"}};
  return lines;
}

std::string random_line(std::mt19937_64& random, int kind) {
  static const std::vector<std::string> words = {"a",
                                                 "B",
                                                 "ab",
                                                 "aB",
                                                 "é",
                                                 "ß",
                                                 "straße",
                                                 "ch",
                                                 "Ch",
                                                 "c",
                                                 "-",
                                                 "_",
                                                 " ",
                                                 "  ",
                                                 "\t",
                                                 ",",
                                                 ".",
                                                 "0",
                                                 "00",
                                                 "1",
                                                 "12",
                                                 "9",
                                                 "-5",
                                                 "1K",
                                                 "2M",
                                                 "1.5",
                                                 "~",
                                                 "日",
                                                 "本",
                                                 "Jan",
                                                 "feb",
                                                 "NaN",
                                                 "inf",
                                                 "1e3",
                                                 "0x1f",
                                                 "the quick brown fox",
                                                 "file1.txt",
                                                 "file10.txt",
                                                 "\xff",
                                                 "\xc3",
                                                 "12345678901234567890",
                                                 ".0000000000000000001"};
  std::string text;
  switch (kind) {
    case 0:  // words
      for (size_t n = random() % 6; n > 0; --n) text += pick(words, random);
      return text;
    case 1:  // bytes
      for (size_t n = random() % 12; n > 0; --n) text += static_cast<char>(random());
      return text;
    case 2:  // few different bytes, NULs among them: many ties and prefixes
      for (size_t n = random() % 20; n > 0; --n) text += std::string_view("ab\0 ", 4)[random() % 4];
      return text;
    case 3:  // a long common start
      return std::string(40, 'x') + std::to_string(random() % 50);
    default:  // fields
      return std::to_string(random() % 30) + "," +
             std::to_string(static_cast<int>(random() % 9) - 4) + " " + pick(words, random);
  }
}

std::vector<std::string> random_lines(std::mt19937_64& random, size_t count, char terminator) {
  const int kind = static_cast<int>(random() % 6);
  std::vector<std::string> lines;
  for (size_t i = 0; i < count; ++i) {
    lines.push_back(random_line(random, kind < 5 ? kind : static_cast<int>(random() % 5)));
    std::erase(lines.back(), terminator);
  }
  return lines;
}

std::string join(const std::vector<std::string>& lines, char terminator) {
  std::string text;
  for (const std::string& each : lines) text += each + terminator;
  return text;
}

// The order of two lines by their codes alone; 2: codes cannot tell.
int order_by_codes(const Coder& coder, Line a, Line b) {
  Stage stage = coder.first_stage();
  for (int rounds = 0; rounds < 10000; ++rounds) {
    const uint64_t code_a = coder.code(a, stage);
    const uint64_t code_b = coder.code(b, stage);
    if (code_a != code_b) return code_a < code_b ? -1 : 1;
    const Next next = coder.next(code_a, stage);
    if (next == Next::done) return 0;
    if (next == Next::compare || next == Next::collate) return 2;
  }
  ADD_FAILURE() << "codes do not come to an end";
  return 2;
}

TEST(SortCodes, AgreeWithTheComparator) {
  std::mt19937_64 random(test_seed());
  const Locales locales;
  for (const std::string& locale : locales.names()) {
    Locales::select(locale);
    for (const std::vector<std::string>& arguments : command_lines()) {
      const Options options = options_for(arguments);
      const Comparator comparator(options);
      const Coder coder(comparator);
      if (coder.guessed()) continue;
      for (int i = 0; i < 2000; ++i) {
        const std::vector<std::string> pair = random_lines(random, 2, options.terminator);
        const int order = comparator.compare(line(pair[0]), line(pair[1]));
        const int by_codes = order_by_codes(coder, line(pair[0]), line(pair[1]));
        if (by_codes == 2) continue;
        EXPECT_EQ(by_codes, (order > 0) - (order < 0))
            << locale << " " << shown(arguments) << "[" << pair[0] << "] [" << pair[1] << "]";
      }
    }
  }
}

// Sorts `text` by EntrySorter and gives the lines back through a file.
std::string sort_by_entries(const Options& options, const std::string& text, int threads,
                            uint64_t memory, CodeSorter* other = nullptr) {
  const TemporaryFolder folder;
  const std::string input = folder.path() + "/in";
  std::ofstream(input, std::ios::binary) << text;
  Options from_file = options;
  from_file.files = {input};
  const Comparator comparator(from_file);
  const Coder coder(comparator);
  ThreadPool pool(threads);
  ChunkReader chunks(from_file, coder, memory, pool);
  Result<bool> got = chunks.next();
  EXPECT_TRUE(got && chunks.at_end());
  EntrySorter sorter(coder, chunks.text(), options.terminator, pool, other);
  EXPECT_TRUE(
      sorter.sort(chunks.entries(), chunks.scratch(), [&chunks] { return chunks.index_again(); }));
  const std::string path = folder.path() + "/out";
  Output output = *Output::open(path);
  EXPECT_TRUE(output.begin());
  EXPECT_TRUE(emit(chunks.entries(), chunks.text(), options.terminator, output, pool));
  EXPECT_TRUE(output.finish());
  return read_file(path, uint64_t{1} << 30).value();
}

TEST(SortEntries, AgreeWithAPlainSort) {
  std::mt19937_64 random(test_seed());
  const Locales locales;
  for (const std::string& locale : locales.names()) {
    Locales::select(locale);
    for (const std::vector<std::string>& arguments : command_lines()) {
      const Options options = options_for(arguments);
      for (const size_t count :
           {size_t{0}, size_t{1}, size_t{2}, size_t{25}, 1 + random() % 3000}) {
        const std::string text =
            join(random_lines(random, count, options.terminator), options.terminator);
        EXPECT_TRUE(sort_by_entries(options, text, 1 + static_cast<int>(random() % 3), 1 << 28) ==
                    sort_plainly(options, text))
            << locale << " " << shown(arguments) << count << " lines";
      }
    }
  }
}

// The same letters in every line, in either case, with signs between them that weigh nothing on the
// first level: only lower levels tell the lines apart.
std::string lines_of_same_letters(std::mt19937_64& random, size_t count, bool long_ones) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    // Longer than what collation keys are made of.
    if (long_ones && i % 1000 < 2) text += std::string(Coder::kMaximumCollated, '\x01');
    for (const char letter : std::string("thesameletters")) {
      text += static_cast<char>(random() % 4 == 0 ? letter - 'a' + 'A' : letter);
      if (random() % 8 == 0) text += pick<std::string>({"-", " ", "(", "\"", "─", "__"}, random);
      if (random() % 200 == 0) text += '\0';
    }
    text += '\n';
  }
  return text;
}

TEST(SortEntries, LowerLevelsDecide) {
  std::mt19937_64 random(test_seed());
  const Locales locales;
  for (const std::string& locale : locales.names()) {
    Locales::select(locale);
    for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
             {}, {"-r"}, {"-u"}, {"-s", "-k1,1"}, {"-k2r"}, {"-u", "-f"}, {"-k1,1nr", "-k1d"}}) {
      const Options options = options_for(arguments);
      for (const size_t count : {size_t{3}, size_t{4}, size_t{50}, 1 + random() % 500}) {
        const std::string text = lines_of_same_letters(random, count, random() % 2 == 0);
        EXPECT_TRUE(sort_by_entries(options, text, 1 + static_cast<int>(random() % 3), 1 << 28) ==
                    sort_plainly(options, text))
            << locale << " " << shown(arguments) << count << " lines";
      }
    }
  }
}

// More collation keys than are held at once; and a run that all threads share.
TEST(SortEntries, LowerLevelsDecideBetweenManyLines) {
  std::mt19937_64 random(test_seed());
  const Locales locales;
  Locales::select(locales.names().back());
  for (const size_t count : {size_t{60000}, size_t{140000}}) {
    const std::string text = lines_of_same_letters(random, count, false);
    for (const std::vector<std::string>& arguments :
         std::vector<std::vector<std::string>>{{}, {"-u", "-r"}}) {
      const Options options = options_for(arguments);
      EXPECT_TRUE(sort_by_entries(options, text, 2, 1 << 28) == sort_plainly(options, text))
          << shown(arguments) << count << " lines";
    }
  }
}

// The same on the first level for longer than codes tell: spelt alike, or in either case.
TEST(SortEntries, LongTextsThatBeginTheSame) {
  std::mt19937_64 random(test_seed());
  const Locales locales;
  for (const std::string& locale : locales.names()) {
    Locales::select(locale);
    for (const int capitals : {0, 4}) {
      std::string text;
      for (size_t i = 0; i < 400; ++i) {
        for (int k = 0; k < 300; ++k) {
          text += capitals != 0 && random() % 4 == 0 ? 'X' : 'x';
        }
        text += std::to_string(random() % 200) + pick<std::string>({"\n", "a\n", "-\n"}, random);
      }
      for (const std::vector<std::string>& arguments :
           std::vector<std::vector<std::string>>{{}, {"-u", "-r"}, {"-s", "-k1,1"}, {"-f"}}) {
        const Options options = options_for(arguments);
        EXPECT_TRUE(sort_by_entries(options, text, 2, 1 << 28) == sort_plainly(options, text))
            << locale << " " << shown(arguments) << capitals;
      }
    }
  }
}

TEST(SortEntries, ManyLinesUseAllThreads) {
  std::mt19937_64 random(test_seed());
  const Locales locales;
  const std::vector<std::vector<std::string>> arguments = {
      {}, {"-u"}, {"-n"}, {"-t,", "-k2,2n", "-k1,1"}, {"-V", "-s"}, {"-f", "-s"}};
  for (const std::string& locale : {std::string("C"), locales.names().back()}) {
    Locales::select(locale);
    for (const std::vector<std::string>& each : arguments) {
      const Options options = options_for(each);
      // Above the size at which runs of equal codes are shared between threads, too.
      const std::string text = join(random_lines(random, 150000, '\n'), '\n');
      EXPECT_TRUE(sort_by_entries(options, text, 3, 1 << 28) == sort_plainly(options, text))
          << locale << " " << shown(each);
    }
  }
}

// Sorts by codes as a GPU does; what it cannot do is as it was, or lost.
class OtherSorter : public CodeSorter {
 public:
  // Does every `every`th, and loses those from the `lost`th on.
  explicit OtherSorter(unsigned every, unsigned lost = UINT_MAX) : every_(every), lost_(lost) {}
  bool wants(size_t count) const override { return count > 1; }
  EntriesAre sort(std::span<Entry> entries) override {
    EXPECT_FALSE(has_lost_) << "asked again";
    if (++asked_ >= lost_) {
      has_lost_ = true;
      std::fill(entries.begin(), entries.end(), Entry{~uint64_t{0}, 7});
      return EntriesAre::lost;
    }
    if (asked_ % every_ != 0) return EntriesAre::as_they_were;
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.hi < b.hi; });
    return EntriesAre::sorted;
  }
  unsigned asked() const { return asked_; }
  bool has_lost() const { return has_lost_; }

 private:
  const unsigned every_;
  const unsigned lost_;
  unsigned asked_ = 0;
  bool has_lost_ = false;
};

TEST(SortEntries, AnotherSortsByCode) {
  std::mt19937_64 random(test_seed());
  unsigned asked = 0;
  const Locales locales;
  for (const std::string& locale : {std::string("C"), locales.names().back()}) {
    Locales::select(locale);
    for (const std::vector<std::string>& arguments : command_lines()) {
      const Options options = options_for(arguments);
      for (const size_t count : {size_t{0}, size_t{1}, size_t{2}, 1 + random() % 3000}) {
        const std::string text =
            join(random_lines(random, count, options.terminator), options.terminator);
        OtherSorter other(1 + random() % 2);
        const int threads = 1 + static_cast<int>(random() % 3);
        EXPECT_TRUE(sort_by_entries(options, text, threads, 1 << 28, &other) ==
                    sort_plainly(options, text))
            << locale << " " << shown(arguments) << count << " lines";
        asked += other.asked();
      }
    }
  }
  EXPECT_GT(asked, 30U);
}

std::string lines_with_large_runs(std::mt19937_64& random) {
  std::vector<std::string> lines;
  for (int i = 0; i < 300000; ++i) {
    lines.push_back(std::string(random() % 8 == 0 ? "a" : "a common start, ") +
                    std::to_string(random() % 100000));
  }
  return join(lines, '\n');
}

// The first time, and in the middle of a sort, when runs of equal codes are on their way.
TEST(SortEntries, WhatAnotherLosesIsMadeAnew) {
  std::mt19937_64 random(test_seed());
  const Locales locales;
  const std::string text = lines_with_large_runs(random);
  for (const std::string& locale : {std::string("C"), locales.names().back()}) {
    Locales::select(locale);
    for (const std::vector<std::string>& arguments :
         std::vector<std::vector<std::string>>{{}, {"-u"}, {"-r", "-s"}}) {
      const Options options = options_for(arguments);
      const std::string expected = sort_plainly(options, text);
      for (const unsigned lost : {1, 2}) {
        OtherSorter other(1, lost);
        EXPECT_TRUE(sort_by_entries(options, text, 3, 1 << 28, &other) == expected)
            << locale << " " << shown(arguments) << lost;
        EXPECT_TRUE(other.has_lost() || other.asked() < lost);
        EXPECT_TRUE(other.has_lost() || lost > 1);
      }
    }
  }
}

// Counts what becomes of the entries that a GpuSorter is given.
class Watched : public CodeSorter {
 public:
  explicit Watched(GpuSorter& sorter) : sorter_(sorter) {}
  bool wants(size_t count) const override { return sorter_.wants(count); }
  EntriesAre sort(std::span<Entry> entries) override {
    const EntriesAre are = sorter_.sort(entries);
    ++times_[static_cast<size_t>(are)];
    return are;
  }
  int times(EntriesAre are) const { return times_[static_cast<size_t>(are)]; }

 private:
  GpuSorter& sorter_;
  std::array<int, 3> times_ = {};
};

// Wherever the device is lost while it sorts.
TEST(SortEntries, AGpuThatIsLostLosesNoLine) {
  std::mt19937_64 random(test_seed());
  const std::string text = lines_with_large_runs(random);
  const Options options = options_for({"-s"});
  const std::string expected = sort_plainly(options, text);
  std::array<int, 3> seen = {};
  for (int operations = 0; operations < 60; operations += 2) {
    const auto device = std::make_shared<device::FailingDevice>(INT_MAX);
    GpuSorter sorter(
        1, [&] { return std::shared_ptr<device::Device>(device); }, 2);
    std::vector<Entry> few = {{.lo = 0, .hi = 2}, {.lo = 1, .hi = 1}};
    ASSERT_EQ(sorter.sort(few), EntriesAre::sorted);  // it is open
    device->fail_after(operations);
    Watched watched(sorter);
    EXPECT_TRUE(sort_by_entries(options, text, 2, 1 << 28, &watched) == expected) << operations;
    for (size_t are = 0; are < seen.size(); ++are) {
      seen[are] += watched.times(static_cast<EntriesAre>(are));
    }
  }
  EXPECT_GT(seen[static_cast<size_t>(EntriesAre::as_they_were)], 2);
  EXPECT_GT(seen[static_cast<size_t>(EntriesAre::lost)], 0);
  EXPECT_GT(seen[static_cast<size_t>(EntriesAre::sorted)], 0);
}

// Numbers that differ in spelling alone, and what only looks like them.
TEST(SortEntries, BareNumbersAreTheSameBytes) {
  std::mt19937_64 random(test_seed());
  const Locales locales;
  const auto number = [&] {
    std::string digits = std::to_string(random() % 40);
    const auto variant = random() % 24;
    if (variant < 6) return digits;
    if (variant < 9) return "-" + digits;
    if (variant == 9) return std::string(1 + random() % 3, '0') + digits;
    if (variant == 10)
      return digits + pick<std::string>({".0", ".", ".5", ".50", " ", "x"}, random);
    if (variant == 11) return pick<std::string>({" ", "+", "--", "-0", "0"}, random) + digits;
    if (variant == 12) return pick<std::string>({"", "0", "-0", "-", "a", "00", "-a"}, random);
    if (variant == 13) return "1," + std::to_string(100 + random() % 3);
    if (variant == 14) return std::to_string(1100 + random() % 3);
    if (variant == 15) return std::to_string(random() % 3) + std::string(15 + random() % 3, '0');
    if (variant == 16) return "1" + std::string(253 + random() % 4, '7');
    if (variant == 17) return "." + digits;
    if (variant > 20) {
      const std::string decimals = pick<std::string>({"1", "10", "100", "05", "050", "5"}, random);
      return pick<std::string>({"", "-", "0"}, random) + digits + "." + decimals;
    }
    if (variant == 18) return "12345678901234" + pick<std::string>({"5.5", "56.5", ".5"}, random);
    return std::to_string(1'000'000 + random() % 20);
  };
  for (const std::string& locale : locales.names()) {
    Locales::select(locale);
    for (const std::vector<std::string>& arguments :
         std::vector<std::vector<std::string>>{{"-n"},
                                               {"-nr"},
                                               {"-n", "-s"},
                                               {"-nu"},
                                               {"-k1n"},
                                               {"-k1,1nr"},
                                               {"-k1bn", "-k2"},

                                               {"-n", "-k1.2"},
                                               {"-h"}}) {
      const Options options = options_for(arguments);
      for (const size_t count : {size_t{20}, size_t{5000}}) {
        std::vector<std::string> lines;
        for (size_t i = 0; i < count; ++i) lines.push_back(number());
        const std::string text = join(lines, '\n');
        const std::string expected = sort_plainly(options, text);
        EXPECT_TRUE(sort_by_entries(options, text, 2, 1 << 28) == expected)
            << locale << " " << shown(arguments) << count;
        OtherSorter other(1);
        EXPECT_TRUE(sort_by_entries(options, text, 2, 1 << 28, &other) == expected)
            << locale << " " << shown(arguments) << count;
      }
    }
  }
}

// Lines of one length whose numbers have one code, and which differ all the same.
TEST(SortEntries, AsLongAsOneAnotherIsNotTheSame) {
  const Options options = options_for({"-n"});
  for (const std::vector<std::string>& lines : std::vector<std::vector<std::string>>{
           {"b", "a", "0"},
           {"00", "-0", "ab", "aa"},
           {"0.5", ".50", " .5"},
           {"-.5", "-.5", "-.5"},
           {"015.5", "15.50", " 15.5"},
           {"-7x", "-7a", "-07"},
           {"12345678901234568", "12345678901234567"},
           {"12345678901234.568", "12345678901234.567"},
           {std::string(255, '7') + "8", std::string(255, '7') + "7"}}) {
    const std::string text = join(lines, '\n');
    EXPECT_EQ(sort_by_entries(options, text, 1, 1 << 28), sort_plainly(options, text));
  }
}

// Sorted before, but for one line, or not at all: with and without another.
TEST(SortEntries, LinesThatAreInOrderAlready) {
  std::mt19937_64 random(test_seed());
  std::vector<std::string> lines;
  for (int i = 0; i < 200000; ++i) lines.push_back(std::to_string(random() % 30000));
  std::sort(lines.begin(), lines.end());
  for (const size_t misplaced : {size_t{0}, size_t{1}, (size_t{1} << 14) - 1, lines.size() - 1}) {
    std::vector<std::string> almost = lines;
    if (misplaced > 0) almost[misplaced] = "";
    const std::string text = join(almost, '\n');
    for (const std::vector<std::string>& arguments :
         std::vector<std::vector<std::string>>{{}, {"-u"}, {"-s"}, {"-r"}, {"-n"}}) {
      const Options options = options_for(arguments);
      const std::string expected = sort_plainly(options, text);
      EXPECT_TRUE(sort_by_entries(options, text, 3, 1 << 28) == expected)
          << shown(arguments) << misplaced;
      OtherSorter other(1);
      EXPECT_TRUE(sort_by_entries(options, text, 3, 1 << 28, &other) == expected)
          << shown(arguments) << misplaced;
      if (arguments.empty()) {
        EXPECT_EQ(other.asked(), misplaced == 0 ? 0U : 1U);
      }
    }
  }
}

// Runs of equal codes that are large enough for all threads are sorted by the other, too.
TEST(SortEntries, AnotherSortsLargeRuns) {
  std::mt19937_64 random(test_seed());
  const std::string text = lines_with_large_runs(random);
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{}, {"-u"}, {"-r", "-s"}, {"-k2n"}}) {
    const Options options = options_for(arguments);
    OtherSorter other(1);
    EXPECT_TRUE(sort_by_entries(options, text, 3, 1 << 28, &other) == sort_plainly(options, text))
        << shown(arguments);
    EXPECT_GT(other.asked(), arguments.empty() ? 1U : 0U);
  }
}

TEST(SortEntriesGpu, AgreesWithAPlainSort) {
  const Result<device::Device*> gpu = device::find_device("cuda");
  if (!gpu) GTEST_SKIP() << gpu.error().message;
  std::mt19937_64 random(test_seed());
  const Locales locales;
  GpuSorter sorter(1, lent_gpu(GpuUse::any), 3);
  for (const std::string& locale : {std::string("C"), locales.names().back()}) {
    Locales::select(locale);
    for (const std::vector<std::string>& arguments : command_lines()) {
      const Options options = options_for(arguments);
      for (const size_t count : {size_t{2}, 1 + random() % 3000, 150000 + random() % 10000}) {
        const std::string text =
            join(random_lines(random, count, options.terminator), options.terminator);
        EXPECT_TRUE(sort_by_entries(options, text, 3, 1 << 28, &sorter) ==
                    sort_plainly(options, text))
            << locale << " " << shown(arguments) << count << " lines";
        ASSERT_TRUE(sorter.wants(1));  // it still works
      }
    }
  }
  EXPECT_TRUE(sorter.was_used());
}

TEST(SortEntries, LinesLongerThanAReferenceHolds) {
  const std::string base(LineRef::kLong, 'q');
  std::vector<std::string> lines = {base + "b", base, base + "a", "q", base.substr(1), base + "a"};
  const Options options = options_for({"-s"});
  const std::string text = join(lines, '\n');
  EXPECT_TRUE(sort_by_entries(options, text, 2, 1 << 30) == sort_plainly(options, text));
}

TEST(SortCollation, Level1MatchesStrxfrm) {
  const Locales locales;
  std::mt19937_64 random(test_seed());
  for (const std::string& locale : locales.names()) {
    Locales::select(locale);
    if (!read_locale().hard_collation) continue;
    const Collation collation(true);
    for (int i = 0; i < 3000; ++i) {
      std::string text;
      for (size_t n = random() % 20; n > 0; --n) {
        text += locale.ends_with("UTF-8")
                    ? pick<std::string>({"a", "Z", " ", "-", "é", "ß", "æ", "日", "€", "0"}, random)
                    : std::string(1, static_cast<char>(1 + random() % 255));
      }
      char whole[512];
      std::string expected(whole, std::strxfrm(whole, text.c_str(), sizeof whole));
      expected.resize(std::min(expected.find('\1'), expected.size()));
      const size_t skip = random() % 24;
      unsigned char out[Collation::kLevelBytes];
      const size_t length = collation.level1(text, skip, out);
      EXPECT_EQ(std::string(reinterpret_cast<char*>(out), length),
                expected.substr(std::min(skip, expected.size()), Collation::kLevelBytes))
          << locale << " [" << text << "]";
    }
  }
}

TEST(SortChunks, HoldAllInputWithinTheLimit) {
  std::mt19937_64 random(test_seed());
  const TemporaryFolder folder;
  Options options = options_for({});
  std::string expected;
  for (int file = 0; file < 5; ++file) {
    const std::string path = folder.path() + "/" + std::to_string(file);
    std::string text = join(random_lines(random, random() % 60000, '\n'), '\n');
    if (file == 2) text.clear();
    if (file == 3) text += std::string(3 << 20, 'L');  // longer than the limit, no terminator
    std::ofstream(path, std::ios::binary) << text;
    if (file == 0) options.files.clear();
    options.files.push_back(path);
    if (!text.empty() && text.back() != '\n') text += '\n';
    expected += text;
  }
  const Comparator comparator(options);
  const Coder coder(comparator);
  ThreadPool pool(2);
  ChunkReader chunks(options, coder, ChunkReader::kLeastMemory, pool);
  std::string text;
  while (true) {
    Result<bool> got = chunks.next();
    ASSERT_TRUE(got) << got.error().message;
    if (!*got) break;
    text.append(chunks.text(), chunks.text_bytes());
    uint64_t at = 0;
    for (const Entry& entry : chunks.entries()) {
      ASSERT_EQ(LineRef::offset(entry.lo), at);
      at += LineRef::line(entry.lo, chunks.text(), '\n').length + 1;
    }
    ASSERT_EQ(at, chunks.text_bytes());
    EXPECT_TRUE(chunks.entries().size() == 1 ||
                at + chunks.entries().size() * 32 < 2 * ChunkReader::kLeastMemory + (4 << 20));
  }
  EXPECT_TRUE(text == expected);
  EXPECT_TRUE(chunks.at_end());
}

}  // namespace
}  // namespace hoist::sort
