// An index of safetensors is any JSON with a "weight_map". It is written again while it is parsed:
// what is not left out stays, in its order.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "tensors/file/partial_model.h"

namespace hoist::tensors {
namespace {

using nlohmann::json;

constexpr size_t kMaxDepth = 16;  // as readers have it

class IndexWriter final : public nlohmann::json_sax<json> {
 public:
  explicit IndexWriter(const std::set<std::string>& left_out) : left_out_(left_out) {}

  bool has_map = false;
  std::string text;

  bool key(string_t& name) override {
    if (depth_ == 1) in_map_ = name == "weight_map";
    leaves_out_ = in_map_ && depth_ == 2 && left_out_.contains(name);
    if (leaves_out_) return true;
    begin_line();
    text += json_text(name) + ": ";
    has_key_ = true;
    return true;
  }
  bool start_object(size_t) override {
    if (in_map_ && depth_ == 1) has_map = true;
    return open('{');
  }
  bool end_object() override { return close('}'); }
  bool start_array(size_t) override { return open('['); }
  bool end_array() override { return close(']'); }
  bool string(string_t& value) override { return scalar(json_text(value)); }
  bool number_unsigned(number_unsigned_t value) override { return scalar(fmt::to_string(value)); }
  bool number_integer(number_integer_t value) override { return scalar(fmt::to_string(value)); }
  bool number_float(number_float_t, const string_t& value) override { return scalar(value); }
  bool null() override { return scalar("null"); }
  bool boolean(bool value) override { return scalar(value ? "true" : "false"); }
  bool binary(binary_t&) override { return false; }
  bool parse_error(size_t, const std::string&, const json::exception&) override { return false; }

 private:
  static std::string json_text(std::string_view value) {
    return json(value).dump(-1, ' ', false, json::error_handler_t::replace);
  }
  void begin_line() {
    if (!is_first_) text += ',';
    if (depth_ > 0) text.append(1, '\n').append(2 * depth_, ' ');
    is_first_ = false;
  }
  // A value stands behind its key, or on a line of its own.
  void begin_value() {
    if (!std::exchange(has_key_, false)) begin_line();
  }
  bool scalar(std::string_view value) {
    if (depth_ == 0) return false;
    if (std::exchange(leaves_out_, false)) return true;
    begin_value();
    text += value;
    return true;
  }
  bool open(char bracket) {
    if (leaves_out_) return false;  // a file's name is a text
    begin_value();
    text += bracket;
    is_first_ = true;
    return ++depth_ <= kMaxDepth;
  }
  bool close(char bracket) {
    --depth_;
    if (!is_first_) text.append(1, '\n').append(2 * depth_, ' ');
    text += bracket;
    is_first_ = false;
    return true;
  }

  const std::set<std::string>& left_out_;
  size_t depth_ = 0;
  bool in_map_ = false;
  bool leaves_out_ = false;
  bool has_key_ = false;
  bool is_first_ = true;  // of its object or array
};

}  // namespace

Result<std::string> partial_index(std::span<const std::byte> skeleton,
                                  const std::set<std::string>& left_out, const std::string& name) {
  const std::string_view index(reinterpret_cast<const char*>(skeleton.data()), skeleton.size());
  IndexWriter writer(left_out);
  // The parser takes a zero byte for the end of the text.
  const bool has_zero = index.find('\0') != std::string_view::npos;
  if (has_zero || !json::sax_parse(index, &writer) || !writer.has_map) {
    return fail(ErrorCode::corrupt,
                fmt::format("the index that was packed is damaged ({}): name an output that ends "
                            "in .safetensors",
                            name));
  }
  return std::move(writer.text) + "\n";
}

}  // namespace hoist::tensors
