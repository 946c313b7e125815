// GNU sort's command line, read with the same getopt_long() that the original uses.
#include <getopt.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>

#include "ops/sort/file_names.h"
#include "ops/sort/options.h"
#include "ops/sort/spec.h"

namespace hoist::sort {
namespace {

Error aside(const char* reason) { return fail(ErrorCode::unsupported, reason); }
constexpr const char* kUsageError = "usage error";

// A leading '-' makes getopt return operands in order, as 1: where obsolete keys stand among the
// others matters.
constexpr int kOperand = 1;
constexpr char kShortOptions[] = "-bcCdfghik:mMno:rRsS:t:T:uVy:z";

enum LongOnly {
  kBatchSize = UCHAR_MAX + 1,
  kCheck,
  kCompressProgram,
  kFiles0From,
  kParallel,
  kSort,
  kUnsupported,
};

// All of GNU sort's names, so that an abbreviation is as unambiguous here as there.
constexpr option kLongOptions[] = {
    {"batch-size", required_argument, nullptr, kBatchSize},
    {"buffer-size", required_argument, nullptr, 'S'},
    {"check", optional_argument, nullptr, kCheck},
    {"compress-program", required_argument, nullptr, kCompressProgram},
    {"debug", no_argument, nullptr, kUnsupported},
    {"dictionary-order", no_argument, nullptr, 'd'},
    {"field-separator", required_argument, nullptr, 't'},
    {"files0-from", required_argument, nullptr, kFiles0From},
    {"general-numeric-sort", no_argument, nullptr, 'g'},
    {"help", no_argument, nullptr, kUnsupported},
    {"human-numeric-sort", no_argument, nullptr, 'h'},
    {"ignore-case", no_argument, nullptr, 'f'},
    {"ignore-leading-blanks", no_argument, nullptr, 'b'},
    {"ignore-nonprinting", no_argument, nullptr, 'i'},
    {"key", required_argument, nullptr, 'k'},
    {"merge", no_argument, nullptr, 'm'},
    {"month-sort", no_argument, nullptr, 'M'},
    {"numeric-sort", no_argument, nullptr, 'n'},
    {"output", required_argument, nullptr, 'o'},
    {"parallel", required_argument, nullptr, kParallel},
    {"random-sort", no_argument, nullptr, 'R'},
    {"random-source", required_argument, nullptr, kUnsupported},
    {"reverse", no_argument, nullptr, 'r'},
    {"sort", required_argument, nullptr, kSort},
    {"stable", no_argument, nullptr, 's'},
    {"temporary-directory", required_argument, nullptr, 'T'},
    {"unique", no_argument, nullptr, 'u'},
    {"version", no_argument, nullptr, kUnsupported},
    {"version-sort", no_argument, nullptr, 'V'},
    {"zero-terminated", no_argument, nullptr, 'z'},
    {nullptr, 0, nullptr, 0},
};

struct Word {
  std::string_view name;
  char letter;
};
constexpr Word kSortWords[] = {{"general-numeric", 'g'}, {"human-numeric", 'h'}, {"month", 'M'},
                               {"numeric", 'n'},         {"random", 'R'},        {"version", 'V'}};
constexpr Word kCheckWords[] = {{"quiet", 'C'}, {"silent", 'C'}, {"diagnose-first", 'c'}};

// The letter of the word that `text` is or abbreviates; 0 where there is none or more than one.
char find_word(std::span<const Word> words, std::string_view text) {
  char letter = 0;
  for (const Word& word : words) {
    if (!word.name.starts_with(text)) continue;
    if (letter != 0 && letter != word.letter) return 0;
    letter = word.letter;
  }
  return letter;
}

// Whether "+1 -2" means a key: not where _POSIX2_VERSION asks for the standard that forbade it.
bool obsolete_keys_by_default() {
  const char* text = getenv("_POSIX2_VERSION");
  if (text == nullptr || *text == '\0') return true;
  char* rest;
  const long version = std::strtol(text, &rest, 10);
  return *rest != '\0' || version < 200112 || version >= 200809;
}

enum class Release { unknown, v9_1, v9_4_or_later };

Release release_of(std::string_view version) {
  if (version == "9.1") return Release::v9_1;
  int major = 0;
  int minor = 0;
  const char* const end = version.data() + version.size();
  const auto [dot, major_error] = std::from_chars(version.data(), end, major);
  if (major_error != std::errc() || dot == end || *dot != '.') return Release::unknown;
  if (std::from_chars(dot + 1, end, minor).ec != std::errc()) return Release::unknown;
  return major > 9 || (major == 9 && minor >= 4) ? Release::v9_4_or_later : Release::unknown;
}

class CommandLine {
 public:
  explicit CommandLine(const std::vector<std::string>& argv);

  Result<Options> parse(Release release);

