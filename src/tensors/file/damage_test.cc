// Files that are damaged, cut off, or hostile; and sources that fail.
#include "base/checksum.h"
#include "container/frames.h"
#include "container/mend_testing.h"
#include "container/writer.h"
#include "tensors/file/file_testing.h"
#include "tensors/file/metadata_copy.h"
#include "tensors/file/repair.h"
#include "tensors/file/restore.h"

namespace hoist::tensors {
namespace {

using container::as_bytes;
using container::memory_source;

class Damage : public ::testing::Test {
 protected:
  // A file with parity and its bytes.
  void write(uint32_t fragments, uint32_t parity,
             HolographicEncoding encoding = HolographicEncoding::embedded) {
    HoloWriteOptions options;
    options.encode.encoding = encoding;
    options.encode.fragments = fragments;
    options.parity = parity;
    options.digests = random_() % 2 == 0;
    tensors_ = mixed_model(random_);
    write_model(path(), tensors_, options);
    good_ = bytes_of_file(path());
  }
  std::string path() const { return scratch_.file("m.holo"); }
  container::Reader blocks() const { return container::Reader::open(path()).value(); }

  void expect_repair(const std::string& bad) {
    const auto source = memory_source(as_bytes(bad));
    const auto report = verify_holotensor(*source);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_FALSE(report->ok());
    EXPECT_TRUE(report->repairable);
    const auto repaired = repair_holotensor(*source, scratch_.file("r.holo"), {}, false);
    ASSERT_TRUE(repaired) << repaired.error().message;
    EXPECT_EQ(repaired->repaired, report->lost_shards.size());
    EXPECT_TRUE(bytes_of_file(scratch_.file("r.holo")) == good_);
  }

