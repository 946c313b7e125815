#include "match/store/ledger.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/bytes.h"
#include "base/checksum.h"

namespace hoist::match {
namespace {

constexpr uint64_t kMagic = 0x7265'6764'656c'6d68;  // "hmledger"
constexpr uint64_t kFormat = 0;
constexpr size_t kSlotDistance = 4096;
constexpr size_t kFileSize = 2 * kSlotDistance;

uint64_t boot_now() {
  static const uint64_t boot = [] {
    const auto text = read_file("/proc/sys/kernel/random/boot_id", 64);
    return text && !text->empty() ? xxh3_64(text->data(), text->size()) : 0;
  }();
  return boot;
}

std::string encode(const Ledger::Slots& slots) {
  ByteWriter writer;
  writer.write(kMagic);
  writer.write(kFormat);
  writer.write(slots.number);
  writer.write(uint64_t{slots.state.has_store});
  std::string points;
  encode_point(slots.state.acknowledged, points);
  encode_point(slots.state.flushed, points);
  writer.append(points.data(), points.size());
  writer.write(slots.state.snapshot_generation);
  writer.write(slots.state.boot);
  writer.write(xxh3_64(writer.bytes().data(), writer.bytes().size()));
  return writer.bytes();
}

constexpr size_t kSlotSize = 6 * sizeof(uint64_t) + 2 * kChainPointSize + sizeof(uint64_t);

std::optional<Ledger::Slots> decode_slot(std::string_view bytes) {
  if (bytes.size() < kSlotSize) return std::nullopt;
  ByteReader reader(bytes.data(), kSlotSize);
  Ledger::Slots slots;
  const bool is_ours = reader.read<uint64_t>() == kMagic && reader.read<uint64_t>() == kFormat;
  slots.number = reader.read<uint64_t>();
  slots.state.has_store = reader.read<uint64_t>() != 0;
  for (ChainPoint* const point : {&slots.state.acknowledged, &slots.state.flushed}) {
    *point = *decode_point(bytes.substr(reader.position(), kChainPointSize));
    reader.take(kChainPointSize);
  }
  slots.state.snapshot_generation = reader.read<uint64_t>();
  slots.state.boot = reader.read<uint64_t>();
  const uint64_t sum = xxh3_64(bytes.data(), reader.position());
  if (!is_ours || reader.read<uint64_t>() != sum) return std::nullopt;
  return slots;
}

}  // namespace

const ChainPoint& LedgerState::required() const {
  return boot != 0 && boot == boot_now() ? acknowledged : flushed;
}

Result<Ledger::Slots> Ledger::decode(std::string_view bytes) {
  const auto first = decode_slot(bytes);
  const auto second =
      decode_slot(bytes.size() < kSlotDistance ? std::string_view() : bytes.substr(kSlotDistance));
  if (!first && !second) return fail(ErrorCode::corrupt, "no record of what was acknowledged");
  if (!second || (first && first->number > second->number)) return *first;
  return *second;
}

Result<std::unique_ptr<Ledger>> Ledger::create(const std::string& path, LedgerState state) {
  // Whole under its name, or not there: half a ledger would stand for a damaged index.
  const std::string unfinished = path + ".new";
  auto file = open_file(unfinished, O_RDWR | O_CREAT | O_TRUNC, 0666);
  if (!file) return file.error();
  const auto give_up = [&](const Error& error) {
    ::unlink(unfinished.c_str());
    return error;
  };
  state.boot = boot_now();
  const std::string empty(kFileSize, '\0');
  if (Status sized = pwrite_full(file->get(), empty.data(), empty.size(), 0, path); !sized) {
    return give_up(sized.error());
  }
  std::unique_ptr<Ledger> ledger(new Ledger(path, std::move(*file), {state, 0}));
  if (Status saved = ledger->saved(state.snapshot_generation); !saved) {
    return give_up(saved.error());
  }
  // A link refuses where there is one already; not every file system has links.
  if (::link(unfinished.c_str(), path.c_str()) == 0) {
    ::unlink(unfinished.c_str());
  } else if (errno == EEXIST || ::rename(unfinished.c_str(), path.c_str()) != 0) {
    const int code = errno;
    return give_up(
        {ErrorCode::io, fmt::format("cannot make {} ({})", path, std::strerror(code)), code});
  }
  return ledger;
}

Result<std::unique_ptr<Ledger>> Ledger::open(const std::string& path, bool read_only) {
  auto file = open_file(path, read_only ? O_RDONLY : O_RDWR);
  if (!file && file.error().system_errno == ENOENT) {
    return fail(ErrorCode::not_found, fmt::format("no ledger ({})", path));
  }
  if (!file) return file.error();
  std::string bytes(kFileSize, '\0');
  const auto size = pread_full(file->get(), bytes.data(), bytes.size(), 0, path);
  if (!size) return size.error();
  bytes.resize(*size);
  const auto slots = decode(bytes);
  if (!slots) {
    return fail(ErrorCode::corrupt, fmt::format("{} ({})", slots.error().message, path));
  }
  return std::unique_ptr<Ledger>(new Ledger(path, std::move(*file), *slots));
}

LedgerState Ledger::state() const {
  const std::lock_guard lock(mutex_);
  return slots_.state;
}

// Under `mutex_`.
Status Ledger::write() {
  ++slots_.number;
  const std::string slot = encode(slots_);
  return pwrite_full(file_.get(), slot.data(), slot.size(), slots_.number % 2 * kSlotDistance,
                     path_);
}

Status Ledger::acknowledge(const ChainPoint& point) {
  const std::lock_guard lock(mutex_);
  // What a boot before this one promised is there: whoever opened the store has seen to that.
  slots_.state.acknowledged = point;
  slots_.state.boot = boot_now();
  return write();
}

Status Ledger::flushed(const ChainPoint& point) {
  const std::lock_guard lock(mutex_);
  if (point.writes <= slots_.state.flushed.writes) return {};
  slots_.state.flushed = point;
  return write();
}

// Both slots, so that either of them may be damaged.
Status Ledger::saved(uint64_t snapshot_generation) {
  const std::lock_guard lock(mutex_);
  slots_.state.snapshot_generation = snapshot_generation;
  for (int slot = 0; slot < 2; ++slot) {
    if (Status written = write(); !written) return written;
  }
  return sync();
}

Status Ledger::sync() {
  if (::fdatasync(file_.get()) == 0) return {};
  return fail(ErrorCode::io, fmt::format("cannot sync ({}: {})", path_, std::strerror(errno)),
              errno);
}

}  // namespace hoist::match
