// The fast loop, compiled for what the CPU has: BMI2 shifts by a variable without a detour.
#include "codec/deflate_loop.h"
#include "ops/gunzip/inflate.h"

namespace hoist::gunzip {

[[gnu::always_inline]] inline Inflater::FastStop Inflater::fast_symbols_body() {
  using codec::deflate::LoopStop;
  codec::deflate::LoopState state = {.in = input_.next,
                                     .in_end = input_.end,
                                     .out = output_.next,
                                     .out_limit = output_.limit,
                                     .history_begin = output_.next - output_.reach(),
                                     .bits = bits_.bits,
                                     .count = bits_.count};
  const LoopStop stop = codec::deflate::decode_symbols(
      state, literals_, distances_, [&](uint8_t* out, uint32_t distance, uint32_t length) {
        output_.next = out;
        output_.copy_from_before(distance, length);
        return true;
      });
  input_.next = state.in;
  output_.next = state.out;
  bits_ = {state.bits, state.count};
  if (stop == LoopStop::buffers) return FastStop::buffers;
  return stop == LoopStop::end_of_block ? FastStop::end_of_block : FastStop::invalid;
}

Inflater::FastStop Inflater::fast_symbols() { return fast_symbols_body(); }

[[gnu::target("bmi,bmi2")]] Inflater::FastStop Inflater::fast_symbols_bmi2() {
  return fast_symbols_body();
}

}  // namespace hoist::gunzip
