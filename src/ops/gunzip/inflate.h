// DEFLATE decoder (RFC 1951) that accepts what gzip accepts, and stops where gzip stops.
//
// Libraries decode valid streams as fast, but they judge broken ones differently: zlib, ISA-L and
// libdeflate each reject some codes that gzip takes and take some that gzip rejects, and none can
// tell how much gzip would have written before it noticed. So the decoder is our own. It has two
// loops: a fast one (codec/deflate_loop.h), far from the ends of the buffers, and a careful one
// that asks for input bit by bit as gzip does.
#pragma once

#include <cstdint>

#include "codec/deflate_codes.h"
#include "ops/gunzip/input_buffer.h"
#include "ops/gunzip/output_window.h"

namespace hoist::gunzip {

enum class InflateStatus {
  done,
  invalid,       // not DEFLATE
  input_ended,   // or could not be read: see InputBuffer::error()
  write_failed,  // the sink refused
};

class Inflater {
 public:
  Inflater(InputBuffer& input, OutputWindow& output);

  // Decodes one stream, from where `input` stands; leaves it at the byte after the stream.
  InflateStatus run();

 private:
  // The bits taken from the input and not yet used, the next one lowest; all above `count` zero.
  struct BitBuffer {
    uint64_t bits = 0;
    unsigned count = 0;
    void drop(unsigned n) {
      bits >>= n;
      count -= n;
    }
    uint32_t take(unsigned n) {
      const uint32_t value = static_cast<uint32_t>(bits & ((uint64_t{1} << n) - 1));
      drop(n);
      return value;
    }
  };

  InflateStatus block(bool& last);
  InflateStatus stored_block();
  InflateStatus read_dynamic_codes();
  InflateStatus coded_block();
  // One symbol, a match with its distance.
  InflateStatus careful_symbol(bool& end_of_block);

  struct Symbol {
    uint32_t entry;
    unsigned extra_bits;  // that follow the code
  };
  template <typename Table>
  bool careful_lookup(const Table& table, Symbol& symbol);
  bool careful_value(const Symbol& symbol, uint32_t& value);

  // Have that many bits in the bit buffer; false where the input ends or output cannot be written.
  bool need(unsigned count);
  bool refill_input();

  // Decode symbols while both buffers have room for any symbol; inflate_fast.cc.
  enum class FastStop { buffers, end_of_block, invalid };
  FastStop fast_symbols();
  FastStop fast_symbols_bmi2();
  FastStop fast_symbols_body();

  InputBuffer& input_;
  OutputWindow& output_;
  BitBuffer bits_;
  codec::deflate::LiteralTable literals_;
  codec::deflate::DistanceTable distances_;
  bool fixed_codes_loaded_ = false;
  const bool has_bmi2_;
  bool write_failed_ = false;
};

}  // namespace hoist::gunzip
