// Policies, folders, and writing that is cut short.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "tensors/file/directory.h"
#include "tensors/file/file_testing.h"
#include "tensors/file/quality_policy.h"
#include "tensors/file/repair.h"

namespace hoist::tensors {
namespace {

TEST(QualityPolicy, Patterns) {
  EXPECT_TRUE(matches("attention.*", "attention.q"));
  EXPECT_TRUE(matches("attention.*", "model.layers.3.attention.q.weight"));
  EXPECT_FALSE(matches("attention.*", "model.self_attention.q"));
  EXPECT_FALSE(matches("attention.*", "attention"));
  EXPECT_TRUE(matches("*mlp*", "model.layers.0.mlp.up"));
  EXPECT_TRUE(matches("*mlp*", "mlp"));
  EXPECT_FALSE(matches("*mlp*", "model.MLP.up"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("layers.?.norm", "layers.7.norm"));
  EXPECT_FALSE(matches("layers.?.norm", "layers.17.norm"));
  EXPECT_TRUE(matches("*a*b*c", "xxaxxbxbxxc"));
  EXPECT_FALSE(matches("*a*b*c", "xxaxxbxbxxcd"));
  EXPECT_TRUE(matches("", ""));
  EXPECT_FALSE(matches("", "a"));
  // Backtracking stays cheap.
  EXPECT_FALSE(matches("*a*a*a*a*a*a*a*b", std::string(20'000, 'a')));
}

TEST(QualityPolicy, PriorityThenOrder) {
  QualityPolicy policy(0.8);
  policy.add({"*", 0.85, -1});
  policy.add({"*mlp*", 0.9, 0});
  policy.add({"*up*", 0.95, 0});
  policy.add({"attention.*", 2.0, 10});
  EXPECT_EQ(policy.target("norm"), 0.85);
  EXPECT_EQ(policy.target("mlp.up"), 0.9);
  EXPECT_EQ(policy.target("x.up"), 0.95);
  EXPECT_EQ(policy.target("a.attention.up"), 1.0);
  EXPECT_EQ(QualityPolicy(0.8).target("norm"), 0.8);
}

TEST(QualityPolicy, AsText) {
  const LayerQualityTarget rule = parse_layer_target("*a=b*=0.25@-3").value();
  EXPECT_EQ(rule.pattern, "*a=b*");
  EXPECT_EQ(rule.quality, 0.25);
  EXPECT_EQ(rule.priority, -3);
  EXPECT_EQ(parse_layer_target("x=1")->priority, 0);
  for (const char* wrong :
       {"", "x", "=1", "x=", "x=2", "x=-1", "x=1@", "x=1@y", "x=nan", "x=0.5x"}) {
    EXPECT_EQ(parse_layer_target(wrong).error().code, ErrorCode::invalid_argument) << wrong;
  }
}

TEST(Directory, MixedFiles) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const TestTensor plain = gaussian_tensor(random, "plain", DType::f32, {20, 30});
  write_bytes(scratch.file("a.safetensors"), safetensors_bytes({plain}));
  const std::vector<TestTensor> tensors = {
      gaussian_tensor(random, "attention.q", DType::bf16, {50, 60}),
      gaussian_tensor(random, "mlp.up", DType::bf16, {50, 60})};
  write_model(scratch.file("b.holo"), tensors);
  write_bytes(scratch.file("README.md"), "not a model");
  const LoadedDirectory all = load_directory_progressive(scratch.path, 1.0).value();
  EXPECT_EQ(all.standard_count, 1u);
  EXPECT_EQ(all.holographic_count, 2u);
  ASSERT_EQ(all.tensors.size(), 3u);
  expect_same(all.tensors[0], plain);
  expect_same(all.tensors[1], tensors[0]);
  expect_same(all.tensors[2], tensors[1]);
  QualityPolicy policy(0.9);
  policy.add({"attention.*", 1.0});
  const LoadedDirectory some = load_directory_progressive(scratch.path, 0, &policy).value();
  EXPECT_EQ(some.tensors[1].quality, 1);
  EXPECT_GE(some.tensors[2].quality, 0.9);
  EXPECT_LT(some.tensors[2].parts, some.tensors[1].parts);

  write_bytes(scratch.file("c.hct"), "HTNS" + std::string(92, '\0'));
  const auto foreign = load_directory_progressive(scratch.path, 1.0);
  EXPECT_EQ(foreign.error().code, ErrorCode::unsupported);
  EXPECT_NE(foreign.error().message.find("HTNS"), std::string::npos);
  std::filesystem::remove(scratch.file("c.hct"));
  write_bytes(scratch.file("d.safetensors"), safetensors_bytes({plain}));
  EXPECT_EQ(load_directory_progressive(scratch.path, 1.0).error().code,
            ErrorCode::invalid_argument);
  const Scratch empty;
  EXPECT_EQ(load_directory_progressive(empty.path, 1.0).error().code, ErrorCode::not_found);
  EXPECT_EQ(load_directory_progressive(empty.file("x"), 1.0).error().code, ErrorCode::not_found);
}

Status write_some(const std::string& path, const std::vector<TestTensor>& tensors) {
  HoloWriteOptions options;
  options.parity = 2;
  options.durable = false;
  std::vector<NamedTensor> views;
  for (const TestTensor& tensor : tensors) views.push_back({tensor.name, view_of(tensor)});
  return write_holotensor(path, views, options);
}

int in_child(const std::function<int()>& body, useconds_t kill_after = 0) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  if (kill_after != 0) {
    ::usleep(kill_after);
    ::kill(child, SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Writing, KilledLeavesTheOldFileOrTheNewOne) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const std::string path = scratch.file("m.holo");
  const std::vector<TestTensor> before = {gaussian_tensor(random, "old", DType::f32, {5})};
  const std::vector<TestTensor> after = mixed_model(random);
  ASSERT_TRUE(write_some(path, before));
  const std::string old_bytes = bytes_of_file(path);
  ASSERT_TRUE(write_some(scratch.file("n.holo"), after));
  const std::string new_bytes = bytes_of_file(scratch.file("n.holo"));
  std::filesystem::remove(scratch.file("n.holo"));
  for (int round = 0; round < 40; ++round) {
    write_bytes(path, old_bytes);
    in_child([&] { return write_some(path, after) ? 0 : 1; },
             1 + static_cast<useconds_t>(random() % 40'000));
    const std::string found = bytes_of_file(path);
    EXPECT_TRUE(found == old_bytes || found == new_bytes);
  }
  // A kill between giving the file a random name and the final one leaves that name: at most.
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path)) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(name == "m.holo" || name.starts_with(".hoist-")) << name;
  }
}

TEST(Writing, FullDiskLeavesTheOldFile) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const std::string path = scratch.file("m.holo");
  const std::vector<TestTensor> after = mixed_model(random);
  ASSERT_TRUE(write_some(path, after));
  const uint64_t size = std::filesystem::file_size(path);
  const std::string bad = [&] {
    std::string bytes = bytes_of_file(path);
    bytes[bytes.size() / 2] ^= 1;
    return bytes;
  }();
  size_t failures = 0;
  for (uint64_t limit = 0; limit < 2 * size; limit += 1 + size / 13) {
    for (const bool repair : {false, true}) {
      write_bytes(path, repair ? bad : "old");
      const int status = in_child([&] {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit bound{limit, limit};
        ::setrlimit(RLIMIT_FSIZE, &bound);
        if (!repair) return write_some(path, after) ? 0 : 1;
        const auto source = container::memory_source(container::as_bytes(bad));
        return repair_holotensor(*source, path, {}, false) ? 0 : 1;
      });
      ASSERT_GE(status, 0);
      failures += status != 0 ? 1 : 0;
      if (status != 0) {
        EXPECT_TRUE(bytes_of_file(path) == (repair ? bad : "old"));
      } else {
        expect_model(path, after);
      }
      EXPECT_EQ(scratch.files(), 1u);
    }
  }
  EXPECT_GT(failures, 4u);
}

// What a child would add would lie in its parent's working space.
TEST(Writing, AForkedWriterIsItsParents) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const std::string path = scratch.file("m.holo");
  const std::vector<TestTensor> tensors = mixed_model(random);
  auto writer = std::make_unique<HoloTensorWriter>(HoloTensorWriter::create(path).value());
  for (size_t i = 0; i < tensors.size(); ++i) {
    ASSERT_TRUE(writer->add(tensors[i].name, view_of(tensors[i])));
    EXPECT_EQ(in_child([&] {
                ::alarm(20);
                const Status added = writer->add("other", view_of(tensors[i]));
                const Status done = writer->finish();
                writer.reset();
                return !added && added.error().code == ErrorCode::unavailable && !done &&
                               done.error().code == ErrorCode::unavailable
                           ? 0
                           : 1;
              }),
              0);
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  ASSERT_TRUE(writer->finish());
  expect_model(path, tensors);
}

// Small tensors share shards, of which a reader keeps the last.
TEST(Reading, AChildReadsWhileItsParentsThreadsDo) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const std::string path = scratch.file("m.holo");
  std::vector<TestTensor> tensors;
  for (int i = 0; i < 20; ++i) {
    tensors.push_back(gaussian_tensor(random, "w" + std::to_string(i), DType::f32, {50}));
  }
  ASSERT_TRUE(write_some(path, tensors));
  const HoloTensorReader reader = HoloTensorReader::open(path).value();
  const auto reads_all = [&] {
    for (size_t i = 0; i < tensors.size(); ++i) {
      const auto loaded = reader.decode(i, {}, {}, &ThreadPool::process());
      if (!loaded || !std::ranges::equal(view_of(tensors[i]).bytes,
                                         std::span(loaded->bytes.data(), loaded->bytes.size()))) {
        return 1;
      }
    }
    return 0;
  };
  std::atomic<bool> stop = false;
  std::atomic<bool> rest = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        EXPECT_EQ(reads_all(), 0);
        while (rest && !stop) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
#ifdef __SANITIZE_ADDRESS__
    rest = true;  // a child may not allocate beside threads that do (tests/sanitized_fork.cc)
#endif
    EXPECT_EQ(in_child([&] {
                ::alarm(60);
                return reads_all();
              }),
              0);
    rest = false;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hoist::tensors
