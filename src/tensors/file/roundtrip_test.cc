// Files written and read back: every type, shape, encoding and order, whole and in part.
#include "tensors/file/file_testing.h"
#include "tensors/file/quality_policy.h"
#include "tensors/file/restore.h"
#include "tensors/model/model_source.h"

namespace hoist::tensors {
namespace {

TEST(HoloFile, EveryTypeAndShapeComesBack) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const std::vector<TestTensor> tensors = awkward_model(random);
  for (const HolographicEncoding encoding :
       {HolographicEncoding::embedded, HolographicEncoding::lossless}) {
    for (const FileOrder order : {FileOrder::layer, FileOrder::tensor}) {
      HoloWriteOptions options;
      options.encode.encoding = encoding;
      options.order = order;
      options.parity = static_cast<uint32_t>(random() % 3);
      write_model(scratch.file("m.holo"), tensors, options);
      ASSERT_FALSE(HasFatalFailure());
      expect_model(scratch.file("m.holo"), tensors);
    }
  }
  EXPECT_EQ(scratch.files(), 1u);
}

TEST(HoloFile, SameInputGivesTheSameFile) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const std::vector<TestTensor> tensors = mixed_model(random);
  HoloWriteOptions options;
  options.parity = 1;
  options.digests = true;
  write_model(scratch.file("a.holo"), tensors, options);
  write_model(scratch.file("b.holo"), tensors, options);
  EXPECT_TRUE(bytes_of_file(scratch.file("a.holo")) == bytes_of_file(scratch.file("b.holo")));
}

TEST(HoloFile, NothingAtAll) {
  const Scratch scratch;
  write_model(scratch.file("m.holo"), {}, {});
  expect_model(scratch.file("m.holo"), {});
}

TEST(HoloFile, TwoTensorsOfOneNameAreRefused) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const TestTensor tensor = random_tensor(random, "w", DType::u8, {3});
  auto writer = HoloTensorWriter::create(scratch.file("m.holo")).value();
  ASSERT_TRUE(writer.add("w", view_of(tensor)));
  EXPECT_EQ(writer.add("w", view_of(tensor)).error().code, ErrorCode::invalid_argument);
  HoloWriteOptions options;
  options.encode.fragments = 250;
  options.parity = 6;
  EXPECT_EQ(HoloTensorWriter::create(scratch.file("m.holo"), options).error().code,
            ErrorCode::invalid_argument);
}

// The prefix of the file that a target asks for is as good as it says.
TEST(HoloFile, TargetsAreReached) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const std::vector<TestTensor> tensors = {gaussian_tensor(random, "w", DType::bf16, {64, 640})};
  write_model(scratch.file("m.holo"), tensors);
  const HoloTensorReader reader = open_holotensor(scratch.file("m.holo")).value();
  const QualityCurve& curve = reader.header().tensors[0].description.curve;
  ASSERT_GT(curve.prefixes.size(), 4u);
  size_t before = 0;
  for (const double target : {0.0, 0.5, 0.95, 0.99, 0.999, 1.0}) {
    PartSelection selection;
    selection.target = target;
    const LoadedTensor loaded = reader.decode(size_t{0}, selection).value();
    EXPECT_GE(loaded.quality, target);
    EXPECT_GE(loaded.parts, before);
    before = loaded.parts;
    std::vector<float> exact(64 * 640);
    std::vector<float> rough(exact.size());
    ASSERT_TRUE(to_f32(DType::bf16, container::as_bytes(tensors[0].bytes), exact));
    ASSERT_TRUE(to_f32(DType::bf16, loaded.bytes, rough));
    double error = 0;
    double energy = 0;
    for (size_t i = 0; i < exact.size(); ++i) {
      error += (exact[i] - rough[i]) * static_cast<double>(exact[i] - rough[i]);
      energy += exact[i] * static_cast<double>(exact[i]);
    }
    EXPECT_NEAR(1 - error / energy, loaded.quality, 1e-6);
  }
  EXPECT_EQ(before, curve.prefixes.size());
  EXPECT_EQ(decode_from_file_progressive(scratch.file("m.holo"), 0.5)->parts, curve.parts_for(0.5));
  expect_same(decode_from_file(scratch.file("m.holo")).value(), tensors[0]);
}

