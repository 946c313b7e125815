#include "cli/openssl_config.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "base/checksum.h"
#include "base/file.h"

namespace hoist::cli {
namespace {

constexpr size_t kConfigurationLimit = 1 << 20;
constexpr std::string_view kOurPrefix = "openssl-";
constexpr std::string_view kOurSuffix = ".cnf";
// Debian; Arch and Alpine; Fedora.
constexpr const char* kSystemFiles[] = {"/usr/lib/ssl/openssl.cnf", "/etc/ssl/openssl.cnf",
                                        "/etc/pki/tls/openssl.cnf"};

using Section = std::map<std::string, std::string>;
using Sections = std::map<std::string, Section>;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\v\f";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// Names of sections that need no quoting in config(5).
bool is_plain(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+:@%";
  return !text.empty() && text.find_first_not_of(kPlain) == text.npos;
}

// A path as a value: in quotes, within which config(5) gives nothing but the quote and the
// backslash a meaning. Nothing where the path has these, or what would end the line.
std::optional<std::string> quoted(std::string_view path) {
  const auto is_odd = [](unsigned char c) { return c < ' ' || c == 127 || c == '"' || c == '\\'; };
  if (std::any_of(path.begin(), path.end(), is_odd)) return std::nullopt;
  return is_plain(path) ? std::string(path) : fmt::format("\"{}\"", path);
}

Error aside(const std::string& why) {
  return fail(ErrorCode::unsupported, "the OpenSSL configuration " + why);
}

// config(5), as far as it is needed: what may change the meaning of other lines is refused.
Result<Sections> parse(std::string_view text) {
  Sections sections;
  std::string name = "default";
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\\')) return aside("has continued lines");  // comments, too, go on
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    if (line.starts_with(".include")) return aside("includes other files");
    if (line.starts_with(".")) continue;  // a pragma
    if (line.front() == '[') {
      name = trimmed(line.substr(1, line.size() - 1));
      if (!name.ends_with(']')) return aside("has a section that Hoist cannot read");
      name = trimmed(std::string_view(name).substr(0, name.size() - 1));
      if (!is_plain(name)) return aside("has a section that Hoist cannot read");
      sections[name];
      continue;
    }
    const size_t equals = line.find('=');
    if (equals == line.npos) continue;
    const std::string key(trimmed(line.substr(0, equals)));
    if (key.find("::") != key.npos) return aside("sets values of other sections");
    sections[name][key] = trimmed(line.substr(equals + 1));
  }
  return sections;
}

std::optional<std::string> value_of(const Sections& sections, const std::string& section,
                                    const std::string& key) {
  const auto found = sections.find(section);
  if (found == sections.end()) return {};
  const auto entry = found->second.find(key);
  return entry != found->second.end() ? std::optional(entry->second) : std::nullopt;
}

// The lines that go behind the included configuration. Sections and keys that are there already
// are used; others get names of ours.
class Additions {
 public:
  explicit Additions(const Sections& sections) : sections_(sections) {}

  // The section that [section] key names; the line that names it is added where there is none.
  Result<std::string> section_of(const std::string& section, const std::string& key,
                                 const std::string& ours) {
    const std::optional<std::string> named = value_of(sections_, section, key);
    if (!named) {
      add(section, key + " = " + ours);
      return ours;
    }
    if (!is_plain(*named)) return aside(fmt::format("has a {} that Hoist cannot follow", key));
    return *named;
  }
  void add(const std::string& section, const std::string& line) {
    text_ += fmt::format("[{}]\n{}\n", section, line);
  }
  const std::string& text() const { return text_; }

