#include "match/store/log_scan.h"

#include <algorithm>
#include <optional>

#include "base/bytes.h"
#include "match/store/crc32c.h"

namespace hoist::match {
namespace {

constexpr uint64_t kBlock = 32 << 10;
constexpr uint64_t kHeader = 7;

enum Type : uint8_t { kWhole = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

struct Fragment {
  uint8_t type;
  std::string_view bytes;
};

// The one that begins at the front of `block`, which ends where its block does.
std::optional<Fragment> fragment_of(std::string_view block) {
  if (block.size() < kHeader) return std::nullopt;
  ByteReader reader(block.data(), kHeader);
  const auto crc = reader.read<uint32_t>();
  const size_t size = reader.read<uint16_t>();
  const auto type = reader.read<uint8_t>();
  if (type < kWhole || type > kLast || size > block.size() - kHeader) return std::nullopt;
  if (masked(crc32c(block.substr(kHeader - 1, size + 1))) != crc) return std::nullopt;
  return Fragment{type, block.substr(kHeader, size)};
}

bool is_zero(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == 0; });
}

class Scanner {
 public:
  Scanner(std::string_view bytes, const std::function<void(uint64_t, std::string_view)>& take)
      : bytes_(bytes), take_(take) {}

  LogScan scan() {
    while (at_ < bytes_.size()) {
      const uint64_t end = std::min<uint64_t>(bytes_.size(), (at_ / kBlock + 1) * kBlock);
      const std::string_view block = bytes_.substr(at_, end - at_);
      if (end % kBlock == 0 && block.size() < kHeader && is_zero(block)) {
        at_ = end;
      } else if (const auto fragment = fragment_of(block)) {
        add(*fragment);
        at_ += kHeader + fragment->bytes.size();
      } else {
        drop(at_);
        at_ = next_fragment(end);
      }
    }
    scan_.tail = bad_.value_or(record_begin_.value_or(bytes_.size()));
    return std::move(scan_);
  }

 private:
  void add(const Fragment& fragment) {
    const bool begins = fragment.type == kWhole || fragment.type == kFirst;
    if (begins) {
      if (record_begin_) drop(*record_begin_);  // without its end
      record_.clear();
      record_begin_ = at_;
    } else if (!record_begin_) {
      return drop(at_);  // without its beginning
    }
    if (fragment.type == kWhole) return finish(fragment.bytes);
    record_.append(fragment.bytes);
    if (fragment.type == kLast) finish(record_);
  }

  void finish(std::string_view record) {
    if (bad_) scan_.damage.push_back({*bad_, *record_begin_});
    bad_.reset();
    take_(*record_begin_, record);
    record_begin_.reset();
  }

  void drop(uint64_t from) {
    from = std::min(from, record_begin_.value_or(from));
    bad_ = std::min(from, bad_.value_or(from));
    record_begin_.reset();
  }

  uint64_t next_fragment(uint64_t end) const {
    for (uint64_t at = at_ + 1; at + kHeader <= end; ++at) {
      if (fragment_of(bytes_.substr(at, end - at))) return at;
    }
    return end;
  }

  const std::string_view bytes_;
  const std::function<void(uint64_t, std::string_view)>& take_;
  uint64_t at_ = 0;
  std::optional<uint64_t> bad_;           // where what is no good began
  std::optional<uint64_t> record_begin_;  // of which fragments have come
  std::string record_;
  LogScan scan_;
};

}  // namespace

LogScan scan_log(std::string_view bytes,
                 const std::function<void(uint64_t, std::string_view)>& take) {
  return Scanner(bytes, take).scan();
}

}  // namespace hoist::match
