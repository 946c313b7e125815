// Which keys are considered, and which of those that fit is preferred.
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "base/own_work.h"
#include "ops/qsort/collation.h"
#include "ops/qsort/infer.h"

namespace hoist::qsort {
namespace {

constexpr size_t kSearched = 512;          // bytes at the front of an element
constexpr size_t kSearchedUnaligned = 64;  // elements up to this size may be packed
constexpr size_t kPlausibleSample = 1024;
constexpr long kFewestAnswers = 6;  // that a further key is derived from

struct NumberType {
  KeyType type;
  size_t width;
};
constexpr NumberType kNumbers[] = {
    {KeyType::i8, 1},  {KeyType::u8, 1},  {KeyType::i16, 2}, {KeyType::u16, 2}, {KeyType::i32, 4},
    {KeyType::u32, 4}, {KeyType::i64, 8}, {KeyType::u64, 8}, {KeyType::f32, 4}, {KeyType::f64, 8},
};

// What memcmp() and strncmp() may be asked to compare, besides all that follows.
constexpr uint32_t kLengths[] = {4, 8, 16, 32, 64, 128, 256, 3, 2, 6, 12, 20};

// Kinds in rising preference, among keys that explain the same. A pointer's target says more than
// its value; plain text that ends at a NUL compares no more than its bytes; one byte is seldom all.
enum class Rank : uint64_t { implausible, byte, bytes, text, number, certain };

// The narrower of two numbers that end at the same, most significant byte is preferred: if the
// wider was right, the narrower leaves a few elements equal, which the original's sort finishes. If
// the wider was wrong, all was in vain. Four bytes leave few enough.
uint64_t width_preference(size_t width) { return width == 4 ? 3 : width == 8 ? 2 : width == 2; }

}  // namespace

// How many of the open answers `key` explains; 0 where one contradicts it. Sets its direction.
size_t Inference::explained(Key& key, size_t pairs) const {
  size_t count = 0;
  key.descending = false;
  int direction = 0;
  for (size_t i = 0; i < pairs; ++i) {
    const Answer& answer = answers_[open_[i]];
    const int result = compare(key, call_->at(answer.a), call_->at(answer.b), mappings_);
    if (result == 0) continue;
    if (answer.sign == 0) return 0;
    const int agreement = (result < 0) == (answer.sign < 0) ? 1 : -1;
    if (direction == 0) direction = agreement;
    if (agreement != direction) return 0;
    ++count;
  }
  key.descending = direction < 0;
  return count;
}

// Whether the sample's values are of a magnitude that people compute with. Integers, read as
// floating-point numbers, mostly are not.
bool Inference::is_plausible(const Key& key) const {
  const auto usual = [](double value) {
    constexpr double kSmallest = 1e-30;
    const double magnitude = std::fabs(value);
    return value == 0 || (magnitude > kSmallest && magnitude < 1 / kSmallest) || std::isinf(value);
  };
  bool some = false;
  const size_t step = std::max<size_t>(1, sampled_ / kPlausibleSample);
  for (size_t i = 0; i < sampled_; i += step) {
    const std::byte* at = call_->at(sample_[i].index) + key.offset;
    const double value = key.type == KeyType::f64 ? words::load<double>(at)
                                                  : static_cast<double>(words::load<float>(at));
    if (!usual(value)) return false;
    some |= value != 0;
  }
  return some;
}

void Inference::consider(Key key, size_t pairs) {
  const size_t score = explained(key, pairs);
  if (score == 0) return;
  Rank rank = Rank::number;
  uint64_t preference = 0;
  if (is_number(key.type)) {
    if (is_float(key.type)) {
      rank = is_plausible(key) ? Rank::certain : Rank::implausible;
    } else if (key.length == 1) {
      rank = Rank::byte;
    }
    const bool whole = key.length == call_->size;
    const bool is_signed = key.type == KeyType::i8 || key.type == KeyType::i16 ||
                           key.type == KeyType::i32 || key.type == KeyType::i64;
    preference = (uint64_t{whole} << 16) | (uint64_t{key.offset + key.length} << 4) |
                 (width_preference(key.length) << 1) | uint64_t{is_signed};
  } else {
    rank = is_pointer(key.type)        ? Rank::certain
           : key.type == KeyType::text ? Rank::text
                                       : Rank::bytes;
    // The order of kLengths, whose first do most often; at the front of what might begin earlier.
    const auto* found = std::find(std::begin(kLengths), std::end(kLengths), key.length);
    preference =
        (uint64_t{kSearched - key.offset} << 8) | static_cast<uint64_t>(std::end(kLengths) - found);
  }
  const Hypothesis hypothesis = {
      key, (uint64_t{score} << 40) | (static_cast<uint64_t>(rank) << 32) | preference};
  auto* const end = rivals_.begin() + rival_count_;
  auto* const at = std::find_if(rivals_.begin(), end, [&](const Hypothesis& other) {
    return other.merit < hypothesis.merit;
  });
  if (at == rivals_.end()) return;
  rival_count_ = std::min(rival_count_ + 1, kMostRivals);
  std::move_backward(at, rivals_.begin() + rival_count_ - 1, rivals_.begin() + rival_count_);
  *at = hypothesis;
}

void Inference::consider_numbers(bool aligned, size_t pairs) {
  const size_t limit = std::min(call_->size, kSearched);
  for (const NumberType& number : kNumbers) {
    for (size_t offset = 0; offset + number.width <= limit; ++offset) {
      if ((offset % number.width == 0) != aligned) continue;
      consider(
          {number.type, false, static_cast<uint32_t>(offset), static_cast<uint32_t>(number.width)},
          pairs);
    }
  }
}

void Inference::consider_texts(size_t pairs) {
  for (size_t offset = 0; offset < std::min(call_->size, kSearched); ++offset) {
    // What the first byte decides wrongly no length mends.
    Key first = {KeyType::u8, false, static_cast<uint32_t>(offset), 1};
    const bool first_decides = std::any_of(open_.begin(), open_.begin() + pairs, [&](uint32_t i) {
      return *(call_->at(answers_[i].a) + offset) != *(call_->at(answers_[i].b) + offset);
    });
    if (first_decides && explained(first, pairs) == 0) continue;
    const auto rest = static_cast<uint32_t>(call_->size - offset);
    for (const KeyType type : {KeyType::text, KeyType::bytes}) {
      for (const uint32_t length : kLengths) {
        if (length < rest) consider({type, false, first.offset, length}, pairs);
      }
      if (rest > 1) consider({type, false, first.offset, rest}, pairs);
    }
  }
}

// Whether every sampled element has, at `offset`, a pointer to readable memory.
bool Inference::leads_to_memory(size_t offset) {
  constexpr uintptr_t kLowest = 65536;  // vm.mmap_min_addr
  constexpr uintptr_t kHighest = uintptr_t{1} << 47;
  const auto pointer = [&](size_t i) {
    return words::load<uintptr_t>(call_->at(sample_[i].index) + offset);
  };
  for (size_t i = 0; i < sampled_; ++i) {
    if (pointer(i) < kLowest || pointer(i) >= kHighest) return false;
  }
  if (!mapped_) {
    const OwnWork guard;
    mapped_ = mappings_.load();
  }
  if (!mapped_) return false;
  for (size_t i = 0; i < sampled_; ++i) {
    if (mappings_.end_of(pointer(i)) == 0) return false;
  }
  return true;
}

// Whether what the elements' pointers lead to goes with the answers, by `compare(a, b)` of two
// strings of which no more than `kSize` bytes, and as many of both, were read.
//
// The kernel reads them: of a pointer that the comparator does not follow it is not known whether
// another thread gives the memory back at this moment, or whether a mapped file has become shorter.
template <size_t kSize, typename Compare>
bool Inference::strings_agree(size_t offset, size_t pairs, Compare&& compare) const {
  constexpr size_t kMostPairs = 24;
  constexpr uintptr_t kPage = 4096;
  std::array<std::array<char, kSize>, 2 * kMostPairs> heads{};
  std::array<iovec, 2 * kMostPairs> here;
  std::array<iovec, 2 * kMostPairs> there;
  const size_t read = std::min(pairs, kMostPairs);
  ssize_t wanted = 0;
  for (size_t i = 0; i < read; ++i) {
    const Answer& answer = answers_[open_[i]];
    const auto a = words::load<uintptr_t>(call_->at(answer.a) + offset);
    const auto b = words::load<uintptr_t>(call_->at(answer.b) + offset);
    const size_t size = std::min({kSize, kPage - a % kPage, kPage - b % kPage});
    here[2 * i] = {heads[2 * i].data(), size};
    here[2 * i + 1] = {heads[2 * i + 1].data(), size};
    there[2 * i] = {reinterpret_cast<void*>(a), size};
    there[2 * i + 1] = {reinterpret_cast<void*>(b), size};
    wanted += static_cast<ssize_t>(2 * size);
  }
  const OwnWork guard;
  if (::process_vm_readv(::getpid(), here.data(), 2 * read, there.data(), 2 * read, 0) != wanted) {
    return false;
  }
  int direction = 0;
  for (size_t i = 0; i < read; ++i) {
    const int result = compare(std::string_view(heads[2 * i].data(), here[2 * i].iov_len),
                               std::string_view(heads[2 * i + 1].data(), here[2 * i].iov_len));
    if (result == 0) continue;
    const int sign = answers_[open_[i]].sign;
    const int agreement = (result < 0) == (sign < 0) ? 1 : -1;
    if (sign == 0 || agreement == -direction) return false;
    direction = agreement;
  }
  return true;
}

bool Inference::may_be_strings(size_t offset, size_t pairs) const {
  return strings_agree<8>(offset, pairs, [](std::string_view a, std::string_view b) {
    return ::strncmp(a.data(), b.data(), a.size());
  });
}

// Nothing can be said of a part of a string.
bool Inference::may_be_collated(size_t offset, size_t pairs) const {
  return strings_agree<256>(offset, pairs, [](std::string_view a, std::string_view b) {
    const bool whole = a.find('\0') != a.npos && b.find('\0') != b.npos;
    return whole ? std::strcoll(a.data(), b.data()) : 0;
  });
}

void Inference::consider_strings(size_t pairs) {
  constexpr size_t kPointer = sizeof(uintptr_t);
  for (size_t offset = 0; offset + kPointer <= std::min(call_->size, kSearched);
       offset += kPointer) {
    if (!leads_to_memory(offset) || !may_be_strings(offset, pairs)) continue;
    consider({KeyType::string, false, static_cast<uint32_t>(offset), kPointer}, pairs);
  }
}

void Inference::consider_collated(size_t pairs) {
  constexpr size_t kPointer = sizeof(uintptr_t);
  for (size_t offset = 0; offset + kPointer <= std::min(call_->size, kSearched);
       offset += kPointer) {
    if (!leads_to_memory(offset) || !may_be_collated(offset, pairs)) continue;
    consider({KeyType::collated, false, static_cast<uint32_t>(offset), kPointer}, pairs);
  }
}

// Fills rivals_ with the keys that fit the answers which the keys so far leave open.
void Inference::find_key(const Order& so_far) {
  size_t pairs = 0;
  for (uint32_t i = 0; i < answer_count_; ++i) {
    const std::byte* a = call_->at(answers_[i].a);
    const std::byte* b = call_->at(answers_[i].b);
    if (compare(so_far, a, b, mappings_) == 0) open_[pairs++] = i;
  }
  rival_count_ = 0;
  // A few pairs are explained by something always. A first key is asked about all the same.
  const auto tells = [&](uint32_t i) { return answers_[i].sign != 0; };
  const auto telling = std::count_if(open_.begin(), open_.begin() + pairs, tells);
  if (so_far.count > 0 && telling < kFewestAnswers) return;
  const auto explained_best = [&] {
    return rival_count_ > 0 ? static_cast<long>(rivals_[0].merit >> 40) : 0;
  };
  consider_strings(pairs);
  if (so_far.count == 0 && explained_best() < telling && locale_collates()) {
    consider_collated(pairs);
  }
  consider_numbers(true, pairs);
  consider_texts(pairs);
  // Packed structures are rare, and there are many places: they must not win by an answer or two.
  if (call_->size <= kSearchedUnaligned && explained_best() < telling * 3 / 4) {
    consider_numbers(false, pairs);
  }
}

}  // namespace hoist::qsort