  std::mt19937_64 random_{test_seed()};
  Scratch scratch_;
  std::vector<TestTensor> tensors_;
  std::string good_;
};

TEST_F(Damage, EveryRegionIsFoundAndRepaired) {
  write(4, 2);
  const auto intact = verify_holotensor(*memory_source(as_bytes(good_)));
  ASSERT_TRUE(intact && intact->ok());
  const container::Reader reader = blocks();
  std::vector<uint64_t> offsets = {0, 9, 31, 33, 60, 200, good_.size() - 1, good_.size() - 30};
  for (const container::Block& block : reader.blocks()) {
    offsets.push_back(block.offset + 3);
    offsets.push_back(block.offset + 50);
    if (block.payload_offset() > block.offset + container::kFrameHeaderSize) {
      offsets.push_back(block.payload_offset() - 1);
    }
    offsets.push_back(block.payload_offset());
    offsets.push_back(block.end() - 1);
  }
  std::shuffle(offsets.begin() + 8, offsets.end(), random_);
  offsets.resize(60);
  for (const uint64_t offset : offsets) {
    std::string bad = good_;
    bad[offset] = static_cast<char>(bad[offset] ^ (1 << random_() % 8));
    SCOPED_TRACE(offset);
    expect_repair(bad);
    ASSERT_FALSE(HasFailure());
  }
}

// All ways to lose two of a group's six shards, and reading goes on meanwhile.
TEST_F(Damage, AnyKOfAGroup) {
  write(4, 2, HolographicEncoding::spectral);
  const container::Reader reader = blocks();
  const HoloTensorReader holo = HoloTensorReader::open(path()).value();
  for (size_t g = 0; g < holo.layout().groups().size(); g += 3) {
    const ShardGroup& group = holo.layout().groups()[g];
    std::vector<uint64_t> members = group.data;
    members.insert(members.end(), group.parity.begin(), group.parity.end());
    for (size_t a = 0; a < members.size(); ++a) {
      for (size_t b = a + 1; b < members.size(); ++b) {
        std::string bad = good_;
        for (const uint64_t shard : {members[a], members[b]}) {
          const container::Block& block = *reader.find(shard);
          bad[block.payload_offset() + random_() % block.stored_size] ^= 4;
        }
        SCOPED_TRACE(fmt::format("group {}, {} and {}", g, a, b));
        expect_repair(bad);
        ASSERT_FALSE(HasFailure());
        const HoloTensorReader damaged =
            HoloTensorReader::open(memory_source(as_bytes(bad))).value();
        for (size_t i = 0; i < tensors_.size(); ++i) {
          const LoadedTensor whole = holo.decode(i).value();
          const Result<LoadedTensor> mended = damaged.decode(i);
          ASSERT_TRUE(mended) << mended.error().message;
          ASSERT_EQ(mended->bytes.size(), whole.bytes.size());
          EXPECT_EQ(0, std::memcmp(mended->bytes.data(), whole.bytes.data(), whole.bytes.size()));
        }
        if (a < group.data.size()) {
          EXPECT_GT(damaged.fetcher().statistics().repaired, 0u);
        }
      }
    }
  }
}

// A group's shards are wanted by many tensors, and to mend others.
TEST_F(Damage, ShardsCountOnceInStatistics) {
  write(4, 2);
  const container::Reader reader = blocks();
  const Layout layout = HoloTensorReader::open(path())->layout();
  const auto shared =
      std::max_element(layout.groups().begin(), layout.groups().end(),
                       [](const auto& a, const auto& b) { return a.data.size() < b.data.size(); });
  ASSERT_GE(shared->data.size(), 3u);
  std::string bad = good_;
  for (size_t lost = 1; lost <= 3; ++lost) {
    bad[reader.find(shared->data[lost - 1])->payload_offset()] ^= 1;
    const HoloTensorReader damaged = HoloTensorReader::open(memory_source(as_bytes(bad))).value();
    for (size_t round = 0; round < 3; ++round) {
      for (size_t i = 0; i < tensors_.size(); ++i) static_cast<void>(damaged.decode(i));
    }
    const FetchStatistics statistics = damaged.fetcher().statistics();
    EXPECT_EQ(statistics.corrupt, lost);
    EXPECT_EQ(statistics.damaged, lost);
    EXPECT_EQ(statistics.missing, 0u);
    EXPECT_EQ(statistics.repaired, lost <= 2 ? lost : 0);
    EXPECT_EQ(statistics.repairable, lost <= 2);
    EXPECT_LE(statistics.valid + lost, layout.shards().size());
  }
}

TEST_F(Damage, OneMoreThanParityIsSaid) {
  write(4, 2);
  const container::Reader reader = blocks();
  const HoloTensorReader holo = HoloTensorReader::open(path()).value();
  const ShardGroup& group = holo.layout().groups()[0];
  ASSERT_GE(group.data.size(), 3u);
  std::string bad = good_;
  for (size_t i = 0; i < 3; ++i) bad[reader.find(group.data[i])->payload_offset()] ^= 1;
  const auto source = memory_source(as_bytes(bad));
  const HoloVerifyReport report = verify_holotensor(*source).value();
  EXPECT_EQ(report.lost_shards.size(), 3u);
  EXPECT_FALSE(report.repairable);
  EXPECT_FALSE(report.lost_tensors.empty());
  write_bytes(scratch_.file("r.holo"), "old");
  const auto repaired = repair_holotensor(*source, scratch_.file("r.holo"));
  ASSERT_FALSE(repaired);
  EXPECT_EQ(repaired.error().code, ErrorCode::corrupt);
  EXPECT_NE(repaired.error().message.find(report.lost_tensors[0]), std::string::npos);
  EXPECT_EQ(bytes_of_file(scratch_.file("r.holo")), "old");
}

// The metadata is there K + 1 times.
TEST_F(Damage, MetadataIsRepaired) {
  write(4, 2);
  const container::Reader reader = blocks();
  std::vector<uint64_t> places;
  for (const container::Block& block : reader.blocks()) {
    if (block.kind == 2) places.push_back(block.payload_offset() + block.stored_size / 2);
  }
  ASSERT_EQ(places.size(), 2u);
  places.insert(places.begin(),
                reader.metadata_frame().payload_offset() + reader.metadata().size() / 2);
  std::string bad = good_;
  for (size_t i = 0; i < places.size(); ++i) {
    bad[places[i]] ^= 1;
    if (i + 1 < places.size()) {
      expect_repair(bad);
      continue;
    }
    const HoloVerifyReport report = verify_holotensor(*memory_source(as_bytes(bad))).value();
    EXPECT_TRUE(report.metadata_lost);
    EXPECT_FALSE(repair_holotensor(*memory_source(as_bytes(bad)), scratch_.file("n.holo")));
    EXPECT_FALSE(std::filesystem::exists(scratch_.file("n.holo")));
  }
}

TEST_F(Damage, FilesOpenByACopyOfTheirMetadata) {
  write(4, 2);
  const container::Reader reader = blocks();
  const container::Frame& frame = reader.metadata_frame();
  std::vector<uint64_t> copies;
  for (const container::Block& block : reader.blocks()) {
    if (block.kind == 2) copies.push_back(block.payload_offset() + random_() % block.stored_size);
  }
  ASSERT_EQ(copies.size(), 2u);
  const auto open = [](const std::string& bytes) {
    return HoloTensorReader::open(memory_source(as_bytes(bytes)));
  };
  EXPECT_FALSE(open(good_)->metadata_was_damaged());
  // Its header's first and last bytes, and its payload's.
  for (const uint64_t at : {frame.offset, frame.offset + container::kFrameHeaderSize - 1,
                            frame.payload_offset(), frame.end() - 1}) {
    std::string bad = good_;
    bad[at] ^= 1;
    for (size_t lost = 0; lost < 2; ++lost) {
      const Result<HoloTensorReader> opened = open(bad);
      ASSERT_TRUE(opened) << opened.error().message;
      EXPECT_TRUE(opened->metadata_was_damaged());
      EXPECT_TRUE(std::ranges::equal(opened->container().metadata(), reader.metadata()));
      for (size_t i = 0; i < tensors_.size(); ++i) {
        expect_same(opened->decode(i).value(), tensors_[i]);
      }
      EXPECT_EQ(opened->fetcher().statistics().damaged, 0u);
      EXPECT_FALSE(verify_holotensor(*memory_source(as_bytes(bad)))->ok());
      bad[copies[lost]] ^= 1;
    }
    const Result<HoloTensorReader> lost = open(bad);
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code, ErrorCode::corrupt);
  }
}

// A copy whose header says another length than the list, and is right, is not followed.
TEST_F(Damage, CopiesOfMetadataAreAsLongAsTheListSays) {
  write(4, 2);
  const container::Reader reader = blocks();
  std::string bad = good_;
  bad[reader.metadata_frame().payload_offset()] ^= 1;
  for (const container::Block& block : reader.blocks()) {
    if (block.kind != 2) continue;
    container::Frame frame = container::FrameWalker(reader.source()).at(block.offset).value();
    ASSERT_GT(frame.stored_size, 1u);
    --frame.stored_size;
    --frame.raw_size;
    frame.payload_checksum =
        container::checksum(as_bytes(bad).subspan(frame.payload_offset(), frame.stored_size));
    const auto header = container::encode_frame_header(frame);
    std::memcpy(bad.data() + block.offset, header.data(), header.size());
  }
  const auto mended = with_metadata_copy(memory_source(as_bytes(bad)));
  ASSERT_FALSE(mended);
  EXPECT_EQ(mended.error().code, ErrorCode::corrupt);
}

// A file cut off behind its data loses parity only; cut off earlier, what is there still counts.
TEST_F(Damage, TruncationAtEveryBorder) {
  write(4, 2);
  const container::Reader reader = blocks();
  size_t repaired = 0;
  for (const container::Block& block : reader.blocks()) {
    for (const uint64_t size :
         {block.offset, block.payload_offset(), block.end() - 1, block.end()}) {
      const std::string cut = good_.substr(0, size);
      const auto source = memory_source(as_bytes(cut));
      const auto report = verify_holotensor(*source);
      ASSERT_TRUE(report) << report.error().message;
      EXPECT_FALSE(report->ok());
      const auto done = repair_holotensor(*source, scratch_.file("r.holo"), {}, false);
      EXPECT_EQ(done.has_value(), report->repairable);
      if (done) {
        EXPECT_TRUE(bytes_of_file(scratch_.file("r.holo")) == good_);
      }
      repaired += done ? 1 : 0;
    }
  }
  EXPECT_GT(repaired, 0u);

  // A download that is under way: whole layers as soon as they are there.
  const HoloTensorReader holo = HoloTensorReader::open(path()).value();
  PartSelection first;
  first.layers = 1;
  uint64_t end = 0;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    for (const StreamPiece& piece : holo.layout().pieces(holo.layout().part_stream(i, 0))) {
      end = std::max(end, reader.find(piece.shard)->end());
    }
  }
  const std::string begun = good_.substr(0, end);
  const HoloTensorReader early = HoloTensorReader::open(memory_source(as_bytes(begun))).value();
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Result<LoadedTensor> loaded = early.decode(i, first);
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->quality, holo.decode(i, first)->quality);
  }
  EXPECT_FALSE(early.decode("layers.0.mlp.up"));

  for (uint64_t size = 0; size < 400; ++size) {
    const std::string cut = good_.substr(0, size);
    EXPECT_FALSE(HoloTensorReader::open(memory_source(as_bytes(cut))));
  }
}

