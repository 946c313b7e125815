// safetensors: eight bytes of length, a header in JSON, the tensors without gaps. The rules are
// those of the format's description: the header begins with '{', has at most 100 MB, spaces may
// pad it; offsets count from its end, and the tensors cover everything behind it exactly once.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "tensors/model/model_formats.h"

namespace hoist::tensors {
namespace {

using nlohmann::json;

constexpr size_t kMaxDepth = 16;
constexpr size_t kMaxRank = 64;
constexpr size_t kMaxTypeName = 64;
constexpr std::string_view kMetadataKey = "__metadata__";

// Builds the list of tensors while the header is parsed. nlohmann's parser keeps a bit for each
// level of nesting and calls back in between; nothing is kept of what no rule asks for.
class HeaderParser final : public nlohmann::json_sax<json> {
 public:
  explicit HeaderParser(std::string file) : file_(std::move(file)) {}

  std::vector<ModelTensor> tensors;
  std::map<size_t, Shape> foreign_shapes;
  Status status;

  bool key(string_t& text) override {
    if (depth_ == 1) return begin_entry(text);
    if (depth_ == 2) field_ = text;
    return true;
  }
  bool start_object(size_t) override {
    if (depth_ == 2 && in_metadata_) return refuse("metadata that is not text");
    if (depth_ == 3 && list() != nullptr) return refuse("a map in place of a size");
    if (depth_ == 2 && has_meaning()) return refuse_value();
    return deeper();
  }
  bool end_object() override {
    --depth_;
    return depth_ != 1 || in_metadata_ || end_entry();
  }
  bool start_array(size_t) override {
    if (depth_ < 2) return refuse("an entry that is no object");
    if (depth_ == 2 && in_metadata_) return refuse("metadata that is not text");
    if (depth_ == 2 && list() != nullptr) {
      if (seen_list(field_)) return refuse("a field that is there twice");
    } else if (depth_ == 2 && has_meaning()) {
      return refuse_value();
    } else if (list() != nullptr) {
      return refuse("a list within a list");
    }
    return deeper();
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    std::vector<uint64_t>* const into = depth_ == 3 ? list() : nullptr;
    if (into == nullptr) return scalar();
    if (into->size() == kMaxRank) return refuse("a shape of more than 64 dimensions");
    into->push_back(value);
    return true;
  }
  bool number_integer(number_integer_t) override { return number(); }
  bool number_float(number_float_t, const string_t&) override { return number(); }
  bool string(string_t& text) override {
    if (depth_ == 2 && in_metadata_) return true;
    if (depth_ == 3 && list() != nullptr) return refuse("a dimension that is no number");
    if (depth_ == 2 && field_ == "dtype") {
      if (has_dtype_) return refuse("a field that is there twice");
      has_dtype_ = true;
      return set_dtype(text);
    }
    return scalar();
  }
  bool null() override {
    if (depth_ == 1 && in_metadata_) return true;  // as if it were not there
    return number();
  }
  bool boolean(bool) override { return number(); }
  bool binary(binary_t&) override { return scalar(); }
  bool parse_error(size_t position, const std::string&, const json::exception&) override {
    return refuse(fmt::format("no valid JSON at byte {}", position));
  }

