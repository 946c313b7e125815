#include "ops/gunzip/listing.h"

#include <array>
#include <cstdio>

namespace hoist::gunzip {
namespace {

template <typename... Args>
std::string format(const char* pattern, Args... args) {
  std::array<char, 128> text;
  const int size = std::snprintf(text.data(), text.size(), pattern, args...);
  return std::string(text.data(), static_cast<size_t>(size));
}

std::string format_time(time_t time) {
  static constexpr const char* kMonths[12] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                              "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const struct tm* const local = std::localtime(&time);
  if (local == nullptr) return "??? ?? ??:?? ";
  return format("%s%3d %02d:%02d ", kMonths[local->tm_mon], local->tm_mday, local->tm_hour,
                local->tm_min);
}

std::string format_sizes(uint64_t compressed, uint64_t uncompressed) {
  return format("%19llu %19llu ", static_cast<unsigned long long>(compressed),
                static_cast<unsigned long long>(uncompressed));
}

}  // namespace

std::string format_ratio(uint64_t compressed, uint64_t uncompressed, uint64_t overhead) {
  const double saved = static_cast<double>(uncompressed) -
                       (static_cast<double>(compressed) - static_cast<double>(overhead));
  const double ratio = uncompressed == 0 ? 0.0 : 100.0 * saved / static_cast<double>(uncompressed);
  return format("%5.1f%%", ratio);
}

void Listing::add(const Row& row) {
  if (total_compressed_ == 0 && !quiet_) {
    if (verbose_) text_ += "method  crc     date  time  ";
    text_ += "         compressed        uncompressed  ratio uncompressed_name\n";
  }
  if (verbose_)
    text_ += format("defla %08lx ", static_cast<unsigned long>(row.crc)) + format_time(row.time);
  text_ += format_sizes(row.compressed, row.uncompressed) +
           format_ratio(row.compressed, row.uncompressed, overhead_) + " " + row.name + "\n";
  total_compressed_ += row.compressed;
  total_uncompressed_ += row.uncompressed;
}

void Listing::add_totals() {
  if (total_compressed_ == 0 || total_uncompressed_ == 0) return;
  if (verbose_) text_ += "                            ";
  if (!quiet_) text_ += format_sizes(total_compressed_, total_uncompressed_);
  text_ += format_ratio(total_compressed_, total_uncompressed_, overhead_) + " (totals)\n";
}

}  // namespace hoist::gunzip
