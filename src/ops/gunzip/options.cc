#include "ops/gunzip/options.h"

#include <getopt.h>

#include <algorithm>
#include <array>

namespace hoist::gunzip {
namespace {

// All of gzip's long options, so that abbreviations are as ambiguous here as there. 'U' stands for
// whatever is left to the original.
constexpr int kLeftToOriginal = 'U';
constexpr std::array<option, 27> kLongOptions = {{
    {"ascii", no_argument, nullptr, kLeftToOriginal},
    {"to-stdout", no_argument, nullptr, 'c'},
    {"stdout", no_argument, nullptr, 'c'},
    {"decompress", no_argument, nullptr, 'd'},
    {"uncompress", no_argument, nullptr, 'd'},
    {"force", no_argument, nullptr, 'f'},
    {"help", no_argument, nullptr, kLeftToOriginal},
    {"keep", no_argument, nullptr, 'k'},
    {"list", no_argument, nullptr, 'l'},
    {"license", no_argument, nullptr, kLeftToOriginal},
    {"no-name", no_argument, nullptr, 'n'},
    {"name", no_argument, nullptr, 'N'},
    {"-presume-input-tty", no_argument, nullptr, kLeftToOriginal},
    {"quiet", no_argument, nullptr, 'q'},
    {"silent", no_argument, nullptr, 'q'},
    {"synchronous", no_argument, nullptr, kLeftToOriginal},
    {"recursive", no_argument, nullptr, 'r'},
    {"suffix", required_argument, nullptr, 'S'},
    {"test", no_argument, nullptr, 't'},
    {"verbose", no_argument, nullptr, 'v'},
    {"version", no_argument, nullptr, kLeftToOriginal},
    {"fast", no_argument, nullptr, '1'},
    {"best", no_argument, nullptr, '9'},
    {"lzw", no_argument, nullptr, kLeftToOriginal},
    {"bits", required_argument, nullptr, kLeftToOriginal},
    {"rsyncable", no_argument, nullptr, kLeftToOriginal},
    {nullptr, 0, nullptr, 0},
}};
constexpr char kShortOptions[] = "ab:cdfhH?klLmMnNqrS:tvVZ123456789";
constexpr size_t kMaxSuffix = 30;

// gzip compares suffixes in lower case; other characters would need care that nobody needs.
bool is_plain_suffix(std::string_view suffix) {
  return !suffix.empty() && suffix.size() <= kMaxSuffix &&
         std::all_of(suffix.begin(), suffix.end(), [](unsigned char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
                  c == '_';
         });
}

}  // namespace

ParsedOptions parse_options(std::string_view program, const std::vector<std::string>& argv) {
  ParsedOptions parsed;
  Options& options = parsed.options;
  options.to_stdout = program == "zcat";
  bool decompress = program == "zcat" || program == "gunzip";

  // getopt_long permutes what it is given.
  std::vector<char*> arguments;
  for (const std::string& argument : argv) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  const int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  int verbosity = 0;
  opterr = 0;
  optind = 0;
  for (int option; (option = getopt_long(count, arguments.data(), kShortOptions,
                                         kLongOptions.data(), nullptr)) != -1;) {
    switch (option) {
      case 'c':
        options.to_stdout = true;
        break;
      case 'd':
        decompress = true;
        break;
      case 'f':
        if (options.force) parsed.unsupported = "-ff";
        options.force = true;
        break;
      case 'k':
        options.keep = true;
        break;
      case 'l':
        options.list = decompress = options.to_stdout = true;
        break;
      case 'n':
        options.restore_name = false;
        break;
      case 'N':
        options.restore_name = true;
        break;
      case 'q':
        options.quiet = true;
        verbosity = 0;
        break;
      case 'r':
        options.recursive = true;
        break;
      case 'S':
        options.suffix = optarg;
        if (!is_plain_suffix(options.suffix)) parsed.unsupported = "unusual suffix";
        break;
      case 't':
        options.test = decompress = options.to_stdout = true;
        break;
      case 'v':
        options.quiet = false;
        if (++verbosity > 1) parsed.unsupported = "-vv";
        break;
      default:
        if (option < '1' || option > '9') parsed.unsupported = "option";
    }
  }
  options.verbose = verbosity > 0;
  if (!decompress) parsed.unsupported = "not decompression";
  options.operands.assign(arguments.begin() + optind, arguments.begin() + count);
  return parsed;
}

std::vector<std::string> to_arguments(const std::string& program, const Options& options,
                                      const std::vector<std::string>& operands) {
  std::string letters = "-d";
  if (options.to_stdout) letters += 'c';
  if (options.test) letters += 't';
  if (options.list) letters += 'l';
  if (options.force) letters += 'f';
  if (options.keep) letters += 'k';
  if (options.recursive) letters += 'r';
  if (options.quiet) letters += 'q';
  if (options.verbose) letters += 'v';
  if (options.restore_name) letters += 'N';
  std::vector<std::string> arguments = {program, letters, "-S", options.suffix, "--"};
  arguments.insert(arguments.end(), operands.begin(), operands.end());
  return arguments;
}

}  // namespace hoist::gunzip
