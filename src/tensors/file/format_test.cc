// The metadata and the layout without files: what is written is read, what breaks a rule is
// refused.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "base/test_seed.h"
#include "tensors/file/header.h"
#include "tensors/file/layout.h"
#include "tensors/file/packing.h"

namespace hoist::tensors {
namespace {

using container::as_bytes;

uint64_t random_size(std::mt19937_64& random) {
  const uint64_t sizes[] = {0, 1, 63, 64, 65, 511, 512, 513, 65535, 65536, 524287, 524288, 524289};
  switch (random() % 4) {
    case 0:
      return random() % 2000;
    case 1:
      return random() % (uint64_t{1} << 34);  // several groups of shards of the largest size
    case 2:
      return (uint64_t{8} << 20) + random() % 3 - 65;
    default:
      return sizes[random() % std::size(sizes)];
  }
}

HoloTensorHeader random_header(std::mt19937_64& random) {
  HoloTensorHeader header;
  header.order = random() % 2 == 0 ? FileOrder::layer : FileOrder::tensor;
  header.fragments = static_cast<uint32_t>(1 + random() % 12);
  header.parity = static_cast<uint32_t>(random() % 4);
  header.rules.bundle = header.fragments * uint64_t{65536};
  for (size_t i = 0; i < 1 + random() % 12; ++i) {
    HoloTensor tensor;
    tensor.name = "t" + std::to_string(i);
    TensorDescription& description = tensor.description;
    description.encoding = static_cast<HolographicEncoding>(random() % 5);
    description.dtype = DType::u8;
    const bool lossless = description.encoding == HolographicEncoding::lossless;
    const size_t parts = lossless ? 1 : 1 + random() % 9;
    const uint64_t equal = random_size(random);
    for (size_t part = 0; part < parts; ++part) {
      const bool any_subset = is_any_subset(description.encoding);
      const uint64_t bytes =
          any_subset ? equal - std::min(equal, random() % 3) : random_size(random);
      description.part_bytes.push_back(bytes);
      tensor.parts.push_back({bytes, Packing::plain});
      description.curve.prefixes.push_back({0.5, 0.75});
      if (any_subset) description.curve.energies.push_back(0.125);
    }
    description.shape = {description.part_bytes[0]};
    description.parameters.assign(random() % 50, std::byte{7});
    header.tensors.push_back(std::move(tensor));
  }
  for (size_t i = 0; i < random() % 3; ++i) {
    const uint64_t bytes = random() % 300'000;
    header.files.push_back(
        {"f" + std::to_string(i), ModelFormat::gguf, bytes, bytes, {bytes, Packing::plain}});
  }
  return header;
}

TEST(Header, RoundTrip) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 200; ++round) {
    HoloTensorHeader header = random_header(random);
    header.checksums = {1, ~0ull, random()};
    if (!header.files.empty()) {
      HoloTensor& tensor = header.tensors[0];
      tensor.file = 0;
      tensor.offset = random() % (header.files[0].skeleton_bytes + 1);
      tensor.stored_as = "Q4_K";
      header.files[0].size += tensor.bytes();
    }
    const std::string bytes = encode_header(header);
    const Result<HoloTensorHeader> read = decode_header(as_bytes(bytes), "memory");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(encode_header(*read), bytes);
    EXPECT_EQ(read->checksums, header.checksums);
    EXPECT_EQ(read->tensors[0].stored_as, header.tensors[0].stored_as);
    EXPECT_EQ(read->tensors[0].offset, header.tensors[0].offset);
    EXPECT_EQ(read->rules, header.rules);
    for (size_t size = 0; size < bytes.size(); size += 1 + random() % 7) {
      EXPECT_FALSE(decode_header(as_bytes(bytes.substr(0, size)), "memory"));
    }
    EXPECT_FALSE(decode_header(as_bytes(bytes + "\xf6"), "memory"));
  }
}

