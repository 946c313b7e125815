#include "records/scan.h"

#include <string_view>

namespace hoist::records {
namespace {

void stop_at(StopTable& table, std::string_view bytes) {
  for (const char byte : bytes) table[static_cast<uint8_t>(byte)] = true;
}

}  // namespace

Scanner::Scanner(char delimiter) {
  const auto table = [&](Scan scan) -> StopTable& { return tables_[static_cast<size_t>(scan)]; };
  stop_at(table(Scan::json_text), "\"\\");
  StopTable& bare = table(Scan::json_bare);
  bare.fill(true);
  for (const char byte : std::string_view("+-.0123456789"))
    bare[static_cast<uint8_t>(byte)] = false;
  for (char byte = 'a'; byte <= 'z'; ++byte) {
    bare[static_cast<uint8_t>(byte)] = bare[static_cast<uint8_t>(byte - 'a' + 'A')] = false;
  }
  stop_at(table(Scan::field), "\"\r");
  stop_at(table(Scan::field), {&delimiter, 1});
  stop_at(table(Scan::quoted), "\"");
  stop_at(table(Scan::word), " \t\r\v\f");
  stop_at(table(Scan::symbol), "\xc2,]\r");
}

}  // namespace hoist::records
