#include <fmt/core.h>

#include <utility>

#include "base/output_file.h"
#include "cli/output_rule.h"
#include "cli/px/commands.h"
#include "cli/px/read_source.h"
#include "cli/report.h"
#include "px/compile/cpp_compiler.h"
#include "px/emit/standalone.h"

namespace hoist::cli {
namespace {

// "folder/saxpy.px" is saxpy.
std::string stem_of(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.ends_with(".px") ? name.substr(0, name.size() - 3) : name;
}

// The name becomes a part of C names.
Status check_name(const std::string& name, const std::string& path) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  bool is_right = !name.empty() && !(name[0] >= '0' && name[0] <= '9');
  for (const char c : name) is_right = is_right && is_part(c);
  if (is_right) return {};
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("{} is no name of C functions ({}): name the file with letters, digits and "
                  "_, letter first",
                  name, path));
}

Status add(std::vector<OutputFile>& files, const std::string& path, std::string_view content,
           const OutputRule& rule) {
  Result<OutputFile> file = OutputFile::create(path, rule);
  if (!file) return file.error();
  Status written = write_full(file->fd(), content.data(), content.size(), path);
  files.push_back(*std::move(file));
  return written;
}

Status add_library(std::vector<OutputFile>& files, const std::string& path,
                   const px::Standalone& made, const std::string& name, const OutputRule& rule) {
  const Result<px::CppCompiler> compiler = px::find_cpp_compiler();
  if (!compiler) return compiler.error();
  // One text is compiled, so the header goes in where it is included.
  std::string text = made.cpp;
  const std::string include = fmt::format("#include \"{}.h\"\n", name);
  if (const size_t at = text.find(include); at != std::string::npos) {
    text.replace(at, include.size(), made.header);
  }
  const auto library = px::compile_shared(*compiler, text, px::portable_options());
  if (!library) return library.error();
  return add(files, path, {reinterpret_cast<const char*>(library->data()), library->size()}, rule);
}

Status build(const PxBuildOptions& options, const PxFile& file) {
  const std::string name = stem_of(options.file);
  if (Status right = check_name(name, options.file); !right) return right;
  const px::Standalone made = px::emit_standalone(file.lowered->module, name);
  const OutputRule rule = output_rule(options.force, {options.file});
  const std::string base = fmt::format("{}/{}", options.folder, name);
  std::vector<OutputFile> files;
  if (Status done = add(files, base + ".h", made.header, rule); !done) return done;
  if (Status done = add(files, base + ".cu", made.cuda, rule); !done) return done;
  if (Status done = add(files, base + ".cc", made.cpp, rule); !done) return done;
  if (options.library) {
    const std::string path = fmt::format("{}/lib{}.so", options.folder, name);
    if (Status done = add_library(files, path, made, name, rule); !done) return done;
  }
  if (Status done = OutputFile::publish_all(files); !done) return done;
  for (const OutputFile& written : files) fmt::print("{}\n", written.name());
  return {};
}

}  // namespace

int px_build(const PxBuildOptions& options) {
  const Result<PxFile> file = load_px(options.file);
  if (!file) return report(file.error());
  if (!file->lowered) return kFailed;
  const Status done = build(options, *file);
  return done ? kDone : report(done.error());
}

}  // namespace hoist::cli