TEST_F(Damage, WithoutParityTheRestIsStillThere) {
  write(4, 0);
  const container::Reader reader = blocks();
  const HoloTensorReader holo = HoloTensorReader::open(path()).value();
  const size_t number = *holo.header().find("layers.1.mlp.up");
  // Its third layer.
  const size_t stream = holo.layout().part_stream(number, 2);
  std::string bad = good_;
  bad[reader.find(holo.layout().pieces(stream)[0].shard)->payload_offset() +
      holo.layout().pieces(stream)[0].shard_offset] ^= 1;
  const HoloTensorReader damaged = HoloTensorReader::open(memory_source(as_bytes(bad))).value();
  const auto strict = damaged.decode(number);
  ASSERT_FALSE(strict);
  EXPECT_EQ(strict.error().code, ErrorCode::corrupt);
  EXPECT_NE(strict.error().message.find("layers.1.mlp.up"), std::string::npos);
  FaultTolerance tolerance{.skip_corrupted = true, .min_quality = 0.9};
  const LoadedTensor rough = damaged.decode(number, {}, tolerance).value();
  EXPECT_EQ(rough.parts, 2u);
  EXPECT_GT(rough.skipped, 0u);
  EXPECT_EQ(rough.quality, holo.header().tensors[number].description.curve.prefixes[1].quality);
  tolerance.min_quality = 0.999999;
  EXPECT_EQ(damaged.decode(number, {}, tolerance).error().code, ErrorCode::corrupt);
  PartSelection two;
  two.layers = 2;
  EXPECT_TRUE(damaged.decode(number, two));
  EXPECT_EQ(write_safetensors(damaged, scratch_.file("x")).error().code, ErrorCode::corrupt);
  EXPECT_FALSE(std::filesystem::exists(scratch_.file("x")));
  RestoreOptions rest;
  rest.tolerance = {.skip_corrupted = true, .min_quality = 0.9};
  EXPECT_GT(write_safetensors(damaged, scratch_.file("x"), rest)->skipped, 0u);
}

