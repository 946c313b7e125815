// Files with some of their tensors are files of their format, whose readers find what was kept.
#include "tensors/file/partial_model.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tensors/model/metadata.h"
#include "tensors/model/model_formats.h"
#include "tensors/model/model_testing.h"

namespace hoist::tensors {
namespace {

using container::as_bytes;
using container::memory_source;

// A model file taken apart as `hoist tensors pack` does, and made again with some of its tensors.
class Packed {
 public:
  explicit Packed(std::string bytes) : bytes_(std::move(bytes)) {
    Result<ParsedModel> parsed = parse_model(*memory_source(as_bytes(bytes_)));
    EXPECT_TRUE(parsed) << parsed.error().message;
    format_ = parsed->format;
    size_t end = 0;
    for (const ModelTensor& from : parsed->tensors) {
      HoloTensor tensor;
      tensor.name = from.name;
      tensor.description.dtype = from.dtype;
      tensor.description.shape = from.shape;
      tensor.stored_as = from.stored_as;
      tensor.order = from.order;
      tensor.offset = from.offset;
      skeleton_ += bytes_.substr(end, from.offset - end);
      end = from.offset + from.bytes;
      tensors.push_back(std::move(tensor));
    }
    skeleton_ += bytes_.substr(end);
  }

  std::string content(const HoloTensor& tensor) const {
    return bytes_.substr(tensor.offset, tensor.bytes());
  }
  Result<PartialModel> head_of(const std::vector<const HoloTensor*>& kept) const {
    return partial_model(format_, std::as_bytes(std::span(skeleton_)), kept, "m");
  }
  std::string file_of(const std::vector<const HoloTensor*>& kept) const {
    const Result<PartialModel> made = head_of(kept);
    EXPECT_TRUE(made) << made.error().message;
    if (!made) return {};
    std::string file = made->head;
    for (size_t i = 0; i < kept.size(); ++i) {
      file.resize(made->offsets[i], '\0');
      file += content(*kept[i]);
    }
    return file;
  }
  // With every second tensor, or the others.
  std::vector<const HoloTensor*> every_second(size_t first) const {
    std::vector<const HoloTensor*> kept;
    for (size_t i = first; i < tensors.size(); i += 2) kept.push_back(&tensors[i]);
    return kept;
  }

  std::vector<HoloTensor> tensors;

 private:
  std::string bytes_;
  std::string skeleton_;
  ModelFormat format_ = ModelFormat::safetensors;
};

// Its tensors are `kept` of the packed ones.
void expect_kept(const std::string& file, const Packed& packed,
                 const std::vector<const HoloTensor*>& kept) {
  const Result<ParsedModel> parsed = parse_model(*memory_source(as_bytes(file)));
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(parsed->tensors.size(), kept.size());
  for (size_t i = 0; i < kept.size(); ++i) {
    const ModelTensor& tensor = parsed->tensors[i];
    EXPECT_EQ(tensor.name, kept[i]->name);
    EXPECT_EQ(tensor.dtype, kept[i]->description.dtype);
    EXPECT_EQ(tensor.shape, kept[i]->description.shape);
    EXPECT_EQ(tensor.stored_as, kept[i]->stored_as);
    EXPECT_EQ(tensor.order, kept[i]->order);
    EXPECT_TRUE(file.substr(tensor.offset, tensor.bytes) == packed.content(*kept[i]));
  }
}

std::string with_header(const std::string& header, size_t data) {
  ByteWriter out;
  out.write<uint64_t>(header.size());
  std::string bytes = out.bytes() + header;
  for (size_t i = 0; i < data; ++i) bytes += static_cast<char>(i);
  return bytes;
}

TEST(PartialSafetensors, TypesThatAreNotKnownStayWhatTheyAre) {
  const Packed packed(with_header(R"({"__metadata__":{"by":"a \"test\"","note":"ü"},)"
                                  R"("a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                                  R"("b":{"dtype":"F3","shape":[2,8],"data_offsets":[3,9]},)"
                                  R"("c":{"dtype":"C128","shape":[],"data_offsets":[9,25]},)"
                                  R"("d":{"dtype":"F3\"","shape":[0],"data_offsets":[25,25]}})",
                                  25));
  for (const size_t first : {0, 1}) {
    const auto kept = packed.every_second(first);
    const std::string file = packed.file_of(kept);
    expect_kept(file, packed, kept);
    uint64_t size = 0;
    std::memcpy(&size, file.data(), sizeof size);
    const auto header = nlohmann::json::parse(file.substr(sizeof size, size));
    EXPECT_EQ(header["__metadata__"], (nlohmann::json{{"by", "a \"test\""}, {"note", "ü"}}));
    if (first == 1) {
      EXPECT_EQ(header["b"]["dtype"], "F3");
      EXPECT_EQ(header["b"]["shape"], (nlohmann::json{2, 8}));
      EXPECT_EQ(header["d"]["dtype"], "F3\"");
    } else {
      EXPECT_EQ(header["c"]["dtype"], "C128");
      EXPECT_EQ(header["c"]["shape"], nlohmann::json::array());
    }
  }
}

