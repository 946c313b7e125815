// safetensors' __metadata__: texts by name.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "tensors/model/metadata.h"

namespace hoist::tensors {
namespace {

using nlohmann::json;

constexpr size_t kMaxDepth = 16;

// Keeps what lies in one object of the header; everything else is passed over, unbuilt.
class MetadataParser final : public nlohmann::json_sax<json> {
 public:
  std::vector<MetadataPair> pairs;

  bool key(string_t& text) override {
    if (depth_ == 1) in_metadata_ = text == "__metadata__";
    if (depth_ == 2) key_ = text;
    return true;
  }
  bool string(string_t& text) override {
    if (!in_metadata_ || depth_ != 2) return true;
    MetadataPair pair;
    pair.key = key_;
    pair.value.bytes = std::move(text);
    pairs.push_back(std::move(pair));
    return true;
  }
  bool start_object(size_t) override { return ++depth_ <= kMaxDepth; }
  bool start_array(size_t) override { return ++depth_ <= kMaxDepth; }
  bool end_object() override { return --depth_, true; }
  bool end_array() override { return --depth_, true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool binary(binary_t&) override { return false; }
  bool parse_error(size_t, const std::string&, const json::exception&) override { return false; }

 private:
  size_t depth_ = 0;
  bool in_metadata_ = false;
  std::string key_;
};

}  // namespace

Result<std::vector<MetadataPair>> read_safetensors_metadata(const container::Source& source) {
  const auto corrupt = [&] {
    return fail(ErrorCode::corrupt,
                fmt::format("the safetensors header is no valid JSON ({})", source.name()));
  };
  uint64_t size = 0;
  if (source.size() < sizeof size) return corrupt();
  if (Status read = source.read(0, std::as_writable_bytes(std::span(&size, 1))); !read) {
    return read.error();
  }
  if (size > source.size() - sizeof size || size > kMaxHeaderBytes) return corrupt();
  std::string text(size, '\0');
  if (Status read = source.read(sizeof size, std::as_writable_bytes(std::span(text))); !read) {
    return read.error();
  }
  MetadataParser parser;
  if (!json::sax_parse(text, &parser)) return corrupt();
  return std::move(parser.pairs);
}

}  // namespace hoist::tensors