 private:
  Status read_arguments();
  Status take_option(int option);
  Status take_operand(const char* text);
  Status take_key(const KeySpec& spec);
  Status take_check(char letter);
  Status take_separator(const char* text);
  Status take_buffer_size(const char* text);
  Status take_batch_size(const char* text);
  Status take_threads(const char* text);
  // A repeated option that may be given twice only with the same argument.
  Status take_once(std::optional<std::string>& value, const char* text);
  Status resolve_keys(Release release);
  Status resolve_files();

  bool next_is_operand() const;

  std::vector<char*> arguments_;
  const bool posixly_correct_ = getenv("POSIXLY_CORRECT") != nullptr;
  bool obsolete_keys_ = obsolete_keys_by_default();
  OrderingLetters global_;
  std::vector<KeySpec> keys_;
  char check_ = 0;  // 'c', 'C' or neither
  bool merge_ = false;
  std::optional<std::string> output_;
  std::optional<std::string> compress_program_;
  std::optional<std::string> file_list_;
  Options options_;
};

CommandLine::CommandLine(const std::vector<std::string>& argv) {
  // getopt_long() takes pointers to non-const text, but changes none with operands in order.
  for (const std::string& argument : argv) {
    arguments_.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments_.push_back(nullptr);
}

// With POSIXLY_CORRECT all that follows an operand is an operand, except that where obsolete keys
// are taken "-o FILE" may still stand at the end, as it could in those days.
bool CommandLine::next_is_operand() const {
  if (!posixly_correct_ || options_.files.empty()) return false;
  if (!obsolete_keys_ || check_ != 0) return true;
  const char* const next = arguments_[optind];
  const bool output = next != nullptr && next[0] == '-' && next[1] == 'o' &&
                      (next[2] != '\0' || arguments_[optind + 1] != nullptr);
  return !output;
}

Status CommandLine::read_arguments() {
  const int count = static_cast<int>(arguments_.size()) - 1;
  opterr = 0;
  optind = 0;
  bool options_ended = false;
  for (;;) {
    if (!options_ended && !next_is_operand()) {
      const int option =
          getopt_long(count, arguments_.data(), kShortOptions, kLongOptions, nullptr);
      if (option != -1) {
        if (const Status taken = take_option(option); !taken) return taken;
        continue;
      }
      options_ended = true;
    }
    if (optind >= count) return {};
    options_.files.emplace_back(arguments_[optind++]);
  }
}

Status CommandLine::take_option(int option) {
  switch (option) {
    case kOperand:
      return take_operand(optarg);
    case kSort: {
      const char letter = find_word(kSortWords, optarg);
      if (letter == 0) return aside(kUsageError);
      return take_option(letter);
    }
    case kCheck: {
      const char letter = optarg == nullptr ? 'c' : find_word(kCheckWords, optarg);
      return letter == 0 ? Status(aside(kUsageError)) : take_check(letter);
    }
    case 'b':
    case 'd':
    case 'f':
    case 'g':
    case 'h':
    case 'i':
    case 'M':
    case 'n':
    case 'r':
    case 'R':
    case 'V': {
      const char letter[] = {static_cast<char>(option), '\0'};
      scan_ordering(letter, BlankSide::both, global_);
      return {};
    }
    case 'c':
    case 'C':
      return take_check(static_cast<char>(option));
    case 'k': {
      const std::optional<KeySpec> spec = scan_key(optarg);
      return spec ? take_key(*spec) : Status(aside(kUsageError));
    }
    case 'm':
      merge_ = true;
      return {};
    case 'o':
      return take_once(output_, optarg);
    case 's':
      options_.stable = true;
      return {};
    case 'S':
      return take_buffer_size(optarg);
    case 't':
      return take_separator(optarg);
    case 'T':
      options_.temporary_directories.emplace_back(optarg);
      return {};
    case 'u':
      options_.unique = true;
      return {};
    case 'z':
      options_.terminator = '\0';
      return {};
    case kBatchSize:
      return take_batch_size(optarg);
    case kCompressProgram:
      return take_once(compress_program_, optarg);
    case kFiles0From:
      file_list_ = optarg;
      return {};
    case kParallel:
      return take_threads(optarg);
    case '?':
      return aside(kUsageError);
    default:  // --debug, --help, --random-source, --version, and -y of the oldest days
      return aside("unsupported option");
  }
}

Status CommandLine::take_operand(const char* text) {
  if (text[0] == '+') {
    const char* const next = arguments_[optind];
    const bool end_follows = next != nullptr && next[0] == '-' && next[1] >= '0' && next[1] <= '9';
    // An end makes the meaning plain, wherever the standard in force allows operands to be mixed
    // with options at all.
    if (end_follows && !posixly_correct_) obsolete_keys_ = true;
    std::optional<KeySpec> spec = obsolete_keys_ ? scan_obsolete_start(text) : std::nullopt;
    if (spec) {
      if (end_follows && !scan_obsolete_end(arguments_[optind++], *spec)) return aside(kUsageError);
      return take_key(*spec);
    }
  }
  options_.files.emplace_back(text);
  return {};
}

Status CommandLine::take_key(const KeySpec& spec) {
  if (position_wraps(spec.key)) return aside("huge key position");
  keys_.push_back(spec);
  return {};
}

Status CommandLine::take_check(char letter) {
  if (check_ != 0 && check_ != letter) return aside(kUsageError);
  check_ = letter;
  return {};
}

Status CommandLine::take_separator(const char* text) {
  const bool nul = std::strcmp(text, "\\0") == 0;
  if (!nul && std::strlen(text) != 1) return aside(kUsageError);
  const int separator = nul ? 0 : static_cast<unsigned char>(text[0]);
  if (options_.field_separator >= 0 && options_.field_separator != separator) {
    return aside(kUsageError);
  }
  options_.field_separator = separator;
  return {};
}

// The largest of several sizes counts; the smallest possible one is a byte, since 0 stands for the
// default.
Status CommandLine::take_buffer_size(const char* text) {
  const std::optional<uint64_t> size = scan_buffer_size(text);
  if (!size) return aside(kUsageError);
  options_.memory_limit = std::max({options_.memory_limit, *size, uint64_t{1}});
  return {};
}

// A merge of so many files needs a descriptor for each, beside the three standard ones.
Status CommandLine::take_batch_size(const char* text) {
  const std::optional<Number> size = scan_whole_number(text);
  rlimit descriptors;
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return aside("unknown limit of descriptors");
  const uint64_t limit = std::min<uint64_t>(descriptors.rlim_cur - 3, UINT_MAX);
  if (!size || size->value < 2 || size->value > limit) return aside(kUsageError);
  options_.batch_size = static_cast<unsigned>(size->value);
  return {};
}

Status CommandLine::take_threads(const char* text) {
  const std::optional<Number> threads = scan_whole_number(text);
  if (!threads || threads->value == 0) return aside(kUsageError);
  options_.threads = static_cast<int>(std::min<uint64_t>(threads->value, INT_MAX));
  return {};
}

Status CommandLine::take_once(std::optional<std::string>& value, const char* text) {
  if (value && *value != text) return aside(kUsageError);
  value = text;
  return {};
}

Status CommandLine::resolve_keys(Release release) {
  // Global letters other than 'r' order the whole line where no key is given.
  if (keys_.empty() && global_.own()) keys_.push_back(KeySpec{});
  for (const KeySpec& spec : keys_) {
    const bool inherits = !spec.letters.own() && !spec.letters.reverse;
    const OrderingLetters& letters = inherits ? global_ : spec.letters;
    if (!letters.compatible()) return aside(kUsageError);
    if (letters.random) return aside("random sort");
    if (release == Release::unknown &&
        (letters.human_numeric || letters.general_numeric || letters.version)) {
      return aside("order of an unknown release");
    }
    Key key = spec.key;
    letters.apply(key);
    options_.keys.push_back(key);
  }
  options_.reverse = global_.reverse;
  const bool recent = release == Release::v9_4_or_later;
  options_.dialect =
      Dialect{.ronna_and_quetta = recent, .nans_by_sign = recent, .keeps_stem = recent};
  return {};
}

Status CommandLine::resolve_files() {
  if (file_list_) {
    if (!options_.files.empty()) return aside(kUsageError);
    Result<std::vector<std::string>> names = read_file_names(*file_list_);
    if (!names) return names.error();
    options_.files = std::move(*names);
  }
  if (options_.files.empty()) options_.files.emplace_back("-");
  return {};
}

Result<Options> CommandLine::parse(Release release) {
  Status status = read_arguments();
  if (status) status = resolve_keys(release);
  if (!status) return status.error();

  // The original opens an output without a name, and fails, only at the end.
  if (output_ && output_->empty()) return aside("output without a name");
  if (compress_program_ && compress_program_->empty()) return aside("compressor without a name");
  if (check_ != 0 && output_) return aside(kUsageError);
  options_.output = output_.value_or("");
  options_.compress_program = compress_program_.value_or("");
  options_.mode = check_ == 'c'   ? Mode::check
                  : check_ == 'C' ? Mode::check_quiet
                  : merge_        ? Mode::merge
                                  : Mode::sort;

  // Last, since it may read standard input.
  if (status = resolve_files(); !status) return status.error();
  if (check_ != 0 && options_.files.size() > 1) return aside(kUsageError);
  return options_;
}

}  // namespace

Result<Options> parse_options(const std::vector<std::string>& argv, std::string_view version) {
  return CommandLine(argv).parse(release_of(version));
}

}  // namespace hoist::sort
