#include "cli/conformance.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>

#include "base/counters.h"
#include "base/file.h"
#include "cli/process.h"

namespace hoist::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaximumFile = size_t{64} << 20;

// Inputs are given this time, and programs may copy it to what they write.
constexpr time_t kInputTime = 1000000000;

struct CaseOutcome {
  Outcome process;
  std::map<std::string, std::string> files;  // name → mode, age, content
};

class ScratchDirectory {
 public:
  explicit ScratchDirectory(fs::path path) : path_(std::move(path)) {}
  ~ScratchDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

Result<std::map<std::string, std::string>> describe_files(const std::string& directory) {
  std::map<std::string, std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    struct stat info;
    if (::lstat(at->path().c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    const Result<std::string> content = read_file(at->path(), kMaximumFile);
    if (!content) return content.error();
    files[fs::relative(at->path(), directory)] = fmt::format(
        "{:o} {} {}", info.st_mode & 07777U, info.st_mtime == kInputTime ? "old" : "new", *content);
  }
  return files;
}

// Fresh content for a file that must not exist yet.
Status write_input(const std::string& path, std::string_view content) {
  Result<UniqueFd> file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0640);
  if (!file) return file.error();
  if (Status done = write_full(file->get(), content.data(), content.size(), path); !done) {
    return done;
  }
  const timespec times[2] = {{kInputTime, 0}, {kInputTime, 0}};
  if (::futimens(file->get(), times) != 0) {
    return fail(ErrorCode::io, fmt::format("cannot set the time of {}", path), errno);
  }
  return {};
}

Result<std::string> compress(const std::string& gzip, const InputFile& file,
                             const std::string& directory) {
  if (Status done = write_input(directory + "/" + file.name, file.content); !done) {
    return done.error();
  }
  Result<Outcome> outcome =
      run_captured({gzip, {"gzip", "-n", "-c", "-6"}, {"HOIST=off"}, directory, file.name});
  if (!outcome) return outcome.error();
  if (outcome->status != 0) {
    return fail(ErrorCode::internal,
                fmt::format("{} does not compress: {}", gzip, outcome->errors));
  }
  std::string packed = std::move(outcome->output);
  if (file.form == InputFile::Form::gzip_truncated) packed.resize(packed.size() / 2);
  if (file.form == InputFile::Form::gzip_damaged) packed[packed.size() / 2] ^= 0x10;
  if (file.form == InputFile::Form::gzip_with_garbage) packed += "garbage";
  if (file.form == InputFile::Form::gzip_twice) packed += packed;
  return packed;
}

Status empty_directory(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (fs::create_directory(path, error)) return {};
  return fail(ErrorCode::io, fmt::format("cannot create {} ({})", path, error.message()));
}

// The matrix's files as they shall lie in the directory, compressed where they ask for it.
Result<std::vector<InputFile>> prepare(const Subject& subject, const std::vector<InputFile>& files,
                                       const std::string& directory) {
  if (Status done = empty_directory(directory); !done) return done.error();
  std::vector<InputFile> prepared;
  for (const InputFile& file : files) {
    if (file.form == InputFile::Form::plain) {
      prepared.push_back(file);
      continue;
    }
    Result<std::string> packed = compress(subject.path, file, directory);
    if (!packed) return packed.error();
    prepared.push_back({file.name + ".gz", std::move(*packed)});
  }
  return prepared;
}

std::string compare(const CaseOutcome& original, const CaseOutcome& engine) {
  if (original.process.status != engine.process.status) return "exit status";
  if (original.process.output != engine.process.output) return "standard output";
  if (original.process.errors != engine.process.errors) return "standard error";
  if (original.files != engine.files) return "the files left behind";
  return {};
}

// One side of a case: fresh inputs, the program, what it left.
Result<CaseOutcome> run_case(const KnownBuild& build, const ConformanceCase& one,
                             const std::vector<InputFile>& inputs, Command command) {
  if (Status done = empty_directory(command.directory); !done) return done.error();
  for (const InputFile& file : inputs) {
    Status done = write_input(command.directory + "/" + file.name, file.content);
    if (!done) return done.error();
  }
  command.words = {build.program};
  command.words.insert(command.words.end(), one.arguments.begin(), one.arguments.end());
  command.variables.push_back("LC_ALL=" + one.locale);
  if (!one.standard_input_from.empty()) command.standard_input = one.standard_input_from;
  Result<Outcome> process = run_captured(command);
  if (!process) return process.error();
  Result<std::map<std::string, std::string>> files = describe_files(command.directory);
  if (!files) return files.error();
  return CaseOutcome{std::move(*process), std::move(*files)};
}

bool last_was_taken_over(const Counters& counters) {
  const uint32_t count = std::min(counters.layout()->program_count, counters.program_slots());
  return count > 0 && counters.layout()->programs[count - 1].taken_over == 1;
}

std::string shown(const Subject& subject, const ConformanceCase& one) {
  std::string text = fmt::format("LC_ALL={} {}", one.locale, subject.build.program);
  for (const std::string& word : one.arguments) {
    text += ' ';
    for (const char c : word) text += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  if (!one.standard_input_from.empty()) text += " < " + one.standard_input_from;
  return text;
}

}  // namespace

Result<std::vector<CaseResult>> check_conformance(const Subject& subject) {
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "hoist-conformance-XXXXXX").string();
  if (error || ::mkdtemp(pattern.data()) == nullptr) {
    return fail(ErrorCode::io, fmt::format("cannot create a scratch directory ({})", pattern),
                errno);
  }
  const ScratchDirectory scratch{pattern};
  const std::string segment = pattern + "/counters";
  Result<std::unique_ptr<Counters>> counters = Counters::create(segment, ::getpid());
  if (!counters) return counters.error();

  const KnownBuild& build = subject.build;
  const std::vector<std::string> taken = {
      fmt::format("{}={}:{}:{}:{}", HOIST_TAKEOVER_ENV, build.program, build.package, build.version,
                  subject.path),
      fmt::format("{}={}", HOIST_COUNTERS_ENV, segment)};
  const ConformanceMatrix matrix = conformance_matrix(build.program);
  // The same directory for both sides, so that names in messages are the same too.
  const std::string directory = pattern + "/run";
  Result<std::vector<InputFile>> inputs = prepare(subject, matrix.files, directory);
  if (!inputs) return inputs.error();
  std::vector<CaseResult> results;
  for (const ConformanceCase& one : matrix.cases) {
    const Result<CaseOutcome> original =
        run_case(build, one, *inputs, {subject.path, {}, {"HOIST=off"}, directory});
    if (!original) return original.error();
    const Result<CaseOutcome> engine =
        run_case(build, one, *inputs, {subject.engine, {}, taken, directory});
    if (!engine) return engine.error();
    results.push_back(
        {shown(subject, one), last_was_taken_over(**counters), compare(*original, *engine)});
  }
  return results;
}

}  // namespace hoist::cli
