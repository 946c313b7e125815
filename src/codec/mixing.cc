#include "codec/mixing.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace hoist::codec {
namespace {

constexpr size_t kOrders = 6;
constexpr std::array<unsigned, kOrders> kOrderBytes = {0, 1, 2, 3, 4, 6};
constexpr size_t kContexts = kOrders + 1;  // and that of the word
constexpr size_t kInputs = kContexts + 2;  // and the match, and a constant
constexpr size_t kWeightSets = 3 * kOrders;
constexpr int32_t kFirstWeight = 19660;  // of 65536
constexpr int32_t kRate = 6;
constexpr unsigned kMostSeen = 127;
constexpr size_t kMatchBytes = 5;  // that must be the same for a match to begin
constexpr size_t kLongMatch = 15;
constexpr size_t kMatchSlots = 32;
constexpr size_t kLongestSearch = 400;

constexpr size_t kSteps = 2048;  // of 1/256, on both sides of 0
constexpr int kLargest = kSteps - 1;
constexpr int kOne = 4096;  // a probability

// 4095 / (1 + e^(-x / 256)), by integers, and its inverse.
struct Logistic {
  std::array<int16_t, 2 * kSteps> squash{};
  std::array<int16_t, kOne> stretch{};

  constexpr Logistic() {
    constexpr uint64_t kUnit = uint64_t{1} << 32;
    constexpr uint64_t kDecay = 4278222805;  // 2^32 e^(-1/256)
    uint64_t power = kUnit;
    squash[kSteps] = 2047;
    for (size_t x = 1; x < kSteps; ++x) {
      power = power * kDecay >> 32;
      const auto value =
          static_cast<int16_t>((4095 * kUnit + (kUnit + power) / 2) / (kUnit + power));
      squash[kSteps + x] = value;
      squash[kSteps - x] = static_cast<int16_t>(4095 - value);
    }
    squash[0] = squash[1];
    size_t place = 1;
    for (size_t p = 0; p < stretch.size(); ++p) {
      while (place < squash.size() - 1 && squash[place] < static_cast<int>(p)) ++place;
      stretch[p] = static_cast<int16_t>(static_cast<int>(place) - static_cast<int>(kSteps));
    }
  }
};
constexpr Logistic kLogistic;

int squash(int64_t x) {
  const int64_t place = std::clamp<int64_t>(x, -kLargest, kLargest) + static_cast<int64_t>(kSteps);
  return kLogistic.squash[static_cast<size_t>(place)];
}

// How often a bit was 1: 22 bits of probability, and 10 of how many were seen.
class Slot {
 public:
  unsigned seen() const { return value_ & 1023; }
  int stretched() const { return kLogistic.stretch[value_ >> 20]; }
  void update(int bit) {
    const auto before = static_cast<int32_t>(value_ >> 10);
    const int32_t target = bit != 0 ? (1 << 22) - 1 : 0;
    const auto rows = static_cast<int32_t>(seen());
    const int32_t now = before + (target - before) * 2 / (2 * rows + 3);
    value_ = static_cast<uint32_t>(now) << 10 | std::min(seen() + 1, kMostSeen);
  }

 private:
  uint32_t value_ = uint32_t{1} << 31;
};

unsigned table_bits(size_t size) {
  unsigned bits = 14;
  while (size_t{1} << bits < 4 * size) ++bits;
  return bits;
}

bool is_of_word(uint8_t byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= 'a' && byte <= 'z') || byte >= 128;
}

// Predicts the bits of bytes that it gets to see one after the other.
class Model {
 public:
  explicit Model(std::span<const uint8_t> bytes)
      : bytes_(bytes.data()), bits_(table_bits(bytes.size())), last_(size_t{1} << 16) {
    for (std::vector<Slot>& table : tables_) table.resize(size_t{1} << bits_);
    for (auto& weights : weights_) weights.fill(kFirstWeight);
    find_contexts();
  }

  // The probability of a 1 as the next bit, from 1 to 4095.
  int predict() {
    size_t order = 0;
    for (size_t i = 0; i < kContexts; ++i) {
      const uint32_t place = (contexts_[i] + partial_ * 0x9e3779b1) * 0x85ebca6b >> (32 - bits_);
      slots_[i] = &tables_[i][place];
      inputs_[i] = slots_[i]->seen() > 0 ? slots_[i]->stretched() : 0;
      if (i < kOrders && slots_[i]->seen() > 0) order = i;
    }
    match_slot_ = nullptr;
    inputs_[kContexts] = 0;
    if (match_size_ > 0) {
      expected_ = bytes_[match_] >> bit_ & 1;
      match_slot_ = &match_slots_[std::min(match_size_, kMatchSlots - 1)];
      const int stretched = match_slot_->stretched();
      inputs_[kContexts] = expected_ != 0 ? stretched : -stretched;
    }
    inputs_[kContexts + 1] = 256;
    const size_t match = match_size_ == 0 ? 0 : match_size_ <= kLongMatch ? 1 : 2;
    set_ = &weights_[match * kOrders + order];
    int64_t sum = 0;
    for (size_t i = 0; i < kInputs; ++i) sum += int64_t{inputs_[i]} * (*set_)[i];
    predicted_ = squash(sum >> 16);
    return std::clamp(predicted_, 1, kOne - 1);
  }