// What a header may say is checked wherever it is changed: whatever is taken has a layout.
TEST(Header, MutationsAreRefusedOrHarmless) {
  std::mt19937_64 random(test_seed());
  size_t taken = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::mt19937_64 same(round % 20);
    std::string bytes = encode_header(random_header(same));
    for (size_t i = 0; i < 1 + random() % 3; ++i) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    const Result<HoloTensorHeader> read = decode_header(as_bytes(bytes), "memory");
    if (!read) continue;
    ++taken;
    const Result<Layout> layout = Layout::of(*read, 100'000);
    if (layout) {
      EXPECT_LE(layout->shards().size(), 100'000u);
    }
  }
  EXPECT_GT(taken, 0u);
}

TEST(Header, RulesAreNamed) {
  std::mt19937_64 random(7);
  const auto message = [&](const std::function<void(HoloTensorHeader&)>& change) {
    HoloTensorHeader header;
    HoloTensor tensor;
    tensor.name = "w";
    tensor.description.dtype = DType::u8;
    tensor.description.shape = {4};
    tensor.description.part_bytes = {4};
    tensor.description.curve.prefixes = {{1, 1}};
    tensor.parts = {{4, Packing::plain}};
    header.tensors.push_back(tensor);
    change(header);
    const Result<HoloTensorHeader> read = decode_header(as_bytes(encode_header(header)), "m");
    return read ? std::string() : read.error().message;
  };
  using Header = HoloTensorHeader;
  EXPECT_EQ(message([](Header&) {}), "");
  const auto expect = [&](std::string_view text, const std::function<void(Header&)>& change) {
    EXPECT_NE(message(change).find(text), std::string::npos) << text << ": " << message(change);
  };
  expect("two tensors", [](Header& h) { h.tensors.push_back(h.tensors[0]); });
  expect("number of shards", [](Header& h) { h.fragments = 0; });
  expect("number of shards", [](Header& h) { h.parity = 250; });
  expect("layout", [](Header& h) { h.rules.min_shard = 0; });
  expect("layout", [](Header& h) { h.rules.max_shard = 4096; });
  expect("layout", [](Header& h) { h.rules.bundle = 1; });
  expect("do not fill", [](Header& h) {
    h.tensors[0].description.dtype = DType::f6_e2m3;
    h.tensors[0].description.shape = {5};
  });
  expect("larger than any", [](Header& h) {
    h.tensors[0].description.shape = {1u << 31, 1u << 31};
  });
  expect("another size", [](Header& h) { h.tensors[0].description.shape = {5}; });
  expect("two sizes", [](Header& h) { h.tensors[0].parts[0].bytes = 3; });
  expect("other parts", [](Header& h) { h.tensors[0].description.curve.prefixes.clear(); });
  expect("file that is not there", [](Header& h) { h.tensors[0].file = 0; });
  expect("no number", [](Header& h) { h.tensors[0].description.curve.common = NAN; });
  expect("far larger", [](Header& h) {
    h.tensors[0].description.shape = {uint64_t{1} << 40};
    h.tensors[0].description.part_bytes = {uint64_t{1} << 40};
    h.tensors[0].parts[0] = {4, Packing::zstd};
  });
  for (const char* name : {"", ".", "..", "a/b", "/etc/passwd"}) {
    expect("no plain name", [&](Header& h) { h.files = {{name, ModelFormat::npy, 8, 8, {8}}}; });
  }
  expect("bytes are missing", [](Header& h) { h.files = {{"f", ModelFormat::npy, 9, 8, {8}}}; });
}

// Where each byte lies, the plain way: every byte of every stream is in exactly one place.
TEST(Layout, KeepsItsRules) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 300; ++round) {
    const HoloTensorHeader header = random_header(random);
    const Layout layout = Layout::of(header).value();
    std::vector<uint64_t> sizes;
    for (const HoloTensor& tensor : header.tensors) {
      for (const StoredStream& part : tensor.parts) sizes.push_back(part.bytes);
    }
    for (const HoloFile& file : header.files) sizes.push_back(file.skeleton.bytes);
    ASSERT_EQ(layout.streams(), sizes.size());

    std::map<std::pair<uint64_t, uint64_t>, uint64_t> used;  // shard and offset, bytes
    for (size_t stream = 0; stream < sizes.size(); ++stream) {
      uint64_t expected = 0;
      for (const StreamPiece& piece : layout.pieces(stream)) {
        EXPECT_EQ(piece.stream_offset, expected);
        expected += piece.bytes;
        ASSERT_LT(piece.shard, layout.shards().size());
        EXPECT_LE(piece.shard_offset + piece.bytes, layout.shards()[piece.shard].bytes);
        EXPECT_TRUE(used.emplace(std::pair(piece.shard, piece.shard_offset), piece.bytes).second);
      }
      EXPECT_EQ(expected, sizes[stream]);
      if (!layout.pieces(stream).empty()) {
        EXPECT_EQ(layout.pieces(stream)[0].shard_offset % 64, 0u);
      }
    }
    std::pair<uint64_t, uint64_t> end = {0, 0};
    for (const auto& [place, bytes] : used) {
      if (place.first == end.first) {
        EXPECT_GE(place.second, end.second);
      }
      end = {place.first, place.second + bytes};
    }
    std::set<uint32_t> equal;  // groups of any-subset encodings
    for (size_t i = 0; i < header.tensors.size(); ++i) {
      if (!is_any_subset(header.tensors[i].description.encoding)) continue;
      for (size_t part = 0; part < header.tensors[i].parts.size(); ++part) {
        for (const StreamPiece& piece : layout.pieces(layout.part_stream(i, part))) {
          equal.insert(layout.shards()[piece.shard].group);
        }
      }
    }
    size_t members = 0;
    bool parity_began = false;
    for (const ShardPlace& shard : layout.shards()) {
      EXPECT_FALSE(parity_began && !shard.is_parity);
      parity_began = shard.is_parity;
      EXPECT_GT(shard.bytes, 0u);
    }
    for (const ShardGroup& group : layout.groups()) {
      members += group.data.size() + group.parity.size();
      EXPECT_LE(group.data.size() + group.parity.size(), 255u);
      EXPECT_EQ(group.parity.size(), header.parity);
      EXPECT_LE(group.shard_bytes, header.rules.max_shard);
      for (size_t i = 0; i < group.data.size(); ++i) {
        const ShardPlace& shard = layout.shards()[group.data[i]];
        EXPECT_LE(shard.bytes, group.shard_bytes);
        if (equal.contains(shard.group)) continue;
        // A run cut into equal shards, 64 bytes apart: a header and what aligns the next.
        EXPECT_EQ(group.data[i], group.data[0] + i);
        EXPECT_EQ(shard.bytes == group.shard_bytes || i + 1 == group.data.size(), true);
        const uint64_t alignment = uint64_t{1} << shard.alignment_log2;
        EXPECT_EQ((group.shard_bytes + 64) % alignment, 0u);
        EXPECT_LE(group.data.size(), header.fragments);
      }
    }
    EXPECT_EQ(members, layout.shards().size());
  }
}

