#include <fmt/core.h>

#include <array>
#include <cstdint>

#include "cli/conformance.h"
#include "takeover/programs.h"

namespace hoist::cli {
namespace {

using Form = InputFile::Form;
using Arguments = std::vector<std::string>;

// Words of differing letter case, with digits, blanks and bytes that are no UTF-8, the same in
// every run. Enough lines to reach the engines' parallel paths.
std::string text_lines(size_t count, uint64_t seed) {
  static constexpr std::array<const char*, 12> kWords = {
      "apple", "Banana", "cherry", "_date", "10",  "9.5e2",
      "-3",    "  x",    "Mar",    "1.10",  "2Ki", "\xc3\xa9t\xc3\xa9\xff"};
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    // Knuth's MMIX generator; the high bits are the random ones.
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    text += fmt::format("{}\t{} {},{}\n", kWords[(seed >> 33) % kWords.size()], (seed >> 40) % 1000,
                        kWords[(seed >> 50) % kWords.size()], (seed >> 20) % 100000);
  }
  return text;
}

std::string binary_bytes(size_t size) {
  std::string bytes(size, '\0');
  uint64_t state = 42;
  for (char& byte : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<char>(state >> 56);
  }
  return bytes;
}

std::vector<InputFile> sort_files() {
  const std::string text = text_lines(4000, 1);
  return {{"text", text},
          {"more", text_lines(300, 2)},
          {"sorted", "a\nb\nb\nc\n"},
          {"tail", text.substr(0, text.size() - 1)},
          {"zeros", std::string("b\0a\n\0\0c", 7)},
          {"names", std::string("text\0more", 9)},
          {"empty", ""}};
}

ConformanceMatrix sort_matrix() {
  const std::vector<Arguments> arguments = {
      {"text"},
      {"text", "more", "empty", "tail"},
      {"-n", "text"},
      {"-u", "text"},
      {"-r", "-s", "-k1,1", "text"},
      {"-t", ",", "-k2,2n", "-k1,1", "text"},
      {"-t,", "-k", "2.2,2.4r", "text"},
      {"-k2b,2f", "-k1,1dr", "text"},
      {"-f", "-i", "text"},
      {"-d", "-b", "text"},
      {"-g", "text"},
      {"-h", "text"},
      {"-M", "text"},
      {"-V", "text"},
      {"-nu", "-k2", "text"},
      {"-z", "zeros"},
      {"-m", "sorted", "sorted"},
      {"-c", "text"},
      {"-C", "sorted"},
      {"-cu", "sorted"},
      {"-o", "text", "text"},
      {"-o", "out", "-S", "64K", "-T", ".", "text"},
      {"--files0-from=names"},
      {"--parallel=3", "--batch-size=2", "text", "more", "tail"},
      {"text", "missing"},
      {"."},
      {"-k", "0", "text"},
      {"-n", "-d", "text"}};
  ConformanceMatrix matrix{sort_files(), {}};
  for (const char* locale : {"C", "C.UTF-8", "en_US.UTF-8"}) {
    for (const Arguments& words : arguments) matrix.cases.push_back({words, locale, ""});
  }
  matrix.cases.push_back({{}, "C", "text"});
  matrix.cases.push_back({{"-", "more"}, "C", "text"});
  return matrix;
}

std::vector<InputFile> hash_files() {
  const std::string digest(32, 'd');
  std::vector<InputFile> files = {{"text", text_lines(4000, 3)},
                                  {"binary", binary_bytes(1000003)},
                                  {"empty", ""},
                                  {"one", "x"},
                                  {"new\nline\\", "escaped\n"},
                                  {"-dash", "dash\n"},
                                  {"list", "not a checksum\n" + digest + "  text\n"},
                                  {"md5",
                                   "d41d8cd98f00b204e9800998ecf8427e  empty\n"
                                   "MD5 (empty) = d41d8cd98f00b204e9800998ecf8427e\r\n"},
                                  {"gone", digest + digest + "  missing\n"}};
  for (const size_t size : {55, 56, 63, 64, 65, 127, 128, 129, 4096, 65537}) {
    files.push_back({fmt::format("size{}", size), binary_bytes(size)});
  }
  return files;
}

ConformanceMatrix hash_matrix(const std::string& program) {
  std::vector<Arguments> arguments = {{"text"},
                                      {"binary", "empty", "one"},
                                      {"size55", "size56", "size63", "size64", "size65", "size127",
                                       "size128", "size129", "size4096", "size65537"},
                                      {"new\nline\\"},
                                      {"--", "-dash"},
                                      {"missing", "text", ".", "one"},
                                      {"-b", "binary"},
                                      {"-t", "text"},
                                      {"--tag", "text", "new\nline\\"},
                                      {"--tag", "-t", "text"},
                                      {"-z", "text", "one"},
                                      {"-z", "new\nline\\"},
                                      {"-c", "list"},
                                      {"-c", "--status", "list"},
                                      {"-c", "--quiet", "--warn", "list"},
                                      {"-c", "--strict", "list"},
                                      {"-c", "--ignore-missing", "gone"},
                                      {"-c", "gone"},
                                      {"-c", "md5"},
                                      {"-c", "missing"},
                                      {"-c", "empty"},
                                      {"--quiet", "text"},
                                      {"text", "--tag", "one"}};
  if (program == "b2sum") {
    for (const char* bits : {"8", "256", "512", "7", "520"})
      arguments.push_back({"-l", bits, "text"});
  }
  if (program == "cksum") {
    for (const char* name : {"sysv", "bsd", "crc", "md5", "sha1", "sha224", "sha256", "sha384",
                             "sha512", "blake2b", "sm3"}) {
      arguments.push_back({"-a", name, "binary", "one"});
      arguments.push_back({"-a", name, "--untagged", "text"});
    }
  }
  ConformanceMatrix matrix{hash_files(), {}};
  for (const Arguments& words : arguments) matrix.cases.push_back({words, "C", ""});
  matrix.cases.push_back({{}, "C", "binary"});
  matrix.cases.push_back({{"-", "text"}, "C.UTF-8", "one"});
  return matrix;
}

ConformanceMatrix gzip_matrix() {
  const std::string text = text_lines(20000, 4);
  ConformanceMatrix matrix;
  matrix.files = {{"text", text, Form::gzip},        {"binary", binary_bytes(300001), Form::gzip},
                  {"empty", "", Form::gzip},         {"cut", text, Form::gzip_truncated},
                  {"bad", text, Form::gzip_damaged}, {"tail", text, Form::gzip_with_garbage},
                  {"twice", text, Form::gzip_twice}, {"plain.gz", "this is not compressed\n"},
                  {"other.txt", "another suffix\n"}, {"exists", text, Form::gzip},
                  {"exists", "in the way\n"}};
  const std::vector<Arguments> arguments = {{"-d", "text.gz"},
                                            {"-dk", "text.gz"},
                                            {"-dc", "text.gz"},
                                            {"-dc", "text.gz", "twice.gz", "empty.gz"},
                                            {"-d", "text.gz", "binary.gz"},
                                            {"-dv", "text.gz"},
                                            {"-dN", "text.gz"},
                                            {"-dn", "text.gz"},
                                            {"-d", "text"},
                                            {"-t", "text.gz", "twice.gz"},
                                            {"-tv", "text.gz", "bad.gz", "cut.gz"},
                                            {"-l", "text.gz", "binary.gz"},
                                            {"-dc", "cut.gz"},
                                            {"-d", "cut.gz"},
                                            {"-dc", "bad.gz"},
                                            {"-d", "bad.gz"},
                                            {"-dc", "tail.gz"},
                                            {"-dq", "tail.gz"},
                                            {"-d", "plain.gz"},
                                            {"-d", "other.txt"},
                                            {"-df", "exists.gz"},
                                            {"-dc", "missing.gz"},
                                            {"-d", "."},
                                            {"-dr", "."},
                                            {"-dS", ".gz", "text.gz"},
                                            {"--decompress", "--stdout", "twice.gz"},
                                            {"-dcf", "plain.gz"}};
  for (const Arguments& words : arguments) matrix.cases.push_back({words, "C", ""});
  for (const char* name : {"text.gz", "twice.gz", "cut.gz", "bad.gz", "tail.gz", "plain.gz"}) {
    matrix.cases.push_back({{"-d"}, "C", name});
    matrix.cases.push_back({{"-t"}, "C.UTF-8", name});
  }
  return matrix;
}

}  // namespace

ConformanceMatrix conformance_matrix(const std::string& program) {
  const hoist_program* known = hoist_find_program(program.c_str());
  if (known == nullptr) return {};
  switch (known->operation) {
    case HOIST_SORT:
      return sort_matrix();
    case HOIST_HASH:
      return hash_matrix(program);
    case HOIST_GUNZIP:
      return gzip_matrix();
    default:
      return {};
  }
}

}  // namespace hoist::cli
