#include "ops/hash/options.h"

#include <getopt.h>

#include <charconv>
#include <iterator>
#include <span>
#include <string_view>

namespace hoist::hash {
namespace {

enum LongOption {
  kTag = 256,
  kUntagged,
  kIgnoreMissing,
  kQuiet,
  kStatus,
  kStrict,
  kOriginalOnly,  // the original handles it
};

// Both releases of every option, so that an abbreviation that is ambiguous for one of them is
// ambiguous here and goes to the original.
constexpr option kCommonOptions[] = {{"check", no_argument, nullptr, 'c'},
                                     {"ignore-missing", no_argument, nullptr, kIgnoreMissing},
                                     {"quiet", no_argument, nullptr, kQuiet},
                                     {"status", no_argument, nullptr, kStatus},
                                     {"strict", no_argument, nullptr, kStrict},
                                     {"tag", no_argument, nullptr, kTag},
                                     {"warn", no_argument, nullptr, 'w'},
                                     {"zero", no_argument, nullptr, 'z'},
                                     {"help", no_argument, nullptr, kOriginalOnly},
                                     {"version", no_argument, nullptr, kOriginalOnly}};

constexpr option kSumOptions[] = {{"binary", no_argument, nullptr, 'b'},
                                  {"text", no_argument, nullptr, 't'}};

constexpr option kLengthOption = {"length", required_argument, nullptr, 'l'};

constexpr option kCksumOptions[] = {{"algorithm", required_argument, nullptr, 'a'},
                                    {"base64", no_argument, nullptr, kOriginalOnly},
                                    {"binary", no_argument, nullptr, kOriginalOnly},
                                    {"debug", no_argument, nullptr, kOriginalOnly},
                                    {"raw", no_argument, nullptr, kOriginalOnly},
                                    {"text", no_argument, nullptr, kOriginalOnly},
                                    {"untagged", no_argument, nullptr, kUntagged}};

struct Grammar {
  const char* short_options;
  std::vector<option> long_options;
};

Grammar grammar_of(std::string_view program) {
  Grammar grammar{"bctwz", {std::begin(kCommonOptions), std::end(kCommonOptions)}};
  const auto add = [&](std::span<const option> more) {
    grammar.long_options.insert(grammar.long_options.end(), more.begin(), more.end());
  };
  if (program == "cksum") {
    grammar.short_options = "a:cl:wz";
    add(kCksumOptions);
  } else {
    add(kSumOptions);
  }
  if (program == "b2sum") grammar.short_options = "bcl:twz";
  if (program == "cksum" || program == "b2sum") add({&kLengthOption, 1});
  grammar.long_options.push_back({nullptr, 0, nullptr, 0});
  return grammar;
}

// What the options said, before it is known whether they fit together.
struct Given {
  std::optional<Algorithm> algorithm;
  size_t length_bits = 0;
  bool tag = false;
  bool untagged = false;
  std::optional<bool> binary;  // --tag counts as --binary
};

Dialect dialect_of(std::string_view version) {
  int major = 0;
  int minor = 0;
  const char* end = version.data() + version.size();
  const auto [dot, error] = std::from_chars(version.data(), end, major);
  if (error == std::errc() && dot != end && *dot == '.') std::from_chars(dot + 1, end, minor);
  const bool classic = major != 0 && (major < 9 || (major == 9 && minor < 2));
  return classic ? Dialect::classic : Dialect::modern;
}

// Bits of --length that surely mean the same to the original.
std::optional<size_t> parse_length(std::string_view text) {
  size_t bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (bits % 8 != 0 || bits > 8 * kMaxDigestBytes) return std::nullopt;
  return bits;
}

// The last one given of --status, --quiet and --warn counts.
void set_verbosity(Options& options, int option) {
  options.status_only = option == kStatus;
  options.quiet = option == kQuiet;
  options.warn = option == 'w';
}

// False: this argument is the original's.
bool apply(int option, const char* argument, Options& options, Given& given) {
  switch (option) {
    case 'a': {
      const AlgorithmInfo* found = find_by_option(argument);
      if (!found) return false;
      given.algorithm = found->algorithm;
      return true;
    }
    case 'l': {
      const std::optional<size_t> bits = parse_length(argument);
      if (!bits) return false;
      given.length_bits = *bits;
      return true;
    }
    case 'b':
      given.binary = true;
      return true;
    case 't':
      given.binary = false;
      return true;
    case 'c':
      options.check = true;
      return true;
    case 'z':
      options.zero = true;
      return true;
    case kTag:
      given.tag = true;
      given.binary = true;
      options.tagged = true;
      return true;
    case kUntagged:
      given.untagged = true;
      options.tagged = false;
      return true;
    case kIgnoreMissing:
      options.ignore_missing = true;
      return true;
    case kStrict:
      options.strict = true;
      return true;
    case 'w':
    case kQuiet:
    case kStatus:
      set_verbosity(options, option);
      return true;
    default:
      return false;
  }
}

bool has_check_option(const Options& options) {
  return options.ignore_missing || options.quiet || options.status_only || options.strict ||
         options.warn;
}

// The reason for leaving a combination to the original, or null.
const char* objection(const Options& options, const Given& given) {
  const bool cksum = options.program == "cksum";
  if (given.length_bits > 0 && given.algorithm != Algorithm::blake2b) return "length";
  if (options.check) {
    if (options.zero || given.tag || given.binary) return "output format with --check";
    if (given.algorithm && is_plain_sum(*given.algorithm)) return "--check of a plain sum";
    // Later releases also take digests in base64 there.
    if (cksum && options.dialect != Dialect::classic) return "cksum --check";
    return nullptr;
  }
  if (has_check_option(options)) return "option for --check alone";
  if (!cksum && given.tag && given.binary == false) return "--tag with --text";
  if (given.tag && given.untagged) return "--tag with --untagged";
  return nullptr;
}

}  // namespace

Result<Options> parse_options(const Takeover& takeover) {
  Options options;
  options.program = takeover.program;
  options.dialect = dialect_of(takeover.version);
  const bool cksum = options.program == "cksum";
  options.tagged = cksum;

  Given given;
  if (!cksum) {
    const AlgorithmInfo* own = find_by_program(options.program);
    if (!own) return fail(ErrorCode::unsupported, "unknown program");
    given.algorithm = own->algorithm;
  }

  // getopt_long permutes its array, not what the original must get.
  std::vector<char*> argv;
  argv.reserve(takeover.argv.size() + 1);
  for (const std::string& argument : takeover.argv) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  const int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  const Grammar grammar = grammar_of(options.program);
  optind = 0;
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv.data(), grammar.short_options,
                                         grammar.long_options.data(), nullptr)) != -1;) {
    if (!apply(option, optarg, options, given)) {
      return fail(ErrorCode::unsupported, "argument for the original");
    }
  }
  if (const char* reason = objection(options, given)) {
    return fail(ErrorCode::unsupported, reason);
  }

  options.algorithm = given.algorithm;
  if (!options.check && !options.algorithm) options.algorithm = Algorithm::crc;
  if (options.algorithm) options.digest_bytes = info(*options.algorithm).digest_bytes;
  if (given.length_bits > 0) options.digest_bytes = given.length_bits / 8;
  options.binary = !options.tagged && given.binary.value_or(false);

  options.files.assign(argv.begin() + optind, argv.end() - 1);
  options.has_files = !options.files.empty();
  if (!options.has_files) options.files.push_back("-");
  return options;
}

}  // namespace hoist::hash