// Any bytes behind checksums that hold: refused, or decoded within bounds.
TEST_F(Damage, HostileBytesBehindGoodChecksums) {
  write(4, 1);
  for (int round = 0; round < 400; ++round) {
    std::string bad = good_;
    const size_t where = round % 2 == 0 ? bad.size() : 2500;
    for (size_t i = 0; i < 1 + random_() % 4; ++i) {
      bad[40 + random_() % (where - 40)] = static_cast<char>(random_());
    }
    container::mend_checksums(bad);
    const auto reader = HoloTensorReader::open(memory_source(as_bytes(bad)), {.tensor = 1 << 24});
    if (!reader) continue;
    for (size_t i = 0; i < reader->header().tensors.size(); ++i) {
      static_cast<void>(reader->decode(i));
    }
  }
}

TEST_F(Damage, OtherFilesAreRefused) {
  const auto refused = [&](const std::string& bytes) {
    return HoloTensorReader::open(memory_source(as_bytes(bytes))).error();
  };
  EXPECT_EQ(refused("HTNS" + std::string(92, '\0')).code, ErrorCode::unsupported);
  EXPECT_NE(refused("HCTN" + std::string(60, '\0')).message.find("HCTN"), std::string::npos);
  EXPECT_EQ(refused("").code, ErrorCode::corrupt);
  auto writer = container::Writer::create(scratch_.file("c"), {.kind = 1}).value();
  ASSERT_TRUE(writer.commit());
  EXPECT_EQ(HoloTensorReader::open(scratch_.file("c")).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(HoloTensorReader::open(scratch_.file("gone")).error().code, ErrorCode::not_found);
}

// First parts can be worse than zeros: that matters to who asks for a quality.
TEST_F(Damage, AQualityBelowZeroIsNoDamage) {
  write(4, 1);
  const HoloTensorReader good = HoloTensorReader::open(path()).value();
  HoloIndex index = *good.index();
  const size_t number = *index.header.find("layers.1.mlp.up");
  index.header.tensors[number].description.curve.prefixes[1].quality = -201.7;
  const FragmentFetcher fetcher(std::make_shared<const HoloIndex>(std::move(index)),
                                {good.as_source(1)});
  PartSelection two;
  two.layers = 2;
  const auto loaded = decode_tensor(fetcher, number, two, {}, nullptr);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->quality, -201.7);
  EXPECT_EQ(decode_tensor(fetcher, number, two, {.min_quality = 0.1}, nullptr).error().code,
            ErrorCode::corrupt);
}