 private:
  const Sections& sections_;
  std::string text_;
};

// Providers that ours does not get in the way of. Whether the default one is there must be the
// program's own wish.
Status check_providers(const Sections& sections, const std::string& list) {
  const auto found = sections.find(list);
  if (found == sections.end()) return {};
  bool any = false;
  bool has_default = false;
  for (const auto& [name, section] : found->second) {
    if (name != "default" && name != "legacy" && name != "base") {
      return aside(fmt::format("has provider {}", name));
    }
    if (!is_plain(section)) return aside("has a provider section that Hoist cannot follow");
    const std::optional<std::string> active = value_of(sections, section, "activate");
    if (!active) continue;
    // OpenSSL 3.0 activates whatever the value is, later ones do not.
    if (*active != "1" && *active != "yes" && *active != "true" && *active != "on") {
      return aside(fmt::format("activates provider {} in a way that Hoist cannot follow", name));
    }
    any = true;
    has_default |= name == "default";
  }
  if (any && !has_default) return aside("does without the default provider");
  return {};
}

struct Source {
  std::string path;  // empty: none
  struct stat info = {};
};

Result<Source> find_source() {
  const char* const own = std::getenv("OPENSSL_CONF");
  Source source;
  if (own != nullptr) {
    source.path = own;
    if (::stat(own, &source.info) != 0 || !S_ISREG(source.info.st_mode)) {
      return aside("that OPENSSL_CONF names is no file");
    }
    return source;
  }
  for (const char* path : kSystemFiles) {
    if (::stat(path, &source.info) != 0 || !S_ISREG(source.info.st_mode)) continue;
    source.path = path;
    return source;
  }
  source.info = {};
  return source;
}

std::string name_for(const Source& source, const std::string& provider) {
  const std::string state = fmt::format("{}\n{}\n{} {} {} {}\n{}", source.path, provider,
                                        source.info.st_dev, source.info.st_ino, source.info.st_size,
                                        source.info.st_mtim.tv_sec, source.info.st_mtim.tv_nsec);
  return fmt::format("{}{:016x}{}", kOurPrefix, xxh3_64(state.data(), state.size()), kOurSuffix);
}

Result<std::string> read_source(const Source& source) {
  if (source.path.empty()) return std::string();
  const Result<UniqueFd> file = open_file(source.path, O_RDONLY);
  if (!file) return file.error();
  std::string text(kConfigurationLimit, '\0');
  const Result<size_t> size = read_full(file->get(), text.data(), text.size());
  if (!size) return size.error();
  if (*size == text.size()) return aside("is too long");
  text.resize(*size);
  return text;
}

// Others may make the same file at the same time; none sees a part of it.
Status write_file(const std::string& path, const std::string& text) {
  const std::string draft = fmt::format("{}.{}", path, ::getpid());
  const Result<UniqueFd> file =
      open_file(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (!file) return file.error();
  Status written = fail(ErrorCode::io, "cannot make " + path, EFBIG);
  if (may_grow(file->get(), text.size())) {
    written = write_full(file->get(), text.data(), text.size());
  }
  if (written && ::rename(draft.c_str(), path.c_str()) != 0) {
    written = fail(ErrorCode::io, "cannot make " + path, errno);
  }
  if (!written) ::unlink(draft.c_str());
  return written;
}

}  // namespace

Result<std::string> merged_openssl_configuration(const std::string& text,
                                                 const std::string& include,
                                                 const std::string& provider) {
  const std::optional<std::string> module = quoted(provider);
  const std::optional<std::string> included = quoted(include);
  if (!module || !included || (!include.empty() && include[0] != '/')) {
    return aside("or the provider has a path that Hoist cannot write into one");
  }
  const Result<Sections> sections = parse(text);
  if (!sections) return sections.error();
  Additions additions(*sections);
  const Result<std::string> start =
      additions.section_of("default", "openssl_conf", "hoist_configuration");
  if (!start) return start.error();
  for (const char* key : {"fips_mode", "default_properties"}) {
    const std::optional<std::string> properties = value_of(*sections, *start, "alg_section");
    if (properties && value_of(*sections, *properties, key)) {
      return aside(fmt::format("sets {}", key));
    }
  }
  const Result<std::string> list = additions.section_of(*start, "providers", "hoist_providers");
  if (!list) return list.error();
  if (Status fits = check_providers(*sections, *list); !fits) return fits.error();
  const Result<std::string> usual =
      additions.section_of(*list, "default", "hoist_default_provider");
  if (!usual) return usual.error();
  additions.add(*usual, "activate = 1");
  additions.add(*list, "hoist = hoist_provider");
  additions.add("hoist_provider", fmt::format("module = {}\nsoft_load = 1\nactivate = 1", *module));
  const Result<std::string> algorithms =
      additions.section_of(*start, "alg_section", "hoist_algorithms");
  if (!algorithms) return algorithms.error();
  additions.add(*algorithms, "default_properties = ?provider=hoist");
  const std::string first = include.empty() ? "" : fmt::format(".include {}\n", *included);
  return first + additions.text();
}

bool is_openssl_configuration(std::string_view name) {
  return name.starts_with(kOurPrefix) && name.ends_with(kOurSuffix);
}

Result<std::string> openssl_configuration(const std::string& folder, const std::string& provider) {
  if (const char* own = std::getenv("OPENSSL_CONF");
      own != nullptr && std::string_view(own).starts_with(folder + "/" + kOurPrefix.data())) {
    return std::string(own);  // a `hoist run` inside another
  }
  const Result<Source> source = find_source();
  if (!source) return source.error();
  std::string path = folder + "/" + name_for(*source, provider);
  if (::access(path.c_str(), R_OK) == 0) return path;
  if (::access(provider.c_str(), R_OK) != 0) {
    return fail(ErrorCode::not_found, provider + " is missing");
  }
  const Result<std::string> text = read_source(*source);
  if (!text) return text.error();
  const Result<std::string> merged = merged_openssl_configuration(*text, source->path, provider);
  if (!merged) return merged.error();
  if (Status written = write_file(path, *merged); !written) return written.error();
  return path;
}

}  // namespace hoist::cli