// Without the header that they came with nothing tells their shapes.
TEST(PartialSafetensors, TypesThatAreNotKnownAreNamedWhereTheHeaderIsLost) {
  const Packed packed(with_header(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                                  R"("odd":{"dtype":"F3","shape":[2,8],"data_offsets":[3,9]}})",
                                  9));
  const auto refused = bare_safetensors(packed.every_second(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_NE(refused.error().message.find("tensor 'odd' is stored as F3"), std::string::npos);
  EXPECT_TRUE(bare_safetensors(packed.every_second(0)));
}

TEST(PartialSafetensors, ManyTensors) {
  std::string header = "{";
  constexpr size_t kCount = 100'000;
  for (size_t i = 0; i < kCount; ++i) {
    header += fmt::format(
        "{}\"model.layers.{}\":{{\"dtype\":\"{}\",\"shape\":[1],"
        "\"data_offsets\":[{},{}]}}",
        i == 0 ? "" : ",", i, i % 3 == 0 ? "X8" : "U8", i, i + 1);
  }
  const Packed packed(with_header(header + "}", kCount));
  const auto kept = packed.every_second(1);
  expect_kept(packed.file_of(kept), packed, kept);
}

TEST(PartialSafetensors, HostileHeadersAreRefused) {
  std::string deep = R"({"__metadata__":)";
  for (int i = 0; i < 1'000'000; ++i) deep += R"({"a":)";
  std::string deep_list = R"({"w":{"x":)" + std::string(1'000'000, '[');
  for (const std::string& header :
       {deep, deep_list, deep_list + std::string(1'000'000, ']') + "}}", std::string("{"),
        std::string("[]"), std::string(), std::string(R"({"a":1})")}) {
    const std::string skeleton = with_header(header, 0);
    const auto made =
        partial_model(ModelFormat::safetensors, std::as_bytes(std::span(skeleton)), {}, "m");
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::corrupt);
    EXPECT_NE(made.error().message.find("(m)"), std::string::npos);
  }
}

// A GGUF of any version and byte order: a pair, two tensors of numbers, one of a type that is not
// known and one quantised.
std::string gguf_of(uint32_t version, bool big_endian) {
  std::string head;
  const auto number = [&](uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) {
      const size_t shift = 8 * (big_endian ? bytes - 1 - i : i);
      head += static_cast<char>(value >> shift);
    }
  };
  const auto size = [&](uint64_t value) { number(value, version == 1 ? 4 : 8); };
  const auto text = [&](std::string_view value) {
    size(value.size());
    head += value;
  };
  head = "GGUF";
  number(version, 4);
  size(4);
  size(3);
  text("general.alignment");
  number(4, 4);
  number(64, 4);
  text("tokens");
  number(9, 4);
  number(8, 4);
  size(2);
  text("a");
  text("bc");
  text("scores");
  number(9, 4);
  number(6, 4);
  size(2);
  number(0x3f800000, 4);
  number(0x40000000, 4);
  struct Tensor {
    const char* name;
    uint32_t type;
    std::vector<uint64_t> dimensions;
    size_t bytes;
  };
  const Tensor tensors[] = {{"w.f32", 0, {3, 2}, 24},
                            {"w.odd", 99, {32, 4}, 4 * 192},
                            {"w.q8", 8, {64}, 68},
                            {"w.bf16", 30, {5}, 10}};
  std::string data;
  for (const Tensor& tensor : tensors) {
    data.resize((data.size() + 63) / 64 * 64);
    text(tensor.name);
    number(tensor.dimensions.size(), 4);
    for (const uint64_t dimension : tensor.dimensions) size(dimension);
    number(tensor.type, 4);
    number(data.size(), 8);
    for (size_t i = 0; i < tensor.bytes; ++i) data += static_cast<char>(7 * data.size() + 1);
  }
  head.resize((head.size() + 63) / 64 * 64);
  return head + data;
}

TEST(PartialGguf, EveryVersionAndByteOrder) {
  for (const uint32_t version : {1, 2, 3}) {
    for (const bool big_endian : {false, true}) {
      SCOPED_TRACE(fmt::format("version {}, big-endian {}", version, big_endian));
      const std::string bytes = gguf_of(version, big_endian);
      const Packed packed(bytes);
      ASSERT_EQ(packed.tensors.size(), 4u);
      const auto pairs = read_gguf_metadata(*memory_source(as_bytes(bytes))).value();
      for (const size_t first : {0, 1}) {
        const auto kept = packed.every_second(first);
        const std::string file = packed.file_of(kept);
        EXPECT_EQ(file.substr(0, 8), bytes.substr(0, 8));
        expect_kept(file, packed, kept);
        const auto again = read_gguf_metadata(*memory_source(as_bytes(file)));
        ASSERT_TRUE(again) << again.error().message;
        ASSERT_EQ(again->size(), pairs.size());
        for (size_t i = 0; i < pairs.size(); ++i) {
          EXPECT_EQ((*again)[i].key, pairs[i].key);
          EXPECT_EQ((*again)[i].value.bytes, pairs[i].value.bytes);
          EXPECT_EQ((*again)[i].value.texts, pairs[i].value.texts);
        }
      }
    }
  }
}

