// What the container's tests share: a model of a container's content, random ones, and files made
// of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "base/test_seed.h"
#include "container/reader.h"
#include "container/writer.h"

namespace hoist::container {

struct Scratch {
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "hoist-container-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Scratch() { std::filesystem::remove_all(path); }
  std::string file(const std::string& name) const { return path + "/" + name; }
  size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
  }
  std::string path;
};

struct ModelBlock {
  BlockInfo info;
  std::string bytes;
};
using Model = std::vector<ModelBlock>;

inline ModelBlock model_block(uint64_t id, std::string bytes, uint8_t alignment_log2 = 0) {
  return {{.id = id,
           .raw_size = bytes.size(),
           .stored_size = bytes.size(),
           .alignment_log2 = alignment_log2},
          std::move(bytes)};
}

inline std::string random_bytes(std::mt19937_64& random, size_t size) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// Sizes 0, 1, small and up to `largest`; ids distinct and in no order.
inline Model random_model(std::mt19937_64& random, size_t blocks, size_t largest,
                          uint64_t first_id = 0) {
  Model model;
  for (size_t i = 0; i < blocks; ++i) {
    const size_t sizes[] = {0, 1, random() % 100, random() % (largest + 1)};
    const auto alignment = static_cast<uint8_t>(random() % 3 == 0 ? random() % 13 : 0);
    ModelBlock block = model_block((first_id + i) * 0x9e3779b97f4a7c15u,
                                   random_bytes(random, sizes[random() % 4]), alignment);
    block.info.kind = static_cast<uint32_t>(random());
    block.info.codec = static_cast<uint16_t>(random() % 3);
    if (block.info.codec != 0) block.info.raw_size = random() % 1000000;
    model.push_back(std::move(block));
  }
  return model;
}

inline std::vector<BlockInfo> plan_of(const Model& model) {
  std::vector<BlockInfo> plan;
  for (const ModelBlock& block : model) plan.push_back(block.info);
  return plan;
}

inline void add_all(Writer& writer, const Model& model) {
  for (const ModelBlock& block : model) {
    const Status added = writer.add(block.info, as_bytes(block.bytes));
    ASSERT_TRUE(added) << added.error().message;
  }
}

// Writes a whole container; without waiting for the disk, as most tests.
inline void write_container(const std::string& path, const Model& model, WriterOptions options) {
  options.durable = false;
  Result<Writer> writer = Writer::create(path, options);
  ASSERT_TRUE(writer) << writer.error().message;
  add_all(*writer, model);
  const Status committed = writer->commit();
  ASSERT_TRUE(committed) << committed.error().message;
}

inline void append_session(const std::string& path, const Model& model) {
  Result<Writer> writer = Writer::append(path, {.durable = false});
  ASSERT_TRUE(writer) << writer.error().message;
  add_all(*writer, model);
  const Status committed = writer->commit();
  ASSERT_TRUE(committed) << committed.error().message;
}

inline std::string bytes_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Removes the file first: ext4 waits for the disk where a file is cut to nothing and written again.
inline void write_bytes(const std::string& path, std::string_view bytes) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
}

inline Result<Reader> open_bytes(std::string_view bytes, const ReaderOptions& options = {}) {
  return Reader::open(memory_source(as_bytes(bytes)), options);
}

inline std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The reader has exactly the first `count` blocks of the model, read in any order.
inline void expect_blocks(const Reader& reader, const Model& model, size_t count,
                          std::mt19937_64& random) {
  ASSERT_EQ(reader.blocks().size(), count);
  std::vector<size_t> order(count);
  for (size_t i = 0; i < count; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  for (const size_t i : order) {
    const Block* block = reader.find(model[i].info.id);
    ASSERT_NE(block, nullptr);
    ASSERT_EQ(block, &reader.blocks()[i]);
    ASSERT_EQ(static_cast<const BlockInfo&>(*block), model[i].info);
    ASSERT_EQ(block->payload_offset() % (uint64_t{1} << block->alignment_log2), 0u);
    const Result<BlockBytes> bytes = reader.read(*block);
    ASSERT_TRUE(bytes) << bytes.error().message;
    ASSERT_EQ(text_of(*bytes), model[i].bytes);
  }
}

}  // namespace hoist::container