 private:
  bool refuse(std::string_view what, ErrorCode code = ErrorCode::corrupt) {
    std::string where = file_;
    if (!current_.name.empty()) where += fmt::format(", tensor '{}'", current_.name);
    status = fail(code, fmt::format("the safetensors header holds {} ({})", what, where));
    return false;
  }
  bool deeper() {
    if (++depth_ > kMaxDepth) return refuse("values nested more than 16 deep");
    return true;
  }
  // A value that means nothing to us is passed over, but not in place of one that does.
  bool scalar() {
    if (depth_ < 2) return refuse("an entry that is no object");
    if (depth_ == 2 && in_metadata_) return refuse("metadata that is not text");
    if (depth_ == 2 && has_meaning()) return refuse_value();
    return true;
  }
  bool has_meaning() { return list() != nullptr || (!in_metadata_ && field_ == "dtype"); }
  bool refuse_value() { return refuse(fmt::format("a wrong value of \"{}\"", field_)); }
  bool number() {
    if (depth_ == 3 && list() != nullptr) return refuse("a number that is no size");
    return scalar();
  }
  std::vector<uint64_t>* list() {
    if (in_metadata_) return nullptr;
    if (field_ == "shape") return &current_.shape;
    if (field_ == "data_offsets") return &offsets_;
    return nullptr;
  }
  bool seen_list(std::string_view field) {
    bool& seen = field == "shape" ? has_shape_ : has_offsets_;
    return std::exchange(seen, true);
  }
  bool begin_entry(const std::string& name) {
    current_ = {};
    current_.name = name;
    offsets_.clear();
    field_.clear();
    has_dtype_ = has_shape_ = has_offsets_ = false;
    in_metadata_ = name == kMetadataKey;
    if (in_metadata_ && std::exchange(has_metadata_, true)) return refuse("metadata twice");
    return true;
  }
  bool set_dtype(const std::string& text) {
    const DTypeProperties* const found = find_dtype(std::string_view(text));
    if (found != nullptr && found->in_safetensors) {
      current_.dtype = found->dtype;
      return true;
    }
    if (text.empty() || text.size() > kMaxTypeName) {
      return refuse("an element type without a name, or with one of more than 64 bytes");
    }
    current_.dtype = DType::u8;
    current_.stored_as = text;
    return true;
  }
  // The offsets tell how many bytes a tensor of an unknown type has: rows of them where every row
  // has as many.
  bool set_unknown_shape() {
    const uint64_t bytes = offsets_[1] - offsets_[0];
    Shape& shape = current_.shape;
    if (!element_count(shape)) return refuse("a shape larger than any file");
    foreign_shapes[tensors.size()] = shape;
    const uint64_t row = shape.empty() ? 1 : shape.back();
    const uint64_t rows = row == 0 ? 0 : *element_count(shape) / row;
    if (rows == 0 || bytes % rows != 0) {
      shape = {bytes};
    } else if (shape.empty()) {
      shape = {bytes};
    } else {
      shape.back() = bytes / rows;
    }
    return true;
  }
  bool end_entry() {
    if (!has_dtype_ || !has_shape_ || offsets_.size() != 2 || offsets_[0] > offsets_[1]) {
      return refuse("an entry without valid dtype, shape and data_offsets");
    }
    if (!current_.stored_as.empty() && !set_unknown_shape()) return false;
    const Result<uint64_t> bytes = tensor_bytes(current_.dtype, current_.shape, current_.name);
    if (!bytes) {
      status = bytes.error();
      return false;
    }
    if (*bytes != offsets_[1] - offsets_[0]) {
      return refuse(fmt::format("{} bytes for a shape of {}", offsets_[1] - offsets_[0], *bytes));
    }
    current_.offset = offsets_[0];
    current_.bytes = *bytes;
    tensors.push_back(std::move(current_));
    current_ = {};
    return true;
  }

  std::string file_;
  size_t depth_ = 0;
  bool in_metadata_ = false;
  bool has_metadata_ = false;
  bool has_dtype_ = false;
  bool has_shape_ = false;
  bool has_offsets_ = false;
  std::string field_;
  ModelTensor current_;
  std::vector<uint64_t> offsets_;
};

// The parser takes a zero byte for the end of the text.
bool has_zero(std::string_view text) { return text.find('\0') != std::string_view::npos; }

Error corrupt(const container::Source& source, std::string_view what,
              std::string_view mend = "get the file again") {
  return fail(ErrorCode::corrupt,
              fmt::format("not a safetensors file: {} ({}): {}", what, source.name(), mend));
}

bool is_text(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char byte) {
    return (byte >= ' ' && byte <= '~') || byte == '\n' || byte == '\r' || byte == '\t';
  });
}

// Whatever is of no other format comes here: text gives lengths that no file has.
Status check_length(uint64_t size, const container::Source& source) {
  constexpr const char* kOthers = "name a .safetensors, .gguf, .npy or .npz that holds a model";
  const std::string_view first(reinterpret_cast<const char*>(&size), sizeof size);
  const bool fits = size <= source.size() - sizeof size;
  if (!fits && is_text(first)) return corrupt(source, "it begins with text", kOthers);
  if (!fits && size > kMaxSafetensorsHeader) {
    return corrupt(
        source,
        fmt::format("its first eight bytes ask for a header of {} bytes, of {} in the file", size,
                    source.size()),
        kOthers);
  }
  if (!fits) return corrupt(source, "the header is cut off");
  if (size > kMaxSafetensorsHeader) {
    return corrupt(
        source,
        fmt::format("a header of {} bytes, more than the 100 MB that the format takes", size),
        "save the model as several files");
  }
  return {};
}

void add_notes(const container::Source& source, ParsedModel& model) {
  std::map<std::string_view, std::pair<const ModelTensor*, size_t>> unknown;
  for (const ModelTensor& tensor : model.tensors) {
    if (tensor.stored_as.empty()) continue;
    auto& [first, count] = unknown[tensor.stored_as];
    if (count++ == 0) first = &tensor;
  }
  for (const auto& [type, tensors] : unknown) {
    const auto& [first, count] = tensors;
    model.notes.push_back(fmt::format(
        "{} {} of type {}, which this version does not know ({}): {} bytes are kept as they are",
        counted("tensor", first->name, count), count > 1 ? "are" : "is", type, source.name(),
        count > 1 ? "their" : "its"));
  }
}

