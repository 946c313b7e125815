// A DEFLATE decoder in zlib's steps (see ops/inflate/inflate.h).
//
// What zlib has done when inflate() returns follows from a few rules, which this decoder keeps:
//
// - A step that needs n bits takes whole bytes until it has them; when the input ends before, it
//   keeps what it has taken. A code is known as soon as its own bits are there. So at most 7 bits
//   are left over when it stops for any other reason than the end of the input.
// - It goes on until a byte has to be written and there is no room: the symbol before it, length
//   and distance included, has been taken by then, and so have block headers, and the trailer where
//   no more output comes.
// - A match may reach back over all output of the current call, and `window` bytes before it.
// - total_out, the check value and the window are brought up to date once, when it returns, or when
//   the trailer's check value has been read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "codec/deflate_codes.h"
#include "codec/deflate_loop.h"
#include "ops/inflate/inflate.h"
#include "ops/inflate/output_buffer.h"

namespace hoist::inflate {

class Inflater {
 public:
  explicit Inflater(const hoist_inflate_boundary& boundary);

  // zlib's inflate().
  int run(z_stream& stream, int flush);

  // What zlib's window holds at the boundary.
  void put_before(const uint8_t* data, size_t size) { output_.put_before(data, size); }

  int set_dictionary(const uint8_t* dictionary, size_t size);
  int get_dictionary(uint8_t* dictionary, uInt* size);
  int prime(int bits, int value);
  bool at_stored_lengths() const { return mode_ == Mode::stored_lengths && bit_count_ == 0; }
  long mark() const;
  void validate(bool check) { checked_ = check && format_ != HOIST_INFLATE_RAW; }
  uint32_t unused_bits(unsigned& count) const {
    count = bit_count_;
    return static_cast<uint32_t>(bits_);
  }

 private:
  enum class Mode : uint8_t {
    block,         // before a block's header: the program may want to stop here
    block_header,  // there, and going on
    stored_lengths,
    stored_start,  // likewise before data
    stored_data,
    code_counts,
    code_length_lengths,
    code_lengths,
    coded_start,  // likewise before symbols
    symbol,
    length_extra,
    distance,
    distance_extra,
    match,
    literal,
    check,  // from here on nothing is written
    length_check,
    done,
    bad,
  };

  // What one call of run() works on.
  struct Call {
    const uint8_t* in;
    const uint8_t* in_end;
    uint8_t* out;  // the program's; what is decoded waits in `output_`
    uint8_t* out_end;
    size_t uncounted;  // bytes passed on that are not in the totals
    z_stream& stream;
    int flush;
  };

  // Whether to go on with the next step, or to return to the program.
  enum class Step : uint8_t { next, leave };

  Step step(Call& call);
  Step block_header(Call& call);
  Step stored_lengths(Call& call);
  Step stored_data(Call& call);
  Step code_counts(Call& call);
  Step code_length_lengths(Call& call);
  Step code_lengths(Call& call);
  Step build_codes(Call& call);
  Step symbols(Call& call);
  Step symbol(Call& call);
  Step length_extra(Call& call);
  Step distance(Call& call);
  Step distance_extra(Call& call);
  Step match(Call& call);
  Step literal(Call& call);
  Step check(Call& call);
  Step length_check(Call& call);
  Step fail(Call& call, const char* message);

  void load_fixed_codes();

  // Far from the ends.
  codec::deflate::LoopStop fast_symbols(codec::deflate::LoopState& state);
  [[gnu::target("bmi,bmi2")]] codec::deflate::LoopStop fast_symbols_bmi2(
      codec::deflate::LoopState& state);
  codec::deflate::LoopStop fast_symbols_body(codec::deflate::LoopState& state);

  bool need(Call& call, unsigned count);
  bool pull(Call& call);
  template <typename Table>
  bool lookup(Call& call, const Table& table, uint32_t& entry, unsigned& code_length);
  void drop(unsigned count) {
    bits_ >>= count;
    bit_count_ -= count;
  }
  uint32_t take(unsigned count) {
    const uint32_t value = static_cast<uint32_t>(bits_ & ((uint64_t{1} << count) - 1));
    drop(count);
    return value;
  }

  // Bytes that may be decoded before the program's room is used up.
  size_t room(const Call& call) const {
    return static_cast<size_t>(call.out_end - call.out) - output_.unsent_size();
  }
  void pass_on(Call& call);
  void count_output(Call& call);
  int finish(Call& call);

  uint64_t bits_;
  unsigned bit_count_;
  Mode mode_;
  bool resumed_ = false;
  bool last_block_ = false;
  bool fixed_codes_loaded_ = false;
  bool checked_;
  bool window_in_use_;       // as zlib has none before it needs one
  uint32_t output_in_call_;  // before this decoder's first call; then 0
  const hoist_inflate_format format_;
  const bool has_bmi2_;
  uint32_t check_;
  uint32_t total_;

  uint32_t length_ = 0;    // of the match, or of stored data; or the literal
  uint32_t distance_ = 0;  // of the match
  unsigned extra_bits_ = 0;
  uint32_t match_length_ = 0;  // before any of it was copied
  int bits_back_ = -1;         // of the symbol at hand, -1 outside of symbols (see inflateMark())

  unsigned literal_count_ = 0;
  unsigned distance_count_ = 0;
  unsigned code_length_count_ = 0;
  unsigned have_ = 0;  // code lengths read so far
  std::array<uint8_t, 320> lengths_{};

  codec::deflate::CodeLengthTable code_length_table_;
  codec::deflate::LiteralTable literal_table_;
  codec::deflate::DistanceTable distance_table_;
  OutputBuffer output_;
};

}  // namespace hoist::inflate