// A source that gives an error a few times, then what it has.
class Flaky final : public FragmentSource {
 public:
  Flaky(std::shared_ptr<FragmentSource> inner, ErrorCode code, int failures)
      : inner_(std::move(inner)), code_(code), left_(failures) {}
  const std::string& name() const override { return name_; }
  int priority() const override { return 1; }
  uint64_t count() const override { return inner_->count(); }
  Status fetch(uint64_t shard, std::span<std::byte> into, const std::stop_token& stop) override {
    if (left_-- > 0) return fail(code_, "not now");
    return inner_->fetch(shard, into, stop);
  }

 private:
  std::string name_ = "flaky";
  std::shared_ptr<FragmentSource> inner_;
  ErrorCode code_;
  std::atomic<int> left_;
};

class Sources : public Damage {
 protected:
  void SetUp() override {
    write(4, 2);
    auto reader = HoloTensorReader::open(path()).value();
    index_ = reader.index();
    for (uint64_t shard = 0; shard < index_->layout.shards().size(); ++shard) {
      shards_.push_back(reader.read_fragment(shard).value().bytes);
    }
  }
  std::shared_ptr<MemoryFragmentSource> memory(int priority = 100) const {
    auto source = std::make_shared<MemoryFragmentSource>("memory", priority);
    for (uint64_t i = 0; i < shards_.size(); ++i) source->put(i, shards_[i]);
    return source;
  }
  void expect_all(const FragmentFetcher& fetcher) {
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const auto loaded = decode_tensor(fetcher, i, {}, {}, nullptr);
      ASSERT_TRUE(loaded) << loaded.error().message;
      expect_same(*loaded, tensors_[i]);
    }
  }

  std::shared_ptr<const HoloIndex> index_;
  std::vector<std::vector<std::byte>> shards_;
};

