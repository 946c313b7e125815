// Texts for tests of records: hostile ones, and generated ones of each format.
#pragma once

#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hoist::records {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

inline std::string repeated(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

inline std::vector<std::string> hostile_texts() {
  using namespace std::string_literals;
  return {
      ""s,
      "\n"s,
      "\n\n\n"s,
      "\r\n\r\n"s,
      "a"s,
      "\0\0\0"s,
      "a\0b\nc\0d\n"s,
      "\xff\xfe\xc2\n\xe2\x9f\n"s,
      "{\"a\":1}"s,
      "{\"a\":1}\r\n{\"a\":2}\r\n"s,
      "{\"a\":1,\"a\":2}\n{\"a\":1,\"a\":2}\n"s,
      "{\"a\":1e3,\"b\":+7,\"c\":007,\"d\":-0,\"e\":-0.0,\"f\":1.50,\"g\":.5,\"h\":5.}\n"s,
      "{\"a\":" + repeated("9", 400) + "}\n{\"a\":-" + repeated("1", 400) + "." +
          repeated("0", 400) + "}\n",
      repeated("[", 100000) + repeated("]", 100000) + "\n",
      repeated("{\"a\":", 70) + "1" + repeated("}", 70) + "\n",
      repeated("{\"a\":", 60) + "1" + repeated("}", 60) + "\n",
      "{\"a\":\"\\\"\"}\n{\"a\":\"\\\\\"}\n{\"a\":\"\\\n\"}\n{\"a\":\"\\u0000\"}\n"s,
      "{\"a\":[]}\n{\"a\":[1]}\n{\"a\":[1,2]}\n{\"a\":[1, 2,3]}\n{\"a\":[[1],[2]]}\n{\"a\":[1,\"x\"]}\n"s,
      "{\"a\":[\"x\"]}\n{\"a\":[\"x\",\"y\"]}\n{\"a\":[\"x\" , \"y\" , \"z\"],\"b\":[\"q\"]}\n"s,
      "{}\n[]\n1\n\"s\"\nnull\n {\"a\" : 1 } \n"s,
      "{\"\":1,\"/\":2,\"~\":3,\"[]\":4}\n{\"a\":{\"\":1}}\n"s,
      "a,b\n1,2\n3,4\n"s,
      "a,b\r\n1,2\r\n3,4\r\n"s,
      "a,b\n\"x,\"\"y\"\"\",2\n\"multi\nline\",3\n,\n,,,\n\"open,4\n\"closed\"x,5\n"s,
      "k>>v k>>v\nname>>John Smith age>>3\n  a>>1\t\tb>>2  \n>>x\nx>>\nno pairs\na>>b>>c\n"s,
      "⟆⟐.RAW:[§₿»⏱68a128dc»↗117391.31»⤊117406.15»⌘60,✓]\n⟆⟐.RAW:[§Ξ»⏱68a128dd»↗1,✓]\n"s,
      "LORETOKEN.PRICE:[BTC-USD,ts:1755392220,o:117391.31,ACTIVE]\nX:[]\nX:[,]\n:[\n:[]\nX:[a»b]\n"s,
      "Jan 31 13:55:36 host sshd[123]: Accepted key for bob from 10.0.0.1 port 22\n"
      "Jan 31 13:55:37 host sshd[124]: Accepted key for eve from 10.0.0.256 port 022\n"s,
      "2024-02-30 25:61:61 x\n2024-01-31T13:55:36.250Z y\n0000-00-00 z\n9999-12-31T23:59:59.999999999Z\n"s,
      "31/Jan/2024:13:55:36 +0000\n31/jan/2024:13:55:36\n99/Foo/2024:13:55:36 -0100\n"s,
      repeated("x", 100000) + "\n",
      repeated("\n", 65536),
      repeated("word 1 ", 1000) + "\n",
      "{\"" + repeated("k", 5000) + "\": 1}\n" + repeated("k", 5000) + ">>1 b>>2\n",
  };
}

inline std::string pick(std::mt19937_64& random, std::vector<std::string> from) {
  return from[random() % from.size()];
}

inline std::string random_number(std::mt19937_64& random) {
  char text[64];
  switch (random() % 6) {
    case 0:
      return std::to_string(static_cast<int64_t>(random()));
    case 1:
      return std::to_string(random() % 1000);
    case 2:
      std::snprintf(text, sizeof text, "%.2f",
                    static_cast<double>(random() % 1000000) / 100 - 5000);
      return text;
    case 3:
      std::snprintf(text, sizeof text, "%.17g", static_cast<double>(random()) / 1e10);
      return text;
    case 4:
      std::snprintf(text, sizeof text, "%04d", static_cast<int>(random() % 12000));
      return text;
    default:
      return pick(random, {"0", "-0", "1e3", "+7", "1.", ".5", "true", "null", "-1.50", "NaN"});
  }
}

// Lines of one format, most of them alike.
inline std::string random_records(std::mt19937_64& random, size_t rows) {
  std::string text;
  const uint64_t format = random() % 5;
  const uint64_t keys = 1 + random() % 6;
  const std::string end = random() % 4 == 0 ? "\r\n" : "\n";
  if (format == 1) text += "time,open,close" + end;
  for (size_t row = 0; row < rows; ++row) {
    std::string line;
    const auto number = [&] { return random_number(random); };
    const auto word = [&] { return pick(random, {"alpha", "beta", "", "a b", "é", "x1"}); };
    switch (format) {
      case 0:
        for (uint64_t k = 0; k < keys; ++k) {
          if (random() % 16 == 0) continue;
          line += (line.empty() ? "\"k" : ", \"k") + std::to_string(k) + "\": ";
          if (k % 3 == 0) line += number();
          if (k % 3 == 1) line += "\"" + word() + "\"";
          if (k % 3 == 2) {
            line += "[";
            for (uint64_t n = random() % 4, i = 0; i < n; ++i)
              line += (i > 0 ? "," : "") + number();
            line += "]";
          }
        }
        line = "{" + line + "}";
        break;
      case 1:
        line = std::to_string(1700000000 + 60 * row) + "," + number() + "," +
               (random() % 8 == 0 ? "\"" + word() + "\"" : number());
        break;
      case 2:
        line = "id>>" + number() + " name>>" + word() + (random() % 4 == 0 ? "  " : " ") + "v>>" +
               number();
        break;
      case 3:
        line = "⟆⟐.RAW:[§₿»⏱" + number() + "»↗" + number() + ",✓]";
        break;
      default:
        line = "2024-01-31 13:55:" + std::to_string(10 + row % 50) + " " +
               pick(random, {"INFO", "WARN"}) + " [" + number() + "] " + word() + " took " +
               number() + " ms";
    }
    text += line + (row + 1 == rows && random() % 2 == 0 ? "" : end);
  }
  return text;
}

// Columns of one kind each, without tabs, quotes and line ends: constants, numbers of all forms,
// dates, words, columns that follow from others, and mixtures.
inline std::vector<std::vector<std::string>> random_columns(std::mt19937_64& random, size_t rows) {
  std::vector<std::vector<std::string>> columns(16);
  char text[96];
  const auto format = [&](const char* pattern, auto... values) {
    std::snprintf(text, sizeof text, pattern, values...);
    return std::string(text);
  };
  int64_t cents = 11739131;
  int64_t previous = cents;
  for (size_t row = 0; row < rows; ++row) {
    const auto r = static_cast<unsigned>(random());
    const int64_t step = static_cast<int64_t>(random() % 2001) - 1000;
    size_t c = 0;
    const auto add = [&](const std::string& value) { columns[c++].push_back(value); };
    add("same");
    add(format("%zu", 1755392220 + 60 * row));
    add(format("%.2f", static_cast<double>(previous) / 100));
    previous = cents += step;
    add(format("%.2f", static_cast<double>(cents) / 100));
    add(format("%.2f", static_cast<double>(std::max(cents, cents - step) + r % 5) / 100));
    add(format("%.8g", static_cast<double>(r) / 1024));
    add(format("%.1f", static_cast<double>(r % 100)));
    add(format("%08x", r));
    add(format("%06u", r % 1000000));
    add(format("%u.%u.%u.%u", 10, r % 256, r / 256 % 256, 1));
    add(format("2024-%02u-%02uT%02u:%02u:%02u.%03uZ", 1 + r % 12, 1 + r % 28, r % 24, r % 60,
               r / 7 % 60, r % 1000));
    add(pick(random, {"BTC-USD", "ETH-USD", "SOL-USD"}));
    add(columns[c - 1].back());
    add(format("user-%u", r % 5000));
    add(r % 10 == 0 ? "null" : format("%d", static_cast<int>(r % 5000) - 2500));
    add(random_number(random));
  }
  return columns;
}

}  // namespace hoist::records
