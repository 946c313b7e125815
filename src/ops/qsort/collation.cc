#include "ops/qsort/collation.h"

#include <langinfo.h>
#include <locale.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "base/own_work.h"
#include "base/spare_memory.h"
#include "ops/qsort/chunks.h"

namespace hoist::qsort {
namespace {

constexpr size_t kLongest = size_t{64} << 10;  // of a string that is followed
constexpr size_t kBlock = size_t{1} << 20;     // of keys

// The string's length; false where it does not end within its mapping, or is too long.
bool find_length(const std::byte* string, const Mappings& mappings, size_t& length) {
  const auto start = reinterpret_cast<uintptr_t>(string);
  const uintptr_t end = mappings.end_of(start);
  if (end == 0) return false;
  const size_t room = std::min<size_t>(end - start, kLongest);
  length = ::strnlen(reinterpret_cast<const char*>(string), room);
  return length < room;
}

const char* text(const std::byte* string) { return reinterpret_cast<const char*>(string); }

// The calling thread's locale, for other threads.
using Locale = std::unique_ptr<std::remove_pointer_t<locale_t>, decltype(&::freelocale)>;
Locale current_locale() { return {::duplocale(::uselocale(nullptr)), ::freelocale}; }

// Puts keys one behind another.
class KeyWriter {
 public:
  KeyWriter(std::vector<PageBuffer>& blocks, locale_t locale) : blocks_(blocks), locale_(locale) {}

  // Null where there is no memory.
  const char* add(const char* string) {
    size_t size = transform(string) + 1;
    if (size > room_) {
      if (!add_block(size)) return nullptr;
      size = transform(string) + 1;
    }
    room_ -= size;
    return std::exchange(at_, at_ + size);
  }

 private:
  size_t transform(const char* string) { return ::strxfrm_l(at_, string, room_, locale_); }
  bool add_block(size_t least) {
    blocks_.emplace_back(std::max(kBlock, least));
    at_ = blocks_.back().data();
    room_ = at_ != nullptr ? blocks_.back().size() : 0;
    return at_ != nullptr;
  }

  std::vector<PageBuffer>& blocks_;
  const locale_t locale_;
  char* at_ = nullptr;
  size_t room_ = 0;
};

}  // namespace

bool locale_collates() {
  // The number of levels of weights; 0 in the C locale and those alike. A 32-bit number where other
  // items are pointers.
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(::nl_langinfo(_NL_COLLATE_NRULES))) != 0;
}

int collate(const std::byte* a, const std::byte* b, const Mappings& mappings) {
  size_t length = 0;
  if (!find_length(a, mappings, length) || !find_length(b, mappings, length)) return 0;
  const int saved = errno;
  const int result = std::strcoll(text(a), text(b));
  errno = saved;
  return result;
}

uint64_t collation_word(const std::byte* string, const Mappings& mappings) {
  std::array<char, 4096> key{};
  size_t length = 0;
  if (!find_length(string, mappings, length)) return 0;
  const int saved = errno;
  const size_t size = std::strxfrm(key.data(), text(string), key.size());
  errno = saved;
  // What a key that did not fit leaves behind is not defined.
  return size < key.size() ? words::of_bytes(reinterpret_cast<const std::byte*>(key.data()), 8) : 0;
}

bool same_letters(const std::byte* a, const std::byte* b, const Mappings& mappings) {
  const auto letters = [&](const std::byte* string) {
    constexpr char kEndOfLevel = 1;
    size_t length = 0;
    if (!find_length(string, mappings, length)) return std::string();
    std::string key(std::strxfrm(nullptr, text(string), 0) + 1, '\0');
    std::strxfrm(key.data(), text(string), key.size());
    return key.substr(0, key.find(kEndOfLevel));
  };
  return unseen([&] { return letters(a) == letters(b); });
}

const char* CollationKeys::make(const Call& call, size_t offset, const Mappings& mappings,
                                ThreadPool* pool) {
  constexpr size_t kSampled = 64;
  static constexpr const char* kNoMemory = "not enough memory";
  const Locale locale = current_locale();
  if (locale == nullptr) return kNoMemory;
  const auto string_of = [&](size_t i) {
    return words::load<const std::byte*>(call.at(i) + offset);
  };
  size_t sampled_bytes = 0;
  for (size_t i = 0; i < kSampled; ++i) {
    const std::byte* string = string_of(call.count / kSampled * i);
    size_t length = 0;
    if (!find_length(string, mappings, length)) return "a pointer leads nowhere";
    sampled_bytes += ::strxfrm_l(nullptr, text(string), 0, locale.get()) + 1 + sizeof(char*);
  }
  if (!has_spare_memory(sampled_bytes * (call.count / kSampled + 1))) return kNoMemory;
  pointers_ = PageBuffer(call.count * sizeof(const char*));
  if (pointers_.data() == nullptr) return kNoMemory;
  auto* const pointers = reinterpret_cast<const char**>(pointers_.data());
  const size_t chunks = chunks_for(pool);
  blocks_.resize(chunks);
  std::atomic<const char*> failure = nullptr;
  for_chunks(call.count, chunks, pool, [&](size_t chunk, size_t start, size_t end) {
    KeyWriter writer(blocks_[chunk], locale.get());
    for (size_t i = start; i < end && failure == nullptr; ++i) {
      size_t length = 0;
      if (!find_length(string_of(i), mappings, length)) {
        failure = "a pointer leads nowhere";
      } else if ((pointers[i] = writer.add(text(string_of(i)))) == nullptr) {
        failure = kNoMemory;
      }
    }
  });
  return failure;
}

}  // namespace hoist::qsort
