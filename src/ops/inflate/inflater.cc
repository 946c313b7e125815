#include "ops/inflate/inflater.h"

#include <algorithm>
#include <cstring>

#include "base/cpu.h"
#include "codec/crc32.h"

namespace hoist::inflate {

using codec::deflate::build;
using codec::deflate::entry_value;

Inflater::Inflater(const hoist_inflate_boundary& boundary)
    : bits_(boundary.bits),
      bit_count_(boundary.bit_count),
      mode_(boundary.nothing_read ? Mode::block_header : Mode::block),
      checked_(boundary.format != HOIST_INFLATE_RAW),
      window_in_use_(boundary.output_before),
      output_in_call_(boundary.output_in_call),
      format_(boundary.format),
      has_bmi2_(cpu_features().bmi2),
      check_(boundary.check),
      total_(boundary.total) {
  output_.set_window(size_t{1} << boundary.window_bits);
}

int Inflater::run(z_stream& stream, int flush) {
  if (stream.zalloc == nullptr || stream.zfree == nullptr || stream.next_out == nullptr ||
      (stream.next_in == nullptr && stream.avail_in != 0)) {
    return Z_STREAM_ERROR;
  }
  Call call = {.in = stream.next_in,
               .in_end = stream.next_in + stream.avail_in,
               .out = stream.next_out,
               .out_end = stream.next_out + stream.avail_out,
               .uncounted = 0,
               .stream = stream,
               .flush = flush};
  output_.begin_call();
  // A call goes on where the last one was asked to stop. The first of ours is the rest of a call.
  if (resumed_ && mode_ == Mode::block) mode_ = Mode::block_header;
  resumed_ = true;
  while (step(call) == Step::next) {
  }
  return finish(call);
}

Inflater::Step Inflater::step(Call& call) {
  switch (mode_) {
    case Mode::block:
      if (call.flush == Z_BLOCK || call.flush == Z_TREES) return Step::leave;
      return block_header(call);
    case Mode::block_header:
      return block_header(call);
    case Mode::stored_lengths:
      return stored_lengths(call);
    case Mode::stored_start:
      mode_ = Mode::stored_data;
      return Step::next;
    case Mode::stored_data:
      return stored_data(call);
    case Mode::code_counts:
      return code_counts(call);
    case Mode::code_length_lengths:
      return code_length_lengths(call);
    case Mode::code_lengths:
      return code_lengths(call);
    case Mode::coded_start:
      mode_ = Mode::symbol;
      return Step::next;
    case Mode::symbol:
      return symbols(call);
    case Mode::length_extra:
      return length_extra(call);
    case Mode::distance:
      return distance(call);
    case Mode::distance_extra:
      return distance_extra(call);
    case Mode::match:
      return match(call);
    case Mode::literal:
      return literal(call);
    case Mode::check:
      return check(call);
    case Mode::length_check:
      return length_check(call);
    case Mode::done:
    case Mode::bad:
      return Step::leave;
  }
  return Step::leave;
}

Inflater::Step Inflater::fail(Call& call, const char* message) {
  call.stream.msg = const_cast<char*>(message);
  mode_ = Mode::bad;
  return Step::next;
}

bool Inflater::pull(Call& call) {
  if (call.in == call.in_end) return false;
  bits_ |= uint64_t{*call.in++} << bit_count_;
  bit_count_ += 8;
  return true;
}

bool Inflater::need(Call& call, unsigned count) {
  while (bit_count_ < count) {
    if (!pull(call)) return false;
  }
  return true;
}

// RFC 1951, 3.2.3.
Inflater::Step Inflater::block_header(Call& call) {
  if (last_block_) {
    drop(bit_count_ & 7);
    mode_ = Mode::check;
    return Step::next;
  }
  if (!need(call, 3)) return Step::leave;
  last_block_ = take(1) != 0;
  switch (take(2)) {
    case 0:
      mode_ = Mode::stored_lengths;
      return Step::next;
    case 1:
      load_fixed_codes();
      mode_ = Mode::coded_start;
      return call.flush == Z_TREES ? Step::leave : Step::next;
    case 2:
      mode_ = Mode::code_counts;
      return Step::next;
    default:
      return fail(call, "invalid block type");
  }
}

Inflater::Step Inflater::stored_lengths(Call& call) {
  drop(bit_count_ & 7);
  if (!need(call, 32)) return Step::leave;
  const uint32_t length = bits_ & 0xffff;
  if (length != (~static_cast<uint32_t>(bits_ >> 16) & 0xffff)) {
    return fail(call, "invalid stored block lengths");
  }
  length_ = length;
  bits_ = 0;
  bit_count_ = 0;
  mode_ = Mode::stored_start;
  return call.flush == Z_TREES ? Step::leave : Step::next;
}

Inflater::Step Inflater::stored_data(Call& call) {
  if (length_ == 0) {
    mode_ = Mode::block;
    return Step::next;
  }
  if (output_.full()) pass_on(call);
  const size_t count = std::min({size_t{length_}, static_cast<size_t>(call.in_end - call.in),
                                 room(call), output_.until_full()});
  if (count == 0) return Step::leave;
  std::memcpy(output_.next(), call.in, count);
  call.in += count;
  output_.advance(count);
  length_ -= static_cast<uint32_t>(count);
  return Step::next;
}

void Inflater::load_fixed_codes() {
  if (fixed_codes_loaded_) return;
  std::array<uint8_t, 288> lengths;
  std::fill_n(lengths.begin(), 144, 8);
  std::fill_n(lengths.begin() + 144, 112, 9);
  std::fill_n(lengths.begin() + 256, 24, 7);
  std::fill_n(lengths.begin() + 280, 8, 8);
  build(lengths, literal_table_);
  std::array<uint8_t, 32> distance_lengths;
  distance_lengths.fill(5);
  build(distance_lengths, distance_table_);
  fixed_codes_loaded_ = true;
}

// RFC 1951, 3.2.7.
Inflater::Step Inflater::code_counts(Call& call) {
  constexpr unsigned kMostLiterals = 286;
  constexpr unsigned kMostDistances = 30;
  if (!need(call, 14)) return Step::leave;
  literal_count_ = 257 + take(5);
  distance_count_ = 1 + take(5);
  code_length_count_ = 4 + take(4);
  if (literal_count_ > kMostLiterals || distance_count_ > kMostDistances) {
    return fail(call, "too many length or distance symbols");
  }
  have_ = 0;
  mode_ = Mode::code_length_lengths;
  return Step::next;
}

Inflater::Step Inflater::code_length_lengths(Call& call) {
  static constexpr uint8_t kOrder[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                         11, 4,  12, 3, 13, 2, 14, 1, 15};
  for (; have_ < code_length_count_; ++have_) {
    if (!need(call, 3)) return Step::leave;
    lengths_[kOrder[have_]] = static_cast<uint8_t>(take(3));
  }
  for (; have_ < std::size(kOrder); ++have_) lengths_[kOrder[have_]] = 0;
  // Without any code, each bit stands for a code length of 0, and then block has no end.
  const bool built = build(std::span(lengths_).first(std::size(kOrder)), code_length_table_);
  const codec::deflate::CodeShape& shape = code_length_table_.shape;
  if (!built || (!shape.complete && shape.max_length != 0)) {
    return fail(call, "invalid code lengths set");
  }
  have_ = 0;
  mode_ = Mode::code_lengths;
  return Step::next;
}

Inflater::Step Inflater::code_lengths(Call& call) {
  while (have_ < literal_count_ + distance_count_) {
    uint32_t entry;
    unsigned code_length;
    if (!lookup(call, code_length_table_, entry, code_length)) return Step::leave;
    const uint32_t symbol = entry_value(entry);
    if (symbol < 16) {
      drop(code_length);
      lengths_[have_++] = static_cast<uint8_t>(symbol);
      continue;
    }
    const unsigned extra_bits = symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
    if (!need(call, code_length + extra_bits)) return Step::leave;
    drop(code_length);
    if (symbol == 16 && have_ == 0) return fail(call, "invalid bit length repeat");
    const uint8_t repeated = symbol == 16 ? lengths_[have_ - 1] : 0;
    const unsigned count = take(extra_bits) + (symbol == 18 ? 11 : 3);
    if (have_ + count > literal_count_ + distance_count_) {
      return fail(call, "invalid bit length repeat");
    }
    std::fill_n(lengths_.begin() + have_, count, repeated);
    have_ += count;
  }
  return build_codes(call);
}

Inflater::Step Inflater::build_codes(Call& call) {
  constexpr size_t kEndOfBlockSymbol = 256;
  if (lengths_[kEndOfBlockSymbol] == 0) return fail(call, "invalid code -- missing end-of-block");
  const std::span<const uint8_t> lengths(lengths_);
  fixed_codes_loaded_ = false;
  if (!build(lengths.first(literal_count_), literal_table_)) {
    return fail(call, "invalid literal/lengths set");
  }
  if (!build(lengths.subspan(literal_count_, distance_count_), distance_table_)) {
    return fail(call, "invalid distances set");
  }
  mode_ = Mode::coded_start;
  return call.flush == Z_TREES ? Step::leave : Step::next;
}

Inflater::Step Inflater::check(Call& call) {
  if (format_ != HOIST_INFLATE_RAW) {
    if (!need(call, 32)) return Step::leave;
    count_output(call);
    const uint32_t stored = static_cast<uint32_t>(bits_);
    const uint32_t check = format_ == HOIST_INFLATE_GZIP ? stored : __builtin_bswap32(stored);
    if (checked_ && check != check_) return fail(call, "incorrect data check");
    bits_ = 0;
    bit_count_ = 0;
  }
  mode_ = Mode::length_check;
  return Step::next;
}

Inflater::Step Inflater::length_check(Call& call) {
  if (format_ == HOIST_INFLATE_GZIP) {
    if (!need(call, 32)) return Step::leave;
    if (checked_ && static_cast<uint32_t>(bits_) != total_) {
      return fail(call, "incorrect length check");
    }
    bits_ = 0;
    bit_count_ = 0;
  }
  mode_ = Mode::done;
  return Step::next;
}

void Inflater::pass_on(Call& call) {
  const size_t count = output_.unsent_size();
  if (checked_) {
    check_ = format_ == HOIST_INFLATE_GZIP ? codec::crc32(check_, output_.unsent(), count)
                                           : codec::adler32(check_, output_.unsent(), count);
  }
  output_.pass_on(call.out);
  call.out += count;
  call.uncounted += count;
}

void Inflater::count_output(Call& call) {
  pass_on(call);
  call.stream.total_out += call.uncounted;
  total_ += static_cast<uint32_t>(call.uncounted);
  if (checked_ && call.uncounted != 0) call.stream.adler = check_;
  call.uncounted = 0;
  output_in_call_ = 0;
}

int Inflater::finish(Call& call) {
  z_stream& stream = call.stream;
  pass_on(call);
  const size_t consumed = static_cast<size_t>(call.in - stream.next_in);
  const size_t written = call.uncounted;
  // The window is for later calls: zlib makes none where there cannot be any that write.
  const bool first_use = (written != 0 || output_in_call_ != 0) && mode_ != Mode::bad &&
                         (mode_ < Mode::check || call.flush != Z_FINISH);
  window_in_use_ = window_in_use_ || first_use;
  count_output(call);

  stream.next_in = call.in;
  stream.avail_in -= static_cast<uInt>(consumed);
  stream.total_in += consumed;
  stream.next_out = call.out;
  stream.avail_out = static_cast<uInt>(call.out_end - call.out);
  const bool at_data = mode_ == Mode::stored_start || mode_ == Mode::coded_start;
  stream.data_type = static_cast<int>(bit_count_) + (last_block_ ? 64 : 0) +
                     (mode_ == Mode::block ? 128 : 0) + (at_data ? 256 : 0);
  if (mode_ == Mode::done) return Z_STREAM_END;
  if (mode_ == Mode::bad) return Z_DATA_ERROR;
  return (consumed == 0 && written == 0) || call.flush == Z_FINISH ? Z_BUF_ERROR : Z_OK;
}

int Inflater::get_dictionary(uint8_t* dictionary, uInt* size) {
  output_.begin_call();
  const size_t known = window_in_use_ ? output_.reach() : 0;
  if (dictionary != nullptr && known != 0) {
    std::memcpy(dictionary, output_.next() - known, known);
  }
  if (size != nullptr) *size = static_cast<uInt>(known);
  return Z_OK;
}

int Inflater::set_dictionary(const uint8_t* dictionary, size_t size) {
  output_.begin_call();
  output_.put_before(dictionary, size);
  window_in_use_ = true;
  return Z_OK;
}

int Inflater::prime(int bits, int value) {
  if (bits < 0) {
    bits_ = 0;
    bit_count_ = 0;
    return Z_OK;
  }
  const unsigned count = static_cast<unsigned>(bits);
  if (count > 16 || bit_count_ + count > 32) return Z_STREAM_ERROR;
  bits_ |= (static_cast<uint64_t>(value) & ((uint64_t{1} << count) - 1)) << bit_count_;
  bit_count_ += count;
  return Z_OK;
}

long Inflater::mark() const {
  uint32_t copied = 0;
  if (mode_ == Mode::stored_data) copied = length_;
  if (mode_ == Mode::match) copied = match_length_ - length_;
  return static_cast<long>(bits_back_) * (long{1} << 16) + static_cast<long>(copied);
}

}  // namespace hoist::inflate
