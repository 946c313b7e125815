// How fast packing, unpacking, verifying and repairing are on this machine, with Zstandard of the
// same bytes beside them.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "cli/report.h"
#include "cli/tensors/commands.h"
#include "codec/general.h"
#include "tensors/file/holotensor.h"
#include "tensors/file/packing.h"
#include "tensors/file/repair.h"

namespace hoist::cli {
namespace {

using namespace hoist::tensors;

constexpr uint64_t kTensorBytes = uint64_t{32} << 20;  // a layer's matrix
constexpr int kRounds = 3;

struct Line {
  std::string name;
  double seconds;
  uint64_t bytes;  // what it makes of the weights; 0: nothing
};

// The fastest of a few rounds: what other processes took away is not the code's.
Result<double> time(const std::function<Status()>& body) {
  double best = 1e300;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    if (Status done = body(); !done) return done.error();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    best = std::min(best, seconds.count());
  }
  return best;
}

// Weights as trained models have them: Gaussian, each tensor with a deviation of its own.
std::vector<std::vector<std::byte>> weights(uint64_t size) {
  std::mt19937_64 random(1);
  std::vector<std::vector<std::byte>> tensors;
  for (uint64_t done = 0; done < size; done += kTensorBytes) {
    const uint64_t bytes = std::min(kTensorBytes, size - done) / 2 * 2;
    std::normal_distribution<float> gauss(0, 0.01f * static_cast<float>(1 + random() % 5));
    std::vector<float> values(bytes / 2);
    for (float& value : values) value = gauss(random);
    std::vector<std::byte>& tensor = tensors.emplace_back(bytes);
    if (!from_f32(values, DType::bf16, tensor)) tensor.clear();
  }
  return tensors;
}

class Bench {
 public:
  Bench(uint64_t size, std::filesystem::path folder)
      : folder_(std::move(folder)), tensors_(weights(size)) {
    for (size_t i = 0; i < tensors_.size(); ++i) {
      views_.push_back({fmt::format("layers.{}.weight", i),
                        {DType::bf16, {tensors_[i].size() / 2}, tensors_[i]}});
      bytes_ += tensors_[i].size();
    }
  }

  Result<std::vector<Line>> run();
  uint64_t bytes() const { return bytes_; }

 private:
  Status add(const std::string& name, const std::function<Status()>& body, uint64_t made = 0) {
    const Result<double> seconds = time(body);
    if (!seconds) return seconds.error();
    lines_.push_back({name, *seconds, made});
    return {};
  }
  std::string path() const { return (folder_ / "bench.holo").string(); }
  Status pack(uint32_t parity) const;
  Status read(const PartSelection& selection) const;
  Status zstd_lines();

  std::filesystem::path folder_;
  std::vector<std::vector<std::byte>> tensors_;
  std::vector<NamedTensor> views_;
  uint64_t bytes_ = 0;
  std::vector<Line> lines_;
};

Status Bench::pack(uint32_t parity) const {
  HoloWriteOptions options;
  options.parity = parity;
  options.durable = false;
  return write_holotensor(path(), views_, options);
}

Status Bench::read(const PartSelection& selection) const {
  const Result<HoloTensorReader> reader = open_holotensor(path());
  if (!reader) return reader.error();
  for (size_t i = 0; i < views_.size(); ++i) {
    const Result<LoadedTensor> tensor = reader->decode(i, selection, {}, &ThreadPool::process());
    if (!tensor) return tensor.error();
  }
  return {};
}

Status Bench::zstd_lines() {
  std::vector<std::vector<std::byte>> packed(tensors_.size());
  uint64_t made = 0;
  const Status compressed = add("compress with zstd, level 3", [&]() -> Status {
    made = 0;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      packed[i] = tensors::pack(tensors_[i], &ThreadPool::process()).value_or(tensors_[i]);
      made += packed[i].size();
    }
    return {};
  });
  if (!compressed) return compressed;
  lines_.back().bytes = made;
  std::vector<std::byte> out(kTensorBytes);
  return add("decompress with zstd", [&]() -> Status {
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const auto into = std::span(out).first(tensors_[i].size());
      if (packed[i].size() == into.size()) continue;
      if (Status done = tensors::unpack(packed[i], into, &ThreadPool::process()); !done)
        return done;
    }
    return {};
  });
}

Result<std::vector<Line>> Bench::run() {
  const auto file_bytes = [&] { return std::filesystem::file_size(path()); };
  const auto step = [](Status& status, const std::function<Status()>& next) {
    if (status) status = next();
  };
  Status status = add("pack", [&] { return pack(0); });
  if (status) lines_.back().bytes = file_bytes();
  step(status, [&] { return add("unpack", [&] { return read({}); }); });
  PartSelection target;
  target.target = 0.96;
  step(status, [&] { return add("unpack to quality 0.96", [&] { return read(target); }); });
  step(status, [&] { return add("pack with parity 2", [&] { return pack(2); }); });
  if (status) lines_.back().bytes = file_bytes();
  step(status, [&] {
    return add("verify", [&]() -> Status {
      Result<std::unique_ptr<container::Source>> source = container::open_file_source(path());
      if (!source) return source.error();
      const Result<HoloVerifyReport> report = verify_holotensor(**source);
      if (!report) return report.error();
      return report->ok() ? Status() : fail(ErrorCode::corrupt, "the benchmark's file is damaged");
    });
  });
  step(status, [&] { return zstd_lines(); });
  if (!status) return status.error();
  return lines_;
}

void print(const TensorsBenchOptions& options, const std::vector<Line>& lines, uint64_t bytes) {
  auto json = nlohmann::ordered_json::array();
  for (const Line& line : lines) {
    const double rate = static_cast<double>(bytes) / line.seconds / 1e9;
    const double share = static_cast<double>(line.bytes) / static_cast<double>(bytes);
    if (options.json) {
      json.push_back(
          {{"name", line.name}, {"seconds", line.seconds}, {"gigabytes_per_second", rate}});
      if (line.bytes != 0) json.back()["share"] = share;
    } else {
      fmt::print("{:<30} {:>8.2f} GB/s{}\n", line.name, rate,
                 line.bytes == 0 ? "" : fmt::format("  {:>5.1f} % of the size", 100 * share));
    }
  }
  if (options.json) {
    fmt::print("{}\n", nlohmann::ordered_json({{"bytes", bytes}, {"lines", json}}).dump(2));
  }
}

}  // namespace

int tensors_bench_command(const TensorsBenchOptions& options) {
  std::error_code error;
  const std::filesystem::path base = options.folder.empty()
                                         ? std::filesystem::temp_directory_path(error)
                                         : std::filesystem::path(options.folder);
  std::string folder = (base / "hoist-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    return report({ErrorCode::io,
                   fmt::format("cannot write into {}: name another with --folder", base.string())});
  }
  Bench bench(options.size, folder);
  const Result<std::vector<Line>> lines = bench.run();
  std::filesystem::remove_all(folder, error);
  if (!lines) return report(lines.error());
  if (!options.json) {
    fmt::print("{} bytes of bf16 weights, {} threads\n", bench.bytes(), usable_cpus());
  }
  print(options, *lines, bench.bytes());
  return kDone;
}

}  // namespace hoist::cli
