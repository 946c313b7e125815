#include "service/node/snapshots.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "base/file.h"
#include "service/node/node_keys.h"
#include "service/session/random_id.h"

namespace hoist::service {
namespace {

constexpr std::string_view kEnding = ".jsonl";

// "20261128T081530Z-3f2a": by time, and different within a second.
std::string new_name() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z-{}", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     random_id().substr(0, 4));
}

// Names are ours: nothing in them leads elsewhere.
bool is_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == 'T' || c == 'Z' || c == '-';
  });
}

// The digest of lines, which a snapshot's last line tells: what is damaged or cut off is not
// restored.
class LinesDigest {
 public:
  LinesDigest() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }
  void add(std::string_view line) {
    EVP_DigestUpdate(context_.get(), line.data(), line.size());
    EVP_DigestUpdate(context_.get(), "\n", 1);
  }
  // Once.
  std::string last_line() {
    std::array<unsigned char, 32> digest = {};
    EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr);
    return fmt::format("{}{:02x}\"}}", kLastLine, fmt::join(digest, ""));
  }
  static constexpr std::string_view kLastLine = "{\"sha256\":\"";

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

Error none(const std::string& node, const std::string& name) {
  return fail(ErrorCode::not_found, fmt::format("node {} has no snapshot {}", node, name));
}

// Its lines, all on the disk; their bytes.
Result<uint64_t> write(const Node& node, const std::string& path) {
  constexpr size_t kPiece = 256 << 10;
  const auto fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!fd) return fd.error();
  uint64_t bytes = 0;
  std::string piece;
  LinesDigest digest;
  const auto put = [&](std::string_view line) {
    piece.append(line).push_back('\n');
    bytes += line.size() + 1;
  };
  Status written;
  Status saved = node.save([&](std::string_view line) {
    put(line);
    digest.add(line);
    if (piece.size() < kPiece) return true;
    written = write_full(fd->get(), piece.data(), piece.size(), path);
    piece.clear();
    return static_cast<bool>(written);
  });
  if (!written) return written.error();
  if (!saved) return saved.error();
  put(digest.last_line());
  written = write_full(fd->get(), piece.data(), piece.size(), path);
  if (!written) return written.error();
  if (::fsync(fd->get()) != 0)
    return fail(ErrorCode::io, fmt::format("cannot write {}", path), errno);
  return bytes;
}

}  // namespace

std::string Snapshots::node_folder(const std::string& node) const {
  std::array<unsigned char, 32> digest = {};
  EVP_Digest(node.data(), node.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  std::string name;
  for (const unsigned char byte : digest) name += fmt::format("{:02x}", byte);
  return fmt::format("{}/snapshots/{}", folder_, name);
}

Result<std::string> Snapshots::path(const std::string& node, const std::string& name) const {
  const std::string file = fmt::format("{}/{}{}", node_folder(node), name, kEnding);
  std::error_code ignored;
  if (is_name(name) && std::filesystem::is_regular_file(file, ignored)) return file;
  return none(node, name);
}

// One that is cut short lies where a start takes everything away.
Result<Snapshot> Snapshots::make(const Node& node) const {
  const std::string unfinished = fmt::format("{}{}/{}", folder_, kUnfinished, random_id());
  for (const std::string& folder : {node_folder(node.id()), folder_ + kUnfinished}) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (!error) continue;
    return fail(ErrorCode::io, fmt::format("cannot make {}: {}", folder, error.message()));
  }
  const std::string name = new_name();
  const auto bytes = write(node, unfinished);
  if (Status done = bytes ? put_in_place(unfinished, node.id(), name) : bytes.error(); !done) {
    ::unlink(unfinished.c_str());
    return done.error();
  }
  return Snapshot{name, *bytes};
}

Status Snapshots::put_in_place(const std::string& unfinished, const std::string& node,
                               const std::string& name) const {
  const std::string folder = node_folder(node);
  const std::string file = fmt::format("{}/{}{}", folder, name, kEnding);
  if (std::rename(unfinished.c_str(), file.c_str()) != 0) {
    if (errno != ENOENT) return fail(ErrorCode::io, fmt::format("cannot make {}", file), errno);
    return fail(ErrorCode::unavailable,
                fmt::format("the snapshots of node {} were deleted meanwhile", node));
  }
  if (durability_ != match::Durability::sync) return {};
  // From the file up: any of these folders may be new.
  for (const std::string& above : {folder, folder_ + "/snapshots", folder_}) {
    if (Status synced = sync_folder(above); !synced) {
      ::unlink(file.c_str());
      return synced;
    }
  }
  return {};
}

std::vector<Snapshot> Snapshots::list(const std::string& node) const {
  std::vector<Snapshot> list;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(node_folder(node), error)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != kEnding || !is_name(name)) continue;
    list.push_back({name, entry.file_size(error)});
  }
  std::sort(list.begin(), list.end(),
            [](const Snapshot& x, const Snapshot& y) { return x.name < y.name; });
  return list;
}

Status Snapshots::remove(const std::string& node, const std::string& name) const {
  const auto file = path(node, name);
  if (!file) return file.error();
  if (::unlink(file->c_str()) == 0) return {};
  if (errno == ENOENT) return none(node, name);
  return fail(ErrorCode::io, fmt::format("cannot remove {}", *file), errno);
}

Status Snapshots::remove_all(const std::string& node) const {
  // Elsewhere first: one that is being made there meanwhile is not in the way.
  const std::string unfinished = folder_ + kUnfinished;
  const std::string doomed = unfinished + "/" + random_id();
  std::error_code error;
  std::filesystem::create_directories(unfinished, error);
  std::filesystem::rename(node_folder(node), doomed, error);
  if (error == std::errc::no_such_file_or_directory) return {};
  if (!error) std::filesystem::remove_all(doomed, error);
  if (!error) return {};
  return fail(ErrorCode::io,
              fmt::format("cannot remove {}: {}", node_folder(node), error.message()));
}

Result<uint64_t> Snapshots::restore(Nodes& nodes, const std::string& node,
                                    const std::string& name) const {
  const auto file = path(node, name);
  if (!file) return file.error();
  std::ifstream lines(*file);
  if (!lines && errno == ENOENT) return none(node, name);
  if (!lines) return fail(ErrorCode::io, fmt::format("cannot read {}", *file), errno);
  LinesDigest digest;
  bool has_digest = true;
  bool is_first = true;
  return nodes.restore(node, [&]() -> Result<std::optional<std::string>> {
    const auto damaged = [&](std::string_view what) {
      return fail(ErrorCode::corrupt, fmt::format("snapshot {} is {}", name, what));
    };
    std::string line;
    if (!std::getline(lines, line)) {
      if (!lines.eof()) return fail(ErrorCode::io, fmt::format("cannot read {}", *file), errno);
      if (has_digest) return damaged("cut off");
      return std::optional<std::string>();
    }
    // The first format has none.
    if (std::exchange(is_first, false)) has_digest = line.find("\"hoist_node\":1") == line.npos;
    if (has_digest && line.starts_with(LinesDigest::kLastLine)) {
      if (line != digest.last_line()) return damaged("damaged");
      if (lines.peek() != std::ifstream::traits_type::eof()) return damaged("longer than it was");
      return std::optional<std::string>();
    }
    digest.add(line);
    return std::optional(std::move(line));
  });
}

}  // namespace hoist::service