TEST(HoloFile, AnyFragmentsOfAnySubsetEncodings) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const std::vector<TestTensor> tensors = {gaussian_tensor(random, "w", DType::f32, {60, 80})};
  for (const HolographicEncoding encoding :
       {HolographicEncoding::spectral, HolographicEncoding::random_projection,
        HolographicEncoding::low_rank_distributed}) {
    HoloWriteOptions options;
    options.encode.encoding = encoding;
    options.encode.fragments = 5;
    options.parity = 2;
    write_model(scratch.file("m.holo"), tensors, options);
    const HoloTensorReader reader = open_holotensor(scratch.file("m.holo")).value();
    const HoloTensor& tensor = reader.header().tensors[0];
    ASSERT_EQ(tensor.description.encoding, encoding) << name(encoding);
    ASSERT_EQ(tensor.parts.size(), 5u);
    for (size_t mask = 1; mask < 32; ++mask) {
      PartSelection selection;
      for (size_t i = 0; i < 5; ++i) {
        if ((mask >> i & 1) != 0) selection.fragments.push_back(i);
      }
      const Result<LoadedTensor> loaded = reader.decode(size_t{0}, selection);
      ASSERT_TRUE(loaded) << loaded.error().message;
      EXPECT_EQ(loaded->parts, selection.fragments.size());
      EXPECT_DOUBLE_EQ(loaded->quality, tensor.description.curve.quality(selection.fragments));
    }
    PartSelection none;
    none.fragments = {7};
    EXPECT_EQ(reader.decode(size_t{0}, none).error().code, ErrorCode::invalid_argument);
  }
}

TEST(HoloFile, NamesAndNumbersThatAreNotThere) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  write_model(scratch.file("m.holo"), mixed_model(random));
  const HoloTensorReader reader = open_holotensor(scratch.file("m.holo")).value();
  EXPECT_EQ(reader.decode("gone").error().code, ErrorCode::not_found);
  EXPECT_EQ(reader.decode(size_t{99}).error().code, ErrorCode::not_found);
  EXPECT_EQ(reader.read_fragment(1u << 20).error().code, ErrorCode::not_found);
  EXPECT_EQ(decode_from_file(scratch.file("m.holo")).error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(reader.decode("layers.1.norm"));
}

// Packs model files as the command does.
void pack_files(const std::vector<std::string>& inputs, const std::string& output,
                const HoloWriteOptions& options) {
  const ModelSource model = ModelSource::open(inputs).value();
  auto writer = HoloTensorWriter::create(output, options).value();
  for (size_t i = 0; i < model.files().size(); ++i) {
    const ModelFile& file = model.files()[i];
    ASSERT_TRUE(writer.add_file(file.name, file.format, file.size, model.skeleton(i).value()));
  }
  for (const ModelTensor& tensor : model.tensors()) {
    std::vector<std::byte> bytes(tensor.bytes);
    ASSERT_TRUE(model.read(tensor, bytes));
    const Status added =
        writer.add(tensor.name, TensorView{tensor.dtype, tensor.shape, bytes}, nullptr,
                   {static_cast<uint32_t>(tensor.file), tensor.offset, tensor.stored_as});
    ASSERT_TRUE(added) << added.error().message;
  }
  const Status done = writer.finish();
  ASSERT_TRUE(done) << done.error().message;
}

TEST(Restore, FilesOfEveryFormatByteForByte) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const std::vector<TestTensor> tensors = awkward_model(random);
  const std::pair<std::string, std::string> files[] = {
      {"m.safetensors",
       safetensors_bytes(tensors, R"("__metadata__":{"format":"pt","x":"ä"},)", 13)},
      {"m.gguf", gguf_bytes({{"blk.0.w", 0, {3, 2}, std::string(24, 'f')},
                             {"blk.0.q", 2, {64, 2}, std::string(72, 'q')},
                             {"n", 30, {5}, "0123456789"}})},
      {"m.npy", npy_bytes("<f8", {5}, std::string(40, 'd'))},
      {"m.npz", npz_bytes({{"a.npy", npy_bytes("<f2", {3}, "aabbcc")}, {"note", "hello"}})},
  };
  for (const auto& [name, bytes] : files) {
    write_bytes(scratch.file(name), bytes);
    for (const HolographicEncoding encoding :
         {HolographicEncoding::embedded, HolographicEncoding::lossless}) {
      HoloWriteOptions options;
      options.encode.encoding = encoding;
      pack_files({scratch.file(name)}, scratch.file("m.holo"), options);
      ASSERT_FALSE(HasFatalFailure());
      const HoloTensorReader reader = open_holotensor(scratch.file("m.holo")).value();
      const auto report = restore_file(reader, 0, scratch.file("again"));
      ASSERT_TRUE(report) << report.error().message;
      EXPECT_EQ(report->bytes, bytes.size());
      EXPECT_TRUE(bytes_of_file(scratch.file("again")) == bytes) << name;
    }
  }
}

