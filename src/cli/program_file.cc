#include "cli/program_file.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <limits.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <sstream>
#include <vector>

#include "base/build_id.h"
#include "base/file.h"
#include "cli/process.h"
#include "takeover/programs.h"
#include "takeover/user_table.h"

namespace hoist::cli {
namespace {

constexpr size_t kMaximumHeaders = 128;
constexpr size_t kMaximumNotes = 64 * 1024;
constexpr size_t kMaximumTable = 64 * 1024;

Error no_build_id(const std::string& path, std::string_view why) {
  return {ErrorCode::unsupported, fmt::format("cannot identify {} ({})", path, why)};
}

Result<std::vector<Elf64_Phdr>> read_headers(const UniqueFd& file, const std::string& path) {
  Elf64_Ehdr header;
  Result<size_t> got = pread_full(file.get(), &header, sizeof header, 0, path);
  if (!got) return got.error();
  if (*got != sizeof header || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr) ||
      header.e_phnum > kMaximumHeaders) {
    return no_build_id(path, "not a 64-bit ELF program");
  }
  std::vector<Elf64_Phdr> headers(header.e_phnum);
  const size_t size = headers.size() * sizeof(Elf64_Phdr);
  got = pread_full(file.get(), headers.data(), size, header.e_phoff, path);
  if (!got) return got.error();
  if (*got != size) return no_build_id(path, "the ELF file is cut");
  return headers;
}

// The user's table without the row of `build_id`.
Result<std::string> other_rows(const std::string& path, const std::string& build_id) {
  Result<std::string> content = read_file(path, kMaximumTable);
  if (!content) {
    if (content.error().system_errno == ENOENT) return std::string();
    return content;
  }
  std::string kept;
  std::istringstream lines(*content);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(build_id + " ")) kept += line + "\n";
  }
  return kept;
}

}  // namespace

Result<std::string> read_build_id(const std::string& path) {
  Result<UniqueFd> file = open_file(path, O_RDONLY | O_NONBLOCK);
  if (!file) return file.error();
  struct stat info;
  if (::fstat(file->get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return no_build_id(path, "not a regular file");
  }
  Result<std::vector<Elf64_Phdr>> headers = read_headers(*file, path);
  if (!headers) return headers.error();
  for (const Elf64_Phdr& header : *headers) {
    if (header.p_type != PT_NOTE || header.p_filesz > kMaximumNotes) continue;
    std::vector<char> notes(header.p_filesz);
    Result<size_t> got = pread_full(file->get(), notes.data(), notes.size(), header.p_offset, path);
    if (!got) return got.error();
    char hex[HOIST_BUILD_ID_HEX];
    if (hoist_build_id_in_notes(notes.data(), *got, header.p_align, hex)) return std::string(hex);
  }
  return no_build_id(path, "it has no build-id");
}

std::optional<KnownBuild> find_build(const std::string& build_id) {
  if (const hoist_build* build = hoist_find_build(build_id.c_str())) {
    return KnownBuild{build->program, hoist_find_program(build->program)->package, build->version};
  }
  hoist_user_build learnt;
  if (hoist_find_user_build(build_id.c_str(), &learnt)) {
    return KnownBuild{learnt.program, learnt.package, learnt.version, true};
  }
  return std::nullopt;
}

std::string_view operation_of(const std::string& program) {
  const hoist_program* known = hoist_find_program(program.c_str());
  return known != nullptr ? hoist_operations[known->operation].name : std::string_view();
}

// "sort (GNU coreutils) 9.1", "gzip 1.12": the first word and the last one of the first line.
Result<KnownBuild> ask_version(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename();
  const Result<Outcome> outcome =
      run_captured({path, {name, "--version"}, {"HOIST=off", "LC_ALL=C"}});
  if (!outcome) return outcome.error();
  const std::string line = outcome->output.substr(0, outcome->output.find('\n'));
  const std::string program = line.substr(0, line.find(' '));
  const hoist_program* known = hoist_find_program(program.c_str());
  if (outcome->status != 0 || known == nullptr || line.find(known->package) == line.npos) {
    return fail(ErrorCode::unsupported,
                fmt::format("no engine for {} (it calls itself \"{}\"): `hoist doctor` lists the "
                            "programs that have one",
                            path, line));
  }
  return KnownBuild{program, known->package, line.substr(line.rfind(' ') + 1)};
}

Status learn_build(const std::string& build_id, const KnownBuild& build) {
  const std::string row =
      fmt::format("{} {} {} {}\n", build_id, build.program, build.package, build.version);
  hoist_user_build parsed;
  if (!hoist_parse_user_build(row.c_str(), &parsed)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("cannot learn {} {} ({}): its name or version does not fit the table",
                            build.program, build.version, build_id));
  }
  char path[PATH_MAX];
  if (!hoist_user_table_path(path, sizeof path)) {
    return fail(ErrorCode::unavailable,
                "no place for the table of programs (HOME is not set): set XDG_DATA_HOME");
  }
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) {
    return fail(ErrorCode::io,
                fmt::format("cannot create the folder of {} ({})", path, error.message()));
  }
  Result<std::string> others = other_rows(path, build_id);
  if (!others) return others.error();
  return write_file_atomically(path, *others + row, 0600);
}

}  // namespace hoist::cli