  // With the last bit of a byte, that byte must be where the bytes are.
  void update(int bit) {
    const int32_t error = bit * kOne - predicted_;
    for (size_t i = 0; i < kInputs; ++i) {
      (*set_)[i] += (inputs_[i] * error * kRate + (1 << 13)) >> 14;
    }
    for (Slot* slot : slots_) slot->update(bit);
    if (match_slot_ != nullptr) {
      match_slot_->update(expected_ == bit ? 1 : 0);
      if (expected_ != bit) match_size_ = 0;
    }
    partial_ = partial_ * 2 + static_cast<uint32_t>(bit);
    if (bit_-- == 0) take_byte(static_cast<uint8_t>(partial_));
  }

 private:
  void take_byte(uint8_t byte) {
    partial_ = 1;
    bit_ = 7;
    ++at_;
    history_ = history_ << 8 | byte;
    word_ = is_of_word(byte) ? (word_ + byte + 1) * 0x2f0b4c47 : 0;
    find_contexts();
    find_match();
  }

  void find_contexts() {
    for (size_t i = 0; i < kContexts; ++i) {
      const uint64_t mask = i < kOrders ? (uint64_t{1} << (8 * kOrderBytes[i])) - 1 : 0;
      const uint64_t value = i < kOrders ? history_ & mask : word_;
      contexts_[i] =
          static_cast<uint32_t>((value + (i + 1) * 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9 >> 32);
    }
  }

  // The match goes on, or one begins behind the last text that ended in the same bytes.
  void find_match() {
    if (match_size_ > 0) {
      ++match_;
      ++match_size_;
    }
    if (at_ < kMatchBytes) return;
    constexpr uint64_t kMask = (uint64_t{1} << (8 * kMatchBytes)) - 1;
    uint32_t& last = last_[(history_ & kMask) * 0x9e3779b97f4a7c15 >> 48];
    if (match_size_ == 0) {
      match_ = last;
      while (match_size_ < std::min(match_, kLongestSearch) &&
             bytes_[match_ - 1 - match_size_] == bytes_[at_ - 1 - match_size_]) {
        ++match_size_;
      }
    }
    last = static_cast<uint32_t>(at_);
  }

  const uint8_t* bytes_;
  unsigned bits_;
  size_t at_ = 0;
  uint64_t history_ = 0;
  uint32_t word_ = 0;
  uint32_t partial_ = 1;  // the bits of this byte so far, behind a 1
  unsigned bit_ = 7;      // the next one

  std::array<uint32_t, kContexts> contexts_{};
  std::array<std::vector<Slot>, kContexts> tables_;
  std::array<Slot*, kContexts> slots_{};
  std::array<int32_t, kInputs> inputs_{};
  std::array<std::array<int32_t, kInputs>, kWeightSets> weights_{};
  std::array<int32_t, kInputs>* set_ = nullptr;
  int predicted_ = 0;

  std::vector<uint32_t> last_;  // behind the last text with the same hash
  size_t match_ = 0;
  size_t match_size_ = 0;  // 0: there is none
  int expected_ = 0;
  std::array<Slot, kMatchSlots> match_slots_{};
  Slot* match_slot_ = nullptr;
};

// The part of 2^32 that stands for the bits so far.
struct Interval {
  uint32_t low = 0;
  uint32_t high = UINT32_MAX;

  uint32_t split(int probability) const {
    return low + ((high - low) >> 12) * static_cast<uint32_t>(probability);
  }
  void take(int bit, uint32_t middle) {
    if (bit != 0) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  bool has_byte() const { return (low ^ high) >> 24 == 0; }
  void drop_byte() {
    low <<= 8;
    high = high << 8 | 255;
  }
};

}  // namespace

std::string mix_bytes(std::span<const uint8_t> bytes) {
  Model model(bytes);
  Interval interval;
  std::string out;
  for (const uint8_t byte : bytes) {
    for (int shift = 7; shift >= 0; --shift) {
      const int bit = byte >> shift & 1;
      interval.take(bit, interval.split(model.predict()));
      model.update(bit);
      for (; interval.has_byte(); interval.drop_byte()) {
        out.push_back(static_cast<char>(interval.high >> 24));
      }
    }
  }
  // Zeros follow, as far as a reader looks: that lies in the interval, whose ends differ here.
  out.push_back(static_cast<char>(interval.high >> 24));
  return out;
}

Status unmix_bytes(std::span<const std::byte> stream, std::span<uint8_t> out) {
  const Error damaged = fail(ErrorCode::corrupt, "a stream of mixed predictions is damaged");
  if (out.size() > kMaxMixedBytes) return damaged;
  size_t read = 0;
  const auto next = [&]() -> uint32_t {
    const size_t at = read++;
    return at < stream.size() ? static_cast<uint32_t>(stream[at]) : 0;
  };
  uint32_t code = 0;
  for (int i = 0; i < 4; ++i) code = code << 8 | next();
  Model model(out);
  Interval interval;
  for (uint8_t& byte : out) {
    uint8_t value = 0;
    for (int i = 0; i < 8; ++i) {
      const uint32_t middle = interval.split(model.predict());
      const int bit = code <= middle ? 1 : 0;
      value = static_cast<uint8_t>(value << 1 | bit);
      if (i == 7) byte = value;
      interval.take(bit, middle);
      model.update(bit);
      for (; interval.has_byte(); interval.drop_byte()) code = code << 8 | next();
    }
  }
  // The interval's bytes, and the last one.
  return read - 3 == stream.size() ? Status() : damaged;
}

}  // namespace hoist::codec
