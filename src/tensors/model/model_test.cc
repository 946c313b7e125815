#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/test_seed.h"
#include "tensors/model/model_formats.h"
#include "tensors/model/model_source.h"
#include "tensors/model/model_testing.h"

namespace hoist::tensors {
namespace {

Result<ParsedModel> parse(const std::string& bytes, const std::string& name = "memory") {
  return parse_model(*container::memory_source(container::as_bytes(bytes), name));
}

// The code and the message of what must fail.
::testing::AssertionResult refused(const Result<ParsedModel>& result, ErrorCode code,
                                   std::string_view text) {
  if (result) return ::testing::AssertionFailure() << "was taken";
  if (result.error().code == code && result.error().message.find(text) != std::string::npos) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure()
         << name(result.error().code) << ": " << result.error().message;
}

class Folder : public ::testing::Test {
 protected:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "hoist-model-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() override { std::filesystem::remove_all(path_); }
  std::string write(const std::string& name, const std::string& bytes) {
    const std::string path = path_ + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  std::string path_;
};

std::vector<TestTensor> all_dtypes(std::mt19937_64& random) {
  std::vector<TestTensor> tensors;
  const Shape shapes[] = {{}, {0}, {1}, {7}, {1, 13}, {3, 0, 5}, {2, 1, 2, 1, 2, 1, 2, 1}};
  for (uint8_t number = 0; find_dtype(number) != nullptr; ++number) {
    const DTypeProperties& type = *find_dtype(number);
    if (!type.in_safetensors) continue;
    Shape shape = shapes[number % std::size(shapes)];
    if (!byte_count(type.dtype, shape)) shape.push_back(type.packed);
    tensors.push_back(
        random_tensor(random, fmt::format("t.{}", type.name), type.dtype, std::move(shape)));
  }
  return tensors;
}

// What a model gives must be the file, byte for byte.
void expect_whole(const ModelSource& model, size_t file, const std::string& bytes) {
  const std::vector<std::byte> skeleton = model.skeleton(file).value();
  std::string rebuilt;
  size_t used = 0;
  for (const ModelTensor& tensor : model.tensors()) {
    if (tensor.file != file) continue;
    const size_t gap = tensor.offset - rebuilt.size();
    ASSERT_LE(used + gap, skeleton.size());
    rebuilt.append(reinterpret_cast<const char*>(skeleton.data()) + used, gap);
    used += gap;
    std::string content(tensor.bytes, '\0');
    ASSERT_TRUE(model.read(tensor, std::as_writable_bytes(std::span(content))));
    rebuilt += content;
  }
  rebuilt.append(reinterpret_cast<const char*>(skeleton.data()) + used, skeleton.size() - used);
  EXPECT_TRUE(rebuilt == bytes);
}

TEST_F(Folder, SafetensorsOfEveryTypeAndShape) {
  std::mt19937_64 random(test_seed());
  const std::vector<TestTensor> tensors = all_dtypes(random);
  const std::string bytes =
      safetensors_bytes(tensors, R"("__metadata__":{"format":"pt","note":"ü\n"},)", 5);
  const ModelSource model = ModelSource::open({write("m.safetensors", bytes)}).value();
  ASSERT_EQ(model.tensors().size(), tensors.size());
  for (const TestTensor& tensor : tensors) {
    const auto found = std::find_if(model.tensors().begin(), model.tensors().end(),
                                    [&](const auto& held) { return held.name == tensor.name; });
    ASSERT_NE(found, model.tensors().end()) << tensor.name;
    EXPECT_EQ(found->dtype, tensor.dtype);
    EXPECT_EQ(found->shape, tensor.shape);
    std::string content(found->bytes, '\0');
    ASSERT_TRUE(model.read(*found, std::as_writable_bytes(std::span(content))));
    EXPECT_TRUE(content == tensor.bytes) << tensor.name;
    std::string wrong(found->bytes + 1, '\0');
    EXPECT_FALSE(model.read(*found, std::as_writable_bytes(std::span(wrong))));
  }
  expect_whole(model, 0, bytes);
}

TEST(Safetensors, NoTensors) {
  EXPECT_TRUE(parse(safetensors_bytes({}))->tensors.empty());
  EXPECT_TRUE(parse(safetensors_bytes({}, R"("__metadata__":{})"))->tensors.empty());
}

std::string with_header(const std::string& header, size_t data = 0) {
  ByteWriter out;
  out.write<uint64_t>(header.size());
  return out.bytes() + header + std::string(data, 'x');
}

TEST(Safetensors, BrokenRulesAreNamed) {
  const auto entry = [](const std::string& fields) { return "{\"w\":{" + fields + "}}"; };
  const std::string good = R"("dtype":"U8","shape":[4],"data_offsets":[0,4])";
  ASSERT_TRUE(parse(with_header(entry(good), 4)));
  const auto corrupt = ErrorCode::corrupt;
  EXPECT_TRUE(refused(parse(""), corrupt, "shorter than eight bytes"));
  EXPECT_TRUE(refused(parse(with_header(entry(good), 4).substr(0, 20)), corrupt, "cut off"));
  EXPECT_TRUE(refused(parse(with_header(" " + entry(good), 4)), corrupt, "begin with '{'"));
  EXPECT_TRUE(refused(parse(with_header(entry(good) + "x", 4)), corrupt, "no valid JSON"));
  EXPECT_TRUE(refused(parse(with_header(entry(good), 3)), corrupt, "beyond the end"));
  EXPECT_TRUE(refused(parse(with_header(entry(good), 5)), corrupt, "behind the last tensor"));
  const std::pair<std::string, std::string> broken[] = {
      {R"("dtype":"U8","shape":[4],"data_offsets":[0,5])", "5 bytes for a shape of 4"},
      {R"("dtype":"U8","shape":[4],"data_offsets":[4,0])", "without valid"},
      {R"("dtype":"U8","shape":[4],"data_offsets":[0,2,4])", "without valid"},
      {R"("dtype":"U8","shape":[-4],"data_offsets":[0,4])", "no size"},
      {R"("dtype":"U8","shape":[4.0],"data_offsets":[0,4])", "no size"},
      {R"("dtype":"U8","shape":["4"],"data_offsets":[0,4])", "no number"},
      {R"("dtype":"U8","shape":[[4]],"data_offsets":[0,4])", "within a list"},
      {R"("dtype":"U8","shape":4,"data_offsets":[0,4])", "wrong value of \"shape\""},
      {R"("dtype":8,"shape":[4],"data_offsets":[0,4])", "wrong value of \"dtype\""},
      {R"("dtype":"U8","shape":[4])", "without valid"},
      {R"("dtype":"U8","shape":[4],"shape":[4],"data_offsets":[0,4])", "there twice"},
      {R"("dtype":"U8","shape":[1152921504606846976,16],"data_offsets":[0,4])", "larger than any"},
      {R"("dtype":"F4","shape":[4],"data_offsets":[0,4])", "4 bytes for a shape of 2"},
      {R"("dtype":"F4","shape":[7],"data_offsets":[0,4])", "do not fill"},
      {R"("dtype":"F6_E2M3","shape":[3,2],"data_offsets":[0,4])", "do not fill"},
      {R"("dtype":"F6_E3M2","shape":[1,6],"data_offsets":[0,4])", "do not fill"},
  };
  for (const auto& [fields, text] : broken) {
    EXPECT_TRUE(refused(parse(with_header(entry(fields), 4)), corrupt, text)) << fields;
  }
  for (const char* fields : {R"("dtype":"U8","shape":[4,true],"data_offsets":[0,4])",
                             R"("dtype":"U8","shape":[4,null],"data_offsets":[0,4])",
                             R"("dtype":"U8","shape":[4,{}],"data_offsets":[0,4])",
                             R"("dtype":"U8","dtype":{},"shape":[4],"data_offsets":[0,4])",
                             R"("dtype":"U8","dtype":[],"shape":[4],"data_offsets":[0,4])",
                             R"("dtype":"U8","shape":[4],"shape":{},"data_offsets":[0,4])"}) {
    EXPECT_FALSE(parse(with_header(entry(fields), 4))) << fields;
  }
  EXPECT_TRUE(refused(parse(with_header(entry(good) + '\0', 4)), corrupt, "zero byte"));
  const std::string twice = R"({"__metadata__":null,"__metadata__":{}})";
  EXPECT_TRUE(refused(parse(with_header(twice)), corrupt, "metadata twice"));
  EXPECT_TRUE(parse(with_header(R"({"__metadata__":null})")));
  EXPECT_TRUE(refused(parse(with_header("{\"w\":3}")), corrupt, "no object"));
  EXPECT_TRUE(refused(parse(with_header(R"({"__metadata__":{"a":1}})")), corrupt, "not text"));
  EXPECT_TRUE(
      refused(parse(with_header(entry(R"("dtype":"","shape":[4],"data_offsets":[0,4])"), 4)),
              corrupt, "without a name"));
  std::string deep = "{\"w\":{\"x\":";
  for (int i = 0; i < 100'000; ++i) deep += "[";
  EXPECT_TRUE(refused(parse(with_header(deep)), corrupt, "nested"));
}

TEST(Safetensors, WhatIsNoneIsSaidToBeNone) {
  const auto corrupt = ErrorCode::corrupt;
  for (const char* text : {"version https://git-lfs.github.com/spec/v1\noid sha256:1\n",
                           "{\"weights\": [1, 2]}", "\n\t# notes\r\n", "01234567"}) {
    EXPECT_TRUE(refused(parse(text, "m.safetensors"), corrupt,
                        "not a safetensors file: it begins with text (m.safetensors): name a "));
  }
  EXPECT_TRUE(refused(parse(std::string(80, '\xff')), corrupt,
                      "ask for a header of 18446744073709551615 bytes, of 80 in the file"));
  // A real one that is too large.
  const auto large = container::range_source(
      1 << 30,
      [](uint64_t, size_t bytes) -> Result<std::string> {
        std::string text(bytes, '{');
        const uint64_t size = 100'000'001;
        std::memcpy(text.data(), &size, sizeof size);
        return text;
      },
      "large.safetensors");
  EXPECT_TRUE(refused(parse_model(*large), corrupt,
                      "a header of 100000001 bytes, more than the 100 MB that the format takes "
                      "(large.safetensors): save the model as several files"));
}

// The offsets tell how many bytes there are; rows where every row has as many.
TEST(Safetensors, TypesThatAreNotKnownAreKeptByTheirOffsets) {
  const auto held = [](const char* type, const char* shape) {
    const std::string header =
        fmt::format(R"({{"w":{{"dtype":"{}","shape":[{}],"data_offsets":[0,6]}}}})", type, shape);
    return parse(with_header(header, 6)).value();
  };
  for (const auto& [shape, rows] :
       {std::pair("3,4", Shape{3, 2}), std::pair("", Shape{6}), std::pair("4,4", Shape{6}),
        std::pair("0", Shape{6}), std::pair("2,1,8", Shape{2, 1, 3})}) {
    const ParsedModel model = held("F3", shape);
    EXPECT_EQ(model.tensors[0].stored_as, "F3");
    EXPECT_EQ(model.tensors[0].dtype, DType::u8);
    EXPECT_EQ(model.tensors[0].shape, rows) << shape;
    ASSERT_EQ(model.notes.size(), 1u);
    EXPECT_NE(model.notes[0].find("tensor 'w' is of type F3"), std::string::npos);
  }
  // Ours, and not safetensors'.
  EXPECT_EQ(held("C128", "1").tensors[0].stored_as, "C128");
}

TEST(Safetensors, GapsAndOverlapsAreRefused) {
  const auto two = [](const char* first, const char* second) {
    return with_header(fmt::format(R"({{"a":{{"dtype":"U8","shape":[2],"data_offsets":[{}]}},)"
                                   R"("b":{{"dtype":"U8","shape":[2],"data_offsets":[{}]}}}})",
                                   first, second),
                       4);
  };
  EXPECT_TRUE(parse(two("2,4", "0,2")));
  EXPECT_TRUE(refused(parse(two("0,2", "1,3")), ErrorCode::corrupt, "overlaps"));
  EXPECT_TRUE(refused(parse(two("1,3", "1,3")), ErrorCode::corrupt, "overlaps"));
  EXPECT_TRUE(refused(parse(two("0,2", "3,5")), ErrorCode::corrupt, "beyond the end"));
  const std::string twice = with_header(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                                        R"("a":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
                                        4);
  EXPECT_TRUE(refused(parse(twice), ErrorCode::corrupt, "two tensors are called 'a'"));
}

TEST_F(Folder, ShardedModelByItsIndex) {
  std::mt19937_64 random(test_seed());
  const TestTensor a = random_tensor(random, "a", DType::bf16, {3, 5});
  const TestTensor b = random_tensor(random, "b", DType::f32, {7});
  const std::string first = safetensors_bytes({a});
  const std::string second = safetensors_bytes({b});
  write("model-1.safetensors", first);
  write("model-2.safetensors", second);
  const std::string index =
      R"({"metadata":{"total_size":58},"weight_map":{"b":"model-2.safetensors",)"
      R"("a":"model-1.safetensors"}})";
  const std::string path = write("model.safetensors.index.json", index);
  for (const std::string& input : {path, path_}) {
    const ModelSource model = ModelSource::open({input}).value();
    ASSERT_EQ(model.files().size(), 3u);
    EXPECT_EQ(model.files()[0].format, ModelFormat::json_index);
    ASSERT_EQ(model.tensors().size(), 2u);
    expect_whole(model, 0, index);
    expect_whole(model, 1, first);
    expect_whole(model, 2, second);
  }
  write("model.safetensors.index.json", R"({"weight_map":{"a":"model-2.safetensors"}})");
  EXPECT_EQ(ModelSource::open({path}).error().code, ErrorCode::corrupt);
  write("model.safetensors.index.json", R"({"weight_map":{"a":"gone.safetensors"}})");
  EXPECT_EQ(ModelSource::open({path}).error().code, ErrorCode::not_found);
  for (const char* hostile : {"../model-1.safetensors", "/etc/passwd", "..", ""}) {
    write("model.safetensors.index.json", fmt::format(R"({{"weight_map":{{"a":"{}"}}}})", hostile));
    EXPECT_EQ(ModelSource::open({path}).error().code, ErrorCode::corrupt) << hostile;
  }
  std::filesystem::remove(path);
  EXPECT_EQ(ModelSource::open({path_})->tensors().size(), 2u);
  write("again.safetensors", first);
  EXPECT_EQ(ModelSource::open({path_}).error().code, ErrorCode::invalid_argument);
}

TEST_F(Folder, EmptyFolderAndMissingFile) {
  EXPECT_EQ(ModelSource::open({path_}).error().code, ErrorCode::not_found);
  EXPECT_EQ(ModelSource::open({path_ + "/none.safetensors"}).error().code, ErrorCode::not_found);
}

TEST_F(Folder, Gguf) {
  const std::string f32(24, 'f');
  const std::string q4(36 * 2, 'q');
  const std::string bytes = gguf_bytes(
      {{"blk.0.w", 0, {3, 2}, f32}, {"blk.0.q", 2, {64, 2}, q4}, {"n", 30, {5}, "0123456789"}});
  const ModelSource model = ModelSource::open({write("m.gguf", bytes)}).value();
  ASSERT_EQ(model.tensors().size(), 3u);
  EXPECT_EQ(model.tensors()[0].shape, (Shape{2, 3}));
  EXPECT_EQ(model.tensors()[0].stored_as, "");
  EXPECT_EQ(model.tensors()[1].shape, (Shape{2, 36}));
  EXPECT_EQ(model.tensors()[1].dtype, DType::u8);
  EXPECT_EQ(model.tensors()[1].stored_as, "Q4_0");
  EXPECT_EQ(model.tensors()[2].dtype, DType::bf16);
  expect_whole(model, 0, bytes);

  EXPECT_TRUE(refused(parse(gguf_bytes({{"w", 2, {33}, "xxxx"}})), ErrorCode::corrupt, "blocks"));
  EXPECT_TRUE(refused(parse(gguf_bytes({{"w", 0, {3}, "xxx"}}, 4)), ErrorCode::corrupt, "align"));
  std::string turned = bytes;
  turned.replace(0, 4, "FUGG");
  EXPECT_TRUE(refused(parse(turned), ErrorCode::corrupt, "turned around"));
}

TEST_F(Folder, NumPy) {
  const std::string bytes = npy_bytes("<f4", {2, 3}, std::string(24, 'a'));
  const ModelSource model = ModelSource::open({write("w.npy", bytes)}).value();
  ASSERT_EQ(model.tensors().size(), 1u);
  EXPECT_EQ(model.tensors()[0].name, "w");
  EXPECT_EQ(model.tensors()[0].shape, (Shape{2, 3}));
  expect_whole(model, 0, bytes);
  EXPECT_EQ(parse(npy_bytes("|b1", {}, "x"))->tensors[0].dtype, DType::boolean);
  EXPECT_EQ(parse(npy_bytes("<c8", {1}, "01234567"))->tensors[0].dtype, DType::c64);
  EXPECT_EQ(parse(npy_bytes("<c16", {1}, std::string(16, 'c')))->tensors[0].dtype, DType::c128);
  EXPECT_TRUE(refused(parse(npy_bytes("<U2", {1}, "0123")), ErrorCode::corrupt, "for a shape"));
  EXPECT_TRUE(refused(parse(npy_bytes("[('a', '<i2')]", {3}, "01234")), ErrorCode::corrupt, ""));
  EXPECT_TRUE(refused(parse(npy_bytes("<f4", {2}, "0123")), ErrorCode::corrupt, "for a shape"));
  EXPECT_TRUE(refused(parse(npy_bytes("<f4", {1}, "01234")), ErrorCode::corrupt, "for a shape"));
}

TEST_F(Folder, ElementsInAnotherOrderAreReadLikeAllOthers) {
  std::string bytes = npy_bytes(">i2", {3, 2}, std::string("\0\1\0\3\0\5\0\2\0\4\0\6", 12));
  bytes.replace(bytes.find("False"), 5, "True ");
  const ModelSource model = ModelSource::open({write("w.npy", bytes)}).value();
  const ModelTensor& tensor = model.tensors()[0];
  EXPECT_TRUE(tensor.order.big_endian && tensor.order.column_major);
  std::vector<uint16_t> values(6);
  ASSERT_TRUE(model.read(tensor, std::as_writable_bytes(std::span(values))));
  EXPECT_EQ(values, (std::vector<uint16_t>{1, 2, 3, 4, 5, 6}));
  // In parts, whichever: one of them cuts elements.
  const auto whole = std::as_bytes(std::span(values));
  for (size_t from = 0; from <= 12; ++from) {
    for (size_t to = from; to <= 12; ++to) {
      std::vector<std::byte> part(to - from);
      ASSERT_TRUE(model.read(tensor, from, part));
      EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + from));
    }
  }
}

TEST_F(Folder, ForeignElementsAreBytesOfTheLastDimension) {
  const auto held = [](const char* descr, const Shape& shape, size_t bytes) {
    return parse(npy_bytes(descr, shape, std::string(bytes, 'x')))->tensors[0];
  };
  EXPECT_EQ(held("<U2", {3}, 24).shape, (Shape{3, 8}));
  EXPECT_EQ(held("<U2", {3}, 24).stored_as, "numpy:<U2");
  EXPECT_EQ(held("<M8[ns]", {}, 8).shape, (Shape{8}));
  EXPECT_EQ(held("<f16", {2, 2}, 64).shape, (Shape{2, 2, 16}));
  EXPECT_EQ(held("<c32", {0, 2}, 0).shape, (Shape{0, 2, 32}));
  EXPECT_EQ(held("|O", {2, 2}, 77).shape, (Shape{77}));
}

TEST_F(Folder, NumPyArchive) {
  const std::string bytes = npz_bytes({{"a.npy", npy_bytes("<f2", {3}, "aabbcc")},
                                       {"note.txt", "hello"},
                                       {"b.npy", npy_bytes("|i1", {2, 2}, "wxyz")}});
  const ModelSource model = ModelSource::open({write("m.npz", bytes)}).value();
  ASSERT_EQ(model.tensors().size(), 2u);
  EXPECT_EQ(model.tensors()[1].name, "b");
  EXPECT_EQ(model.tensors()[1].dtype, DType::i8);
  expect_whole(model, 0, bytes);
  EXPECT_TRUE(refused(parse(npz_bytes({{"a.npy", "compressed"}}, 8)), ErrorCode::corrupt,
                      "does not decompress"));
  EXPECT_EQ(parse(npz_bytes({{"a.npy", "compressed"}}, 14))->tensors[0].stored_as,
            "numpy:compressed by method 14 of ZIP");
  EXPECT_TRUE(refused(parse(npz_bytes({{"archive/data.pkl", "x"}, {"archive/data/0", "y"}})),
                      ErrorCode::unsupported, "torch.save"));
  EXPECT_TRUE(refused(parse(npz_bytes({{"note.txt", "hello"}})), ErrorCode::unsupported,
                      "without NumPy arrays"));
  EXPECT_TRUE(parse(npz_bytes({}))->tensors.empty());
}

TEST(Model, OtherProgramsFilesAreRefusedByName) {
  EXPECT_TRUE(refused(parse("HTNS" + std::string(92, '\0')), ErrorCode::unsupported, "HTNS"));
  EXPECT_TRUE(refused(parse("HCTN" + std::string(60, '\0'), "x.safetensors"),
                      ErrorCode::unsupported, "HCTN"));
  EXPECT_TRUE(refused(parse("\x89HOLO\r\n\x1a"), ErrorCode::invalid_argument, "unpack"));
}

// Every prefix of every format is refused or, where only a ZIP's comment is missing, taken; none
// reads out of bounds.
TEST(Model, CutAtEveryByte) {
  std::mt19937_64 random(test_seed());
  const std::string files[] = {
      safetensors_bytes({random_tensor(random, "w", DType::f16, {3, 3})}),
      gguf_bytes({{"w", 1, {4}, "01234567"}}),
      npy_bytes("<f4", {2}, "01234567"),
      npz_bytes({{"a.npy", npy_bytes("<f2", {3}, "aabbcc")}}),
  };
  for (const std::string& file : files) {
    ASSERT_TRUE(parse(file));
    // GGUF may end within the padding behind its last tensor.
    const size_t content = file.find_last_not_of('\0') + 1;
    for (size_t size = 0; size < std::min(content, file.size()); ++size) {
      EXPECT_FALSE(parse(file.substr(0, size))) << size;
    }
  }
}

}  // namespace
}  // namespace hoist::tensors