TEST_F(Sources, WhatOneLacksAnotherGives) {
  const auto first = memory(1);
  const auto second = memory(2);
  for (uint64_t i = 0; i < shards_.size(); ++i) {
    if (i % 3 == 0) first->erase(i);
    if (i % 3 == 1) first->put(i, std::vector<std::byte>(shards_[i].size()));
    if (i % 3 == 2) second->erase(i);
  }
  const FragmentFetcher fetcher(index_, {second, first}, {.repair = false});
  expect_all(fetcher);
  const FetchStatistics statistics = fetcher.statistics();
  EXPECT_GT(statistics.missing, 0u);
  EXPECT_GT(statistics.corrupt, 0u);
  EXPECT_EQ(statistics.repaired, 0u);
}

TEST_F(Sources, FailuresThatPassAreRetried) {
  const FragmentFetcher patient(index_,
                                {std::make_shared<Flaky>(memory(), ErrorCode::unavailable, 3)});
  std::vector<std::byte> bytes(shards_[0].size());
  ASSERT_TRUE(patient.fetch(0, bytes));
  EXPECT_EQ(bytes, shards_[0]);
  EXPECT_EQ(patient.statistics().retries, 3u);
  FetchOptions once;
  once.max_retries = 0;
  once.repair = false;
  const FragmentFetcher hasty(index_, {std::make_shared<Flaky>(memory(), ErrorCode::io, 1)}, once);
  EXPECT_FALSE(hasty.fetch(0, bytes));
  // What a source does not have it will not have.
  const FragmentFetcher lacking(
      index_, {std::make_shared<Flaky>(memory(), ErrorCode::not_found, 1), memory()});
  ASSERT_TRUE(lacking.fetch(0, bytes));
  EXPECT_EQ(lacking.statistics().retries, 0u);
}

TEST_F(Sources, ParityStandsInForAnyTwoOfAGroup) {
  const auto source = memory();
  for (const ShardGroup& group : index_->layout.groups()) {
    source->erase(group.data[random_() % group.data.size()]);
    source->put(group.data[random_() % group.data.size()], {});
  }
  const FragmentFetcher fetcher(index_, {source});
  expect_all(fetcher);
  EXPECT_GT(fetcher.statistics().repaired, 0u);
}

TEST_F(Sources, ManyThreads) {
  const auto source = memory();
  for (const ShardGroup& group : index_->layout.groups()) source->erase(group.data[0]);
  const FragmentFetcher fetcher(index_, {source});
  ThreadPool pool(4);
  std::atomic<int> wrong = 0;
  pool.parallel_for(tensors_.size() * 4, [&](size_t i) {
    const TestTensor& tensor = tensors_[i % tensors_.size()];
    const auto loaded = decode_tensor(fetcher, i % tensors_.size(), {}, {}, nullptr);
    if (!loaded ||
        std::memcmp(loaded->bytes.data(), tensor.bytes.data(), tensor.bytes.size()) != 0) {
      ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
  const auto parallel = decode_tensor(fetcher, 1, {}, {}, &pool);
  ASSERT_TRUE(parallel);
  expect_same(*parallel, tensors_[1]);
}

TEST_F(Sources, Cancelled) {
  std::stop_source stop;
  FetchOptions options;
  options.stop = stop.get_token();
  const FragmentFetcher fetcher(index_, {memory()}, options);
  std::vector<std::byte> bytes(shards_[0].size());
  EXPECT_TRUE(fetcher.fetch(0, bytes));
  stop.request_stop();
  EXPECT_EQ(fetcher.fetch(0, bytes).error().code, ErrorCode::cancelled);
  EXPECT_EQ(decode_tensor(fetcher, 0, {}, {.skip_corrupted = true}, nullptr).error().code,
            ErrorCode::cancelled);
}

TEST_F(Sources, WithoutAny) {
  const FragmentFetcher fetcher(index_, {});
  std::vector<std::byte> bytes(shards_[0].size());
  EXPECT_EQ(fetcher.fetch(0, bytes).error().code, ErrorCode::corrupt);
  EXPECT_EQ(fetcher.fetch(shards_.size(), bytes).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace hoist::tensors
