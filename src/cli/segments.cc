#include "cli/segments.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/file.h"
#include "cli/openssl_config.h"

namespace hoist::cli {
namespace {

namespace fs = std::filesystem;

template <size_t N>
std::string_view text_of(const char (&array)[N]) {
  return {array, ::strnlen(array, N)};
}

std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return out;
}

std::string command_of(const hoist_program_slot& slot) {
  std::string command;
  for (const std::string_view word : arguments_of(slot)) {
    if (!command.empty()) command += ' ';
    command += word.empty() ? "''" : printable(word);
  }
  return command;
}

bool in_use(const Counters& counters) {
  if (is_alive(counters.layout()->root_pid)) return true;
  const std::vector<ProgramRecord> programs = programs_of(counters);
  return std::any_of(programs.begin(), programs.end(),
                     [](const ProgramRecord& program) { return is_alive(program.pid); });
}

// Removes the file unless a process holds it. The lock is kept until it is gone: whoever has just
// made the file waits for the lock and then finds it without a name.
void remove_unheld(const std::string& path) {
  const Result<UniqueFd> file = open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  struct stat info;
  const bool ours = file && ::fstat(file->get(), &info) == 0 && S_ISREG(info.st_mode) &&
                    info.st_uid == ::geteuid();
  if (ours && ::flock(file->get(), LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
}

// Where segments are if there is no room in Counters::directory().
std::string second_folder() {
  const char* temporary = std::getenv("TMPDIR");
  return fmt::format("{}/hoist-{}",
                     temporary != nullptr && temporary[0] == '/' ? temporary : "/tmp", ::geteuid());
}

// A segment there. Who is done removes the folder unless there is something in it, which may be
// between our making it and our making a file in it.
Result<std::unique_ptr<Counters>> create_in_second_folder(const std::string& folder) {
  constexpr int kMostTries = 1000;
  Result<std::unique_ptr<Counters>> counters = fail(ErrorCode::io, "not tried");
  for (int i = 0; i < kMostTries; ++i) {
    const Result<std::string> made = make_own_folder(folder);
    counters = made ? Counters::create_in(folder, ::getpid()) : made.error();
    const bool cannot_be_made = !made && made.error().code == ErrorCode::io;
    if (counters || cannot_be_made || counters.error().system_errno != ENOENT) break;
  }
  return counters;
}

void add_entries(const std::string& folder, std::vector<fs::directory_entry>& list) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    list.push_back(*at);
  }
}

std::vector<fs::directory_entry> entries() {
  std::vector<fs::directory_entry> list;
  if (const Result<std::string> directory = Counters::directory()) add_entries(*directory, list);
  if (is_own_folder(second_folder())) add_entries(second_folder(), list);
  return list;
}

}  // namespace

bool is_alive(int pid) {
  if (pid <= 0 || (::kill(pid, 0) != 0 && errno != EPERM)) return false;
  // A process that has ended and waits to be collected may wait for ever, where its parent is gone
  // and nobody collects. Its state is the letter behind the name in parentheses.
  const Result<std::string> status = read_file(fmt::format("/proc/{}/stat", pid), 4096);
  const size_t name_end = status ? status->rfind(')') : std::string::npos;
  return name_end == std::string::npos || status->compare(name_end, 3, ") Z") != 0;
}

std::vector<Segment> open_segments() {
  std::vector<Segment> segments;
  for (const fs::directory_entry& entry : entries()) {
    Result<std::unique_ptr<Counters>> counters = Counters::open(entry.path());
    if (counters) segments.push_back({entry.path(), std::move(*counters)});
  }
  for (std::unique_ptr<Counters>& counters : Counters::open_private()) {
    segments.push_back({counters->path(), std::move(counters)});
  }
  return segments;
}

void sweep_segments() {
  for (const fs::directory_entry& entry : entries()) {
    std::error_code ignored;
    if (entry.is_symlink(ignored)) {
      if (!fs::exists(entry.path(), ignored)) fs::remove(entry.path(), ignored);
      continue;
    }
    if (is_openssl_configuration(entry.path().filename().native())) continue;
    const Result<std::unique_ptr<Counters>> counters = Counters::open(entry.path());
    if (counters && in_use(**counters)) continue;
    remove_unheld(entry.path());
  }
}

OwnSegment::OwnSegment() : counters_(std::make_unique<Counters>()) {
  const Result<std::string> shared = Counters::directory();
  Result<std::unique_ptr<Counters>> counters =
      shared ? Counters::create_in(*shared, ::getpid()) : shared.error();
  if (!counters) {
    why_not_ = counters.error().message;
    counters = create_in_second_folder(second_folder());
    if (is_own_folder(second_folder())) folder_ = second_folder();
  }
  if (counters) counters_ = std::move(*counters);
}

void OwnSegment::remove() const {
  if (!counters_->path().empty()) ::unlink(counters_->path().c_str());
  if (!folder_.empty()) ::rmdir(folder_.c_str());  // unless others use it
}

std::vector<ProgramRecord> programs_of(const Counters& counters) {
  std::vector<ProgramRecord> programs;
  const hoist_counters* layout = counters.layout();
  if (layout == nullptr) return programs;
  const uint32_t count = std::min<uint32_t>(
      __atomic_load_n(&layout->program_count, __ATOMIC_ACQUIRE), counters.program_slots());
  for (uint32_t i = 0; i < count; ++i) {
    const hoist_program_slot& slot = layout->programs[i];
    if (__atomic_load_n(&slot.ready, __ATOMIC_ACQUIRE) != 1) continue;
    programs.push_back(
        {slot.pid, slot.taken_over != 0, printable(text_of(slot.reason)), command_of(slot)});
  }
  return programs;
}

}  // namespace hoist::cli