TEST(PartialGguf, ManyTensors) {
  std::vector<TestGgmlTensor> tensors;
  for (size_t i = 0; i < 100'000; ++i) {
    tensors.push_back({fmt::format("blk.{}.w", i), 24, {1}, std::string(1, static_cast<char>(i))});
  }
  const Packed packed(gguf_bytes(tensors));
  const auto kept = packed.every_second(1);
  expect_kept(packed.file_of(kept), packed, kept);
}

TEST(PartialGguf, CutAtEveryByte) {
  const Packed packed(gguf_of(3, false));
  const std::string bytes = gguf_of(3, false);
  const size_t head = packed.tensors[0].offset;
  for (size_t size = 0; size < head; ++size) {
    const auto made =
        partial_model(ModelFormat::gguf, as_bytes(bytes).first(size), packed.every_second(1), "m");
    // What is cut off may be padding.
    if (!made) {
      EXPECT_EQ(made.error().code, ErrorCode::corrupt);
    }
  }
}

TEST(PartialNumpy, ArchivesAreRefusedWithTheirName) {
  const Packed packed(npz_bytes({{"a.npy", npy_bytes("<U2", {1}, "01234567")},
                                 {"b.npy", npy_bytes("<c16", {1}, std::string(16, 'c'))}}));
  const auto made = packed.head_of(packed.every_second(1));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::unsupported);
  EXPECT_NE(made.error().message.find("(m): name an output"), std::string::npos);
  // The output that it asks for names what it cannot hold.
  EXPECT_NE(bare_safetensors(packed.every_second(0)).error().message.find("tensor 'a'"),
            std::string::npos);
  EXPECT_NE(bare_safetensors(packed.every_second(1)).error().message.find("tensor 'b'"),
            std::string::npos);
}

Result<std::string> index_of(const std::string& text, const std::set<std::string>& left_out) {
  return partial_index(std::as_bytes(std::span(text)), left_out, "m");
}

TEST(PartialIndex, WhatIsNotLeftOutStaysInItsOrder) {
  const std::string index =
      R"({"metadata":{"z":[],"total_size":12345678901234567890,"f":1.10,"l":[1,-2,null,true,{}]},)"
      R"("weight_map":{"c":"1","b\"":"2","a":"1"},"more":"ü\n"})";
  EXPECT_EQ(index_of(index, {"b\"", "total_size"}).value(), R"({
  "metadata": {
    "z": [],
    "total_size": 12345678901234567890,
    "f": 1.10,
    "l": [
      1,
      -2,
      null,
      true,
      {}
    ]
  },
  "weight_map": {
    "c": "1",
    "a": "1"
  },
  "more": "ü\n"
}
)");
  EXPECT_EQ(index_of(R"({"weight_map":{"a":"1"}})", {"a"}).value(), "{\n  \"weight_map\": {}\n}\n");
}

TEST(PartialIndex, ManyTensors) {
  std::string index = R"({"weight_map":{)";
  std::set<std::string> left_out;
  constexpr size_t kCount = 100'000;
  for (size_t i = 0; i < kCount; ++i) {
    index += fmt::format("{}\"w.{}\":\"f\"", i == 0 ? "" : ",", i);
    if (i % 2 == 0) left_out.insert(fmt::format("w.{}", i));
  }
  const std::string made = index_of(index + "}}", left_out).value();
  const WeightMap map = parse_json_index(made, "m").value();
  ASSERT_EQ(map.size(), kCount / 2);
  EXPECT_EQ(map[0].first, "w.1");
}

TEST(PartialIndex, HostileIndexesAreRefused) {
  std::string deep = R"({"weight_map":{"a":"1"},"metadata":)";
  deep += std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  for (const std::string& index :
       {deep, std::string(), std::string("[]"), std::string("7"), std::string("{}"),
        std::string(R"({"weight_map":7})"), std::string(R"({"weight_map":{"a":{}}})"),
        std::string(R"({"weight_map":{}}x)")}) {
    const auto made = index_of(index, {"a"});
    ASSERT_FALSE(made) << index.substr(0, 40);
    EXPECT_EQ(made.error().code, ErrorCode::corrupt);
  }
}

}  // namespace
}  // namespace hoist::tensors
