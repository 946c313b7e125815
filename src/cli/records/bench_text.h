// What `hoist records bench` measures with: a file, or generated candles.
#pragma once

#include <cstdint>
#include <string>

#include "cli/records/input.h"
#include "records/block_cutter.h"

namespace hoist::cli {

struct BenchText {
  std::string name;
  Input file = {};
  std::string generated = {};  // where there is no file
  uint64_t size = 0;

  // Reads it, as often as this is called. The text must outlive what it gives.
  records::ReadText from_start() const;
};

// `invalid_argument` where it is no file that can be read several times, or is empty.
Result<BenchText> open_bench_text(const std::string& name);

// Candles as JSON Lines, at most `size` bytes.
BenchText generated_text(uint64_t size);

}  // namespace hoist::cli
