// The table of `gzip -l`.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

namespace hoist::gunzip {

// "27.5%" in six columns: how much smaller the file is than what comes out of it. `overhead` is the
// size of header and trailer.
std::string format_ratio(uint64_t compressed, uint64_t uncompressed, uint64_t overhead);

class Listing {
 public:
  Listing(bool verbose, bool quiet) : verbose_(verbose), quiet_(quiet) {}

  struct Row {
    uint64_t compressed = 0;
    uint64_t uncompressed = 0;
    uint32_t crc = 0;
    time_t time = 0;
    std::string name;
  };
  void add(const Row& row);
  // The size of header and trailer of the file read last, for the ratios: also for that of the
  // sums, from which gzip takes off no more.
  void set_overhead(uint64_t overhead) { overhead_ = overhead; }
  // The line with the sums so far. gzip also prints it in place of a row for a broken file.
  void add_totals();

  const std::string& text() const { return text_; }

 private:
  bool verbose_;
  bool quiet_;
  std::string text_;
  uint64_t total_compressed_ = 0;
  uint64_t total_uncompressed_ = 0;
  uint64_t overhead_ = 0;
};

}  // namespace hoist::gunzip