// Every byte behind the header belongs to exactly one tensor.
Status check_coverage(const ParsedModel& model, uint64_t begin, const container::Source& source) {
  uint64_t end = begin;
  for (const ModelTensor& tensor : model.tensors) {
    if (tensor.offset != end) return corrupt(source, "bytes between tensors belong to none");
    end += tensor.bytes;
  }
  if (end != source.size()) return corrupt(source, "bytes behind the last tensor");
  return {};
}

// The tensor and file names of an index.
class IndexParser final : public nlohmann::json_sax<json> {
 public:
  WeightMap map;
  bool too_deep = false;

  bool key(string_t& text) override {
    if (depth_ == 1) in_map_ = text == "weight_map";
    if (depth_ == 2) name_ = text;
    return true;
  }
  bool string(string_t& text) override {
    if (in_map_ && depth_ == 2) map.emplace_back(std::move(name_), std::move(text));
    return true;
  }
  bool start_object(size_t) override { return deeper(); }
  bool start_array(size_t) override { return deeper(); }
  bool end_object() override { return --depth_, true; }
  bool end_array() override { return --depth_, true; }
  bool number_unsigned(number_unsigned_t) override { return depth_ > 0; }
  bool number_integer(number_integer_t) override { return depth_ > 0; }
  bool number_float(number_float_t, const string_t&) override { return depth_ > 0; }
  bool null() override { return depth_ > 0; }
  bool boolean(bool) override { return depth_ > 0; }
  bool binary(binary_t&) override { return false; }
  bool parse_error(size_t, const std::string&, const json::exception&) override { return false; }

 private:
  bool deeper() {
    too_deep = ++depth_ > kMaxDepth;
    return !too_deep;
  }

  size_t depth_ = 0;
  bool in_map_ = false;
  std::string name_;
};

}  // namespace

Result<SafetensorsHeader> read_safetensors_header(const container::Source& source) {
  uint64_t size = 0;
  if (source.size() < sizeof size) return corrupt(source, "shorter than eight bytes");
  if (Status read = source.read(0, std::as_writable_bytes(std::span(&size, 1))); !read) {
    return read.error();
  }
  if (Status plausible = check_length(size, source); !plausible) {
    return plausible.error();
  }
  std::string text(size, '\0');
  if (Status read = source.read(sizeof size, std::as_writable_bytes(std::span(text))); !read) {
    return read.error();
  }
  if (!text.starts_with('{')) return corrupt(source, "the header does not begin with '{'");
  if (has_zero(text)) return corrupt(source, "a zero byte in the header: pad it with spaces");
  HeaderParser parser(source.name());
  if (!json::sax_parse(text, &parser) || !parser.status) {
    if (parser.status) return corrupt(source, "the header is no valid JSON");
    return parser.status.error();
  }
  for (const ModelTensor& tensor : parser.tensors) {
    if (tensor.offset > container::kMaxSize) return corrupt(source, "an offset beyond 2^60");
  }
  return SafetensorsHeader{std::move(parser.tensors), std::move(parser.foreign_shapes),
                           sizeof size + size};
}

Result<ParsedModel> parse_safetensors(const container::Source& source) {
  Result<SafetensorsHeader> header = read_safetensors_header(source);
  if (!header) return header.error();
  ParsedModel model{ModelFormat::safetensors};
  model.tensors = std::move(header->tensors);
  for (ModelTensor& tensor : model.tensors) tensor.offset += header->bytes;
  if (Status ordered = order_tensors(model.tensors, source); !ordered) {
    return ordered.error();
  }
  if (Status covers = check_coverage(model, header->bytes, source); !covers) {
    return covers.error();
  }
  add_notes(source, model);
  return model;
}

Result<WeightMap> parse_json_index(std::string_view text, const std::string& name) {
  IndexParser parser;
  if (has_zero(text) || !json::sax_parse(text, &parser) || parser.map.empty()) {
    return fail(
        ErrorCode::corrupt,
        fmt::format("not an index of safetensors: no valid JSON with a \"weight_map\" ({})", name));
  }
  for (const auto& [tensor, file] : parser.map) {
    if (file.empty() || file == "." || file == ".." || file.find('/') != std::string::npos ||
        file.find('\0') != std::string::npos) {
      return fail(ErrorCode::corrupt,
                  fmt::format("the index puts tensor '{}' into '{}', which is no plain file name "
                              "({})",
                              tensor, file, name));
    }
  }
  return std::move(parser.map);
}

}  // namespace hoist::tensors