// K of N + K shards cost K/N of what they protect.
TEST(Layout, ParityCostsItsShare) {
  HoloTensorHeader header;
  header.fragments = 8;
  header.parity = 2;
  for (int i = 0; i < 200; ++i) {
    HoloTensor tensor;
    tensor.name = std::to_string(i);
    const uint64_t bytes = i % 2 == 0 ? 4096 : 5'000'000;
    tensor.description.shape = {bytes};
    tensor.description.part_bytes = {bytes};
    tensor.parts = {{bytes, Packing::plain}};
    header.tensors.push_back(tensor);
  }
  const Layout layout = Layout::of(header).value();
  uint64_t data = 0;
  uint64_t parity = 0;
  for (const ShardPlace& shard : layout.shards()) (shard.is_parity ? parity : data) += shard.bytes;
  EXPECT_LE(static_cast<double>(parity), 1.01 * 0.25 * static_cast<double>(data));
  EXPECT_TRUE(Layout::of(header, layout.shards().size()));
  EXPECT_EQ(Layout::of(header, layout.shards().size() - 1).error().code, ErrorCode::corrupt);
  header.tensors[1].parts[0].bytes = container::kMaxSize;
  EXPECT_EQ(Layout::of(header, 1000).error().code, ErrorCode::corrupt);
}

TEST(Packing, RoundTrip) {
  std::mt19937_64 random(test_seed());
  ThreadPool pool(3);
  for (const size_t size : {size_t{1}, size_t{1000}, kPackedFrame - 1, kPackedFrame,
                            kPackedFrame + 1, 2 * kPackedFrame + 12345}) {
    std::vector<std::byte> raw(size);
    for (size_t i = 0; i < size; ++i) raw[i] = static_cast<std::byte>((i / 100 + i % 3) % 7);
    const auto packed = pack(raw, &pool);
    if (size < 100) {
      EXPECT_FALSE(packed);
      continue;
    }
    ASSERT_TRUE(packed);
    EXPECT_EQ(*packed, *pack(raw));
    std::vector<std::byte> again(size);
    ASSERT_TRUE(unpack(*packed, again, &pool));
    EXPECT_EQ(again, raw);
    std::vector<std::byte> shorter(size - 1);
    EXPECT_FALSE(unpack(*packed, shorter));
    std::vector<std::byte> longer(size + 1);
    EXPECT_FALSE(unpack(*packed, longer));
    for (int i = 0; i < 50; ++i) {
      EXPECT_FALSE(unpack(std::span(*packed).first(random() % packed->size()), again));
    }
  }
  std::vector<std::byte> noise(100'000);
  for (std::byte& byte : noise) byte = static_cast<std::byte>(random());
  EXPECT_FALSE(pack(noise));
  EXPECT_FALSE(pack({}));
}

}  // namespace
}  // namespace hoist::tensors