TEST(Restore, SafetensorsOfOtherFormats) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const TestTensor a = gaussian_tensor(random, "a", DType::f32, {3, 50});
  write_bytes(scratch.file("a.npy"), npy_bytes("<f4", a.shape, a.bytes));
  pack_files({scratch.file("a.npy")}, scratch.file("m.holo"), {});
  const HoloTensorReader reader = open_holotensor(scratch.file("m.holo")).value();
  ASSERT_TRUE(write_safetensors(reader, scratch.file("a.safetensors")));
  const ModelSource model = ModelSource::open({scratch.file("a.safetensors")}).value();
  ASSERT_EQ(model.tensors().size(), 1u);
  EXPECT_EQ(model.tensors()[0].name, "a");
  EXPECT_EQ(model.tensors()[0].shape, a.shape);
  EXPECT_EQ(bytes_of_file(scratch.file("a.safetensors")).substr(model.tensors()[0].offset),
            a.bytes);

  write_bytes(scratch.file("q.gguf"), gguf_bytes({{"q", 2, {32}, std::string(18, 'q')}}));
  pack_files({scratch.file("q.gguf")}, scratch.file("q.holo"), {});
  const HoloTensorReader quantised = open_holotensor(scratch.file("q.holo")).value();
  const auto refused = write_safetensors(quantised, scratch.file("q.safetensors"));
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_NE(refused.error().message.find("Q4_0"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(scratch.file("q.safetensors")));
}

TEST(Restore, NamesSayTheFormat) {
  const Scratch scratch;
  write_bytes(scratch.file("m.npz"), npz_bytes({{"a.npy", npy_bytes("<f2", {3}, "aabbcc")}}));
  pack_files({scratch.file("m.npz")}, scratch.file("m.holo"), {});
  const HoloTensorReader reader = open_holotensor(scratch.file("m.holo")).value();
  for (const char* name : {"x.npz", "X.NPZ", "x", "x.bin"}) {
    ASSERT_TRUE(restore_as_named(reader, scratch.file(name))) << name;
    EXPECT_EQ(bytes_of_file(scratch.file(name)), bytes_of_file(scratch.file("m.npz")));
  }
  ASSERT_TRUE(restore_as_named(reader, scratch.file("x.safetensors")));
  EXPECT_TRUE(ModelSource::open({scratch.file("x.safetensors")}));
  for (const char* name : {"x.gguf", "x.GGUF", "x.npy"}) {
    const auto refused = restore_as_named(reader, scratch.file(name));
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(refused.error().message.find(".npz or .safetensors"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(scratch.file(name)));
  }
}

TEST(Restore, SafetensorsKeepsItsOwnName) {
  const Scratch scratch;
  const std::string bytes = npz_bytes({{"__metadata__.npy", npy_bytes("<f2", {3}, "aabbcc")}});
  write_bytes(scratch.file("m.npz"), bytes);
  pack_files({scratch.file("m.npz")}, scratch.file("m.holo"), {});
  const HoloTensorReader reader = open_holotensor(scratch.file("m.holo")).value();
  const auto refused = write_safetensors(reader, scratch.file("x.safetensors"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_NE(refused.error().message.find("'__metadata__'"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(scratch.file("x.safetensors")));
  ASSERT_TRUE(restore_file(reader, 0, scratch.file("x.npz")));
  EXPECT_EQ(bytes_of_file(scratch.file("x.npz")), bytes);
}

TEST(Restore, ApproximationsKeepTheFile) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const TestTensor a = gaussian_tensor(random, "a", DType::bf16, {30, 50});
  const std::string bytes = safetensors_bytes({a}, R"("__metadata__":{"k":"v"},)");
  write_bytes(scratch.file("m.safetensors"), bytes);
  write_bytes(scratch.file("m.npz"),
              npz_bytes({{"b.npy", npy_bytes("<f4", {3, 50}, std::string(600, '?'))}}));
  pack_files({scratch.file("m.safetensors")}, scratch.file("m.holo"), {});
  const HoloTensorReader reader = open_holotensor(scratch.file("m.holo")).value();
  RestoreOptions one_layer;
  one_layer.selection = [](const HoloTensor&) {
    PartSelection selection;
    selection.layers = 1;
    return selection;
  };
  const RestoreReport report =
      restore_file(reader, 0, scratch.file("rough.safetensors"), one_layer).value();
  EXPECT_LT(report.lowest_quality, 1.0);
  EXPECT_GT(report.lowest_quality, 0.9);
  const std::string rough = bytes_of_file(scratch.file("rough.safetensors"));
  EXPECT_EQ(rough.size(), bytes.size());
  EXPECT_EQ(rough.substr(0, rough.size() - a.bytes.size()),
            bytes.substr(0, bytes.size() - a.bytes.size()));
  EXPECT_NE(rough, bytes);

  pack_files({scratch.file("m.npz")}, scratch.file("z.holo"), {});
  const HoloTensorReader archive = open_holotensor(scratch.file("z.holo")).value();
  if (archive.header().tensors[0].parts.size() > 1) {
    EXPECT_EQ(restore_file(archive, 0, scratch.file("r.npz"), one_layer).error().code,
              ErrorCode::unsupported);
  }
}

}  // namespace
}  // namespace hoist::tensors
