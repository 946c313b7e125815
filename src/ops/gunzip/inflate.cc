#include "ops/gunzip/inflate.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/cpu.h"

namespace hoist::gunzip {

using codec::deflate::build;
using codec::deflate::CodeLengthTable;
using codec::deflate::entry_code_length;
using codec::deflate::entry_drop;
using codec::deflate::entry_value;
using codec::deflate::kEndOfBlock;
using codec::deflate::kLink;
using codec::deflate::kLiteral;
using codec::deflate::kSpecial;
using codec::deflate::linked_index;

Inflater::Inflater(InputBuffer& input, OutputWindow& output)
    : input_(input), output_(output), has_bmi2_(cpu_features().bmi2) {}

InflateStatus Inflater::run() {
  bits_ = {};
  for (bool last = false; !last;) {
    if (const InflateStatus status = block(last); status != InflateStatus::done) {
      return write_failed_ ? InflateStatus::write_failed : status;
    }
  }
  input_.next -= bits_.count / 8;  // whole bytes that the last code did not need
  return InflateStatus::done;
}

InflateStatus Inflater::block(bool& last) {
  if (!need(1)) return InflateStatus::input_ended;
  last = bits_.take(1) != 0;
  if (!need(2)) return InflateStatus::input_ended;
  switch (bits_.take(2)) {
    case 0:
      return stored_block();
    case 1:
      if (!fixed_codes_loaded_) {
        std::array<uint8_t, 288> lengths;
        std::fill_n(lengths.begin(), 144, 8);
        std::fill_n(lengths.begin() + 144, 112, 9);
        std::fill_n(lengths.begin() + 256, 24, 7);
        std::fill_n(lengths.begin() + 280, 8, 8);
        build(lengths, literals_);
        std::array<uint8_t, 30> distance_lengths;
        distance_lengths.fill(5);
        build(distance_lengths, distances_, true);
        fixed_codes_loaded_ = true;
      }
      return coded_block();
    case 2: {
      fixed_codes_loaded_ = false;
      const InflateStatus status = read_dynamic_codes();
      return status == InflateStatus::done ? coded_block() : status;
    }
    default:
      return InflateStatus::invalid;
  }
}

bool Inflater::refill_input() {
  // What gzip has written by now a reader may be waiting for.
  if (!output_.flush_windows()) {
    write_failed_ = true;
    return false;
  }
  return input_.refill();
}

bool Inflater::need(unsigned count) {
  while (bits_.count < count) {
    if (input_.next == input_.end && !refill_input()) return false;
    bits_.bits |= uint64_t{*input_.next++} << bits_.count;
    bits_.count += 8;
  }
  return true;
}

InflateStatus Inflater::stored_block() {
  bits_.drop(bits_.count & 7);
  if (!need(16)) return InflateStatus::input_ended;
  uint32_t left = bits_.take(16);
  if (!need(16)) return InflateStatus::input_ended;
  if (left != (~bits_.take(16) & 0xffff)) return InflateStatus::invalid;
  input_.next -= bits_.count / 8;
  bits_ = {};
  while (left > 0) {
    if (!output_.make_room()) {
      write_failed_ = true;
      return InflateStatus::write_failed;
    }
    if (input_.next == input_.end && !refill_input()) return InflateStatus::input_ended;
    const size_t count =
        std::min({static_cast<size_t>(left), static_cast<size_t>(input_.end - input_.next),
                  static_cast<size_t>(output_.limit - output_.next)});
    std::memcpy(output_.next, input_.next, count);
    output_.next += count;
    input_.next += count;
    left -= static_cast<uint32_t>(count);
  }
  return InflateStatus::done;
}

// RFC 1951, 3.2.7.
InflateStatus Inflater::read_dynamic_codes() {
  static constexpr uint8_t kOrder[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                         11, 4,  12, 3, 13, 2, 14, 1, 15};
  if (!need(5)) return InflateStatus::input_ended;
  const unsigned literal_count = 257 + bits_.take(5);
  if (!need(5)) return InflateStatus::input_ended;
  const unsigned distance_count = 1 + bits_.take(5);
  if (!need(4)) return InflateStatus::input_ended;
  const unsigned code_length_count = 4 + bits_.take(4);
  if (literal_count > 286 || distance_count > 30) return InflateStatus::invalid;

  std::array<uint8_t, 19> code_lengths{};
  for (unsigned i = 0; i < code_length_count; ++i) {
    if (!need(3)) return InflateStatus::input_ended;
    code_lengths[kOrder[i]] = static_cast<uint8_t>(bits_.take(3));
  }
  CodeLengthTable table;
  if (!build(code_lengths, table)) return InflateStatus::invalid;

  std::array<uint8_t, 286 + 30> lengths{};
  const unsigned total = literal_count + distance_count;
  uint8_t previous = 0;  // a repetition with nothing before it repeats 0
  for (unsigned i = 0; i < total;) {
    Symbol found;
    if (!careful_lookup(table, found)) return InflateStatus::input_ended;
    if (found.entry & kSpecial) return InflateStatus::invalid;
    const uint32_t symbol = entry_value(found.entry);
    if (symbol < 16) {
      lengths[i++] = previous = static_cast<uint8_t>(symbol);
      continue;
    }
    const unsigned extra = symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
    if (!need(extra)) return InflateStatus::input_ended;
    const unsigned repeat = bits_.take(extra) + (symbol == 18 ? 11 : 3);
    if (i + repeat > total) return InflateStatus::invalid;
    if (symbol != 16) previous = 0;
    std::fill_n(lengths.begin() + i, repeat, previous);
    i += repeat;
  }
  const std::span<const uint8_t> all(lengths);
  if (!build(all.subspan(0, literal_count), literals_) ||
      !build(all.subspan(literal_count, distance_count), distances_)) {
    return InflateStatus::invalid;
  }
  return InflateStatus::done;
}

InflateStatus Inflater::coded_block() {
  for (bool end_of_block = false; !end_of_block;) {
    if (!output_.make_room()) {
      write_failed_ = true;
      return InflateStatus::write_failed;
    }
    const FastStop stop = has_bmi2_ ? fast_symbols_bmi2() : fast_symbols();
    if (stop == FastStop::invalid) return InflateStatus::invalid;
    if (stop == FastStop::end_of_block) return InflateStatus::done;
    const InflateStatus status = careful_symbol(end_of_block);
    if (status != InflateStatus::done) return status;
  }
  return InflateStatus::done;
}

// Finds the next symbol and drops its code. Asks for more input only in gzip's steps, see
// CodeShape.
template <typename Table>
bool Inflater::careful_lookup(const Table& table, Symbol& symbol) {
  unsigned demanded = static_cast<unsigned>(table.shape.root_bits(table.root_limit));
  for (;;) {
    if (!need(demanded)) return false;
    // Bits that are not there read as zero; the entry counts only if its code needs none of them.
    uint32_t entry = table.entries[bits_.bits & ((1u << Table::kTableBits) - 1)];
    unsigned length = entry_code_length(entry);
    if (entry & kLink) {
      entry = table.entries[linked_index(entry, bits_.bits >> Table::kTableBits)];
      length = Table::kTableBits + entry_code_length(entry);
    }
    if (length <= demanded) {
      symbol = {entry, entry_drop(entry) - entry_code_length(entry)};
      bits_.drop(length);
      return true;
    }
    demanded += static_cast<unsigned>(table.shape.next_table_bits(
        static_cast<uint32_t>(bits_.bits), static_cast<int>(demanded), table.root_limit));
  }
}

bool Inflater::careful_value(const Symbol& symbol, uint32_t& value) {
  if (!need(symbol.extra_bits)) return false;
  value = entry_value(symbol.entry) + bits_.take(symbol.extra_bits);
  return true;
}

InflateStatus Inflater::careful_symbol(bool& end_of_block) {
  Symbol symbol;
  if (!careful_lookup(literals_, symbol)) return InflateStatus::input_ended;
  if (symbol.entry & kLiteral) {
    *output_.next++ = static_cast<uint8_t>(symbol.entry >> 16);
    return InflateStatus::done;
  }
  if (symbol.entry & kSpecial) {
    end_of_block = symbol.entry & kEndOfBlock;
    return end_of_block ? InflateStatus::done : InflateStatus::invalid;
  }
  uint32_t length;
  if (!careful_value(symbol, length)) return InflateStatus::input_ended;
  if (!careful_lookup(distances_, symbol)) return InflateStatus::input_ended;
  if (symbol.entry & kSpecial) return InflateStatus::invalid;
  uint32_t distance;
  if (!careful_value(symbol, distance)) return InflateStatus::input_ended;
  if (distance > output_.reach()) {
    output_.copy_from_before(distance, length);
    return InflateStatus::done;
  }
  const uint8_t* from = output_.next - distance;
  for (; length > 0; --length) *output_.next++ = *from++;
  return InflateStatus::done;
}

}  // namespace hoist::gunzip
