// Symbols of a block: the fast loop far from the ends, one step at a time near them.
#include <algorithm>
#include <cstring>

#include "codec/deflate_loop.h"
#include "ops/inflate/inflater.h"

namespace hoist::inflate {

using codec::deflate::entry_code_length;
using codec::deflate::entry_drop;
using codec::deflate::entry_value;
using codec::deflate::kEndOfBlock;
using codec::deflate::kInputMargin;
using codec::deflate::kLink;
using codec::deflate::kLiteral;
using codec::deflate::kSpecial;
using codec::deflate::LoopState;
using codec::deflate::LoopStop;

namespace {

// Bytes of output that one turn of the fast loop may make.
constexpr size_t kMostPerTurn = 2 + 258;

constexpr const char* kInvalidSymbol = "invalid literal/length code";
constexpr const char* kInvalidDistance = "invalid distance code";
constexpr const char* kTooFar = "invalid distance too far back";

}  // namespace

[[gnu::always_inline]] inline LoopStop Inflater::fast_symbols_body(LoopState& state) {
  return codec::deflate::decode_symbols(state, literal_table_, distance_table_,
                                        [](uint8_t*, uint32_t, uint32_t) { return false; });
}

LoopStop Inflater::fast_symbols(LoopState& state) { return fast_symbols_body(state); }

[[gnu::target("bmi,bmi2")]] LoopStop Inflater::fast_symbols_bmi2(LoopState& state) {
  return fast_symbols_body(state);
}

Inflater::Step Inflater::symbols(Call& call) {
  if (output_.full()) pass_on(call);
  while (call.in_end - call.in > kInputMargin && room(call) > kMostPerTurn) {
    uint8_t* const out = output_.next();
    LoopState state = {.in = call.in,
                       .in_end = call.in_end,
                       .out = out,
                       .out_limit = out + std::min(room(call) - kMostPerTurn, output_.until_full()),
                       .history_begin = out - output_.reach(),
                       .bits = bits_,
                       .count = bit_count_};
    const LoopStop stop = has_bmi2_ ? fast_symbols_bmi2(state) : fast_symbols(state);
    call.in = state.in;
    bits_ = state.bits;
    bit_count_ = state.count;
    output_.advance(static_cast<size_t>(state.out - out));
    if (output_.full()) pass_on(call);
    switch (stop) {
      case LoopStop::buffers:
        break;
      case LoopStop::end_of_block:
        bits_back_ = -1;
        mode_ = Mode::block;
        return Step::next;
      case LoopStop::invalid_symbol:
        return fail(call, kInvalidSymbol);
      case LoopStop::invalid_distance:
        return fail(call, kInvalidDistance);
      case LoopStop::too_far:
        return fail(call, kTooFar);
    }
  }
  return symbol(call);
}

// Finds the entry of the next code, which stays in the bit buffer. Bits that are not there read as
// zero; the entry counts only if its code needs none of them.
template <typename Table>
bool Inflater::lookup(Call& call, const Table& table, uint32_t& entry, unsigned& code_length) {
  do {
    entry = table.entries[bits_ & ((1u << Table::kTableBits) - 1)];
    code_length = entry_code_length(entry);
    if (entry & kLink) {
      entry = table.entries[codec::deflate::linked_index(entry, bits_ >> Table::kTableBits)];
      code_length = Table::kTableBits + entry_code_length(entry);
    }
    if (code_length <= bit_count_) return true;
  } while (pull(call));
  return false;
}

template bool Inflater::lookup(Call&, const codec::deflate::CodeLengthTable&, uint32_t&, unsigned&);

Inflater::Step Inflater::symbol(Call& call) {
  bits_back_ = 0;
  uint32_t entry;
  unsigned code_length;
  if (!lookup(call, literal_table_, entry, code_length)) return Step::leave;
  drop(code_length);
  bits_back_ = static_cast<int>(code_length);
  if (entry & kLiteral) {
    length_ = static_cast<uint8_t>(entry >> 16);
    mode_ = Mode::literal;
    return Step::next;
  }
  if (entry & kEndOfBlock) {
    bits_back_ = -1;
    mode_ = Mode::block;
    return Step::next;
  }
  if (entry & kSpecial) return fail(call, kInvalidSymbol);
  length_ = entry_value(entry);
  extra_bits_ = entry_drop(entry) - entry_code_length(entry);
  mode_ = Mode::length_extra;
  return Step::next;
}

Inflater::Step Inflater::length_extra(Call& call) {
  if (!need(call, extra_bits_)) return Step::leave;
  length_ += take(extra_bits_);
  bits_back_ += static_cast<int>(extra_bits_);
  match_length_ = length_;
  mode_ = Mode::distance;
  return Step::next;
}

Inflater::Step Inflater::distance(Call& call) {
  uint32_t entry;
  unsigned code_length;
  if (!lookup(call, distance_table_, entry, code_length)) return Step::leave;
  drop(code_length);
  bits_back_ += static_cast<int>(code_length);
  if (entry & kSpecial) return fail(call, kInvalidDistance);
  distance_ = entry_value(entry);
  extra_bits_ = entry_drop(entry) - entry_code_length(entry);
  mode_ = Mode::distance_extra;
  return Step::next;
}

Inflater::Step Inflater::distance_extra(Call& call) {
  if (!need(call, extra_bits_)) return Step::leave;
  distance_ += take(extra_bits_);
  bits_back_ += static_cast<int>(extra_bits_);
  mode_ = Mode::match;
  return Step::next;
}

Inflater::Step Inflater::match(Call& call) {
  if (room(call) == 0) return Step::leave;
  if (distance_ > output_.reach()) return fail(call, kTooFar);
  const size_t count = std::min<size_t>(length_, room(call));
  const uint8_t* from = output_.next() - distance_;
  std::for_each_n(output_.next(), count, [&](uint8_t& byte) { byte = *from++; });
  output_.advance(count);
  length_ -= static_cast<uint32_t>(count);
  if (length_ == 0) mode_ = Mode::symbol;
  return Step::next;
}

Inflater::Step Inflater::literal(Call& call) {
  if (room(call) == 0) return Step::leave;
  *output_.next() = static_cast<uint8_t>(length_);
  output_.advance(1);
  mode_ = Mode::symbol;
  return Step::next;
}

}  // namespace hoist::inflate
