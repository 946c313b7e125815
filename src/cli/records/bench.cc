// How fast encoding, decoding to text and decoding to columns are on this machine.
//
// Each round measures all of them once, so that a change of the machine's load meets all alike.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "base/file.h"
#include "base/threads.h"
#include "cli/container/progress.h"
#include "cli/records/bench_text.h"
#include "cli/records/commands.h"
#include "cli/report.h"
#include "container/source.h"
#include "records/reader.h"
#include "records/values.h"
#include "records/writer.h"

namespace hoist::cli {
namespace {

using namespace hoist::records;

// A measurement is repeated until it has taken so long: clocks and caches disturb short ones.
constexpr std::chrono::duration<double> kShortest(0.05);

enum Step : uint8_t { kEncode, kDecode, kColumns, kSteps };

// One way to do it.
struct Way {
  Effort effort;
  ThreadPool* pool;
  uint64_t stored = 0;
  std::vector<double> seconds[kSteps] = {};  // of the rounds

  double rate(Step step, uint64_t bytes) const;  // MB/s
};

double Way::rate(Step step, uint64_t bytes) const {
  std::vector<double> sorted = seconds[step];
  std::sort(sorted.begin(), sorted.end());
  const size_t half = sorted.size() / 2;
  const double median =
      sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  return static_cast<double>(bytes) / median / 1e6;
}

// A file of records in memory.
class Measurement {
 public:
  static Result<Measurement> make(const BenchText& text) {
    UniqueFd file(::memfd_create("hoist-records-bench", MFD_CLOEXEC));
    if (!file.valid()) return fail(ErrorCode::io, "cannot make a file in memory", errno);
    return Measurement(text, std::move(file));
  }

  Status round(Way& way);
  uint64_t rows() const { return rows_; }
  Format format() const { return format_; }

 private:
  Measurement(const BenchText& text, UniqueFd file) : text_(text), file_(std::move(file)) {}

  Status encode(Way& way);
  Status decode(const Way& way) const;
  Status columns(const Way& way) const;
  Result<RecordReader> open() const;

  const BenchText& text_;
  UniqueFd file_;
  uint64_t rows_ = 0;
  Format format_ = Format::plain;
};

Status Measurement::encode(Way& way) {
  if (::ftruncate(file_.get(), 0) != 0 || ::lseek(file_.get(), 0, SEEK_SET) != 0) {
    return fail(ErrorCode::io, "cannot empty a file in memory", errno);
  }
  const RecordOptions options{.effort = way.effort, .durable = false, .pool = way.pool};
  Result<RecordWriter> writer = RecordWriter::stream(file_.get(), options);
  if (!writer) return writer.error();
  if (Status status = writer->write_all(text_.from_start()); !status) return status;
  if (Status status = writer->finish(); !status) return status;
  way.stored = writer->size();
  rows_ = writer->rows();
  format_ = writer->dialect().format;
  return {};
}

Result<RecordReader> Measurement::open() const {
  UniqueFd again(::dup(file_.get()));
  Result<std::unique_ptr<container::Source>> source =
      container::file_source(std::move(again), text_.name);
  if (!source) return source.error();
  return RecordReader::open(std::move(*source));
}

Status Measurement::decode(const Way& way) const {
  const Result<RecordReader> reader = open();
  if (!reader) return reader.error();
  uint64_t bytes = 0;
  const Status status = reader->text({.pool = way.pool}, [&](std::string_view piece) {
    bytes += piece.size();
    return Status();
  });
  if (!status) return status;
  return bytes == text_.size ? Status()
                             : fail(ErrorCode::io, text_.name + " changed while it was measured");
}

// Numbers become arrays of int64 or float64. Texts stay what decoding gives: codes and a
// dictionary, or bytes and where each begins.
Status read_columns(const RecordReader& reader, size_t number) {
  const Result<LoadedBlock> loaded = reader.load(number);
  if (!loaded) return loaded.error();
  const Block& block = loaded->block();
  std::vector<size_t> all(block.columns().size());
  std::iota(all.begin(), all.end(), 0);
  const Result<std::vector<ColumnValues>> columns = block.read(all);
  if (!columns) return columns.error();
  for (const ColumnValues& values : *columns) {
    switch (value_type(*values.column)) {
      case ValueType::integer:
        if (const auto numbers = integers(*values.column); !numbers) return numbers.error();
        break;
      case ValueType::real:
        reals(*values.column);
        break;
      case ValueType::text:
        break;
    }
  }
  return {};
}

Status Measurement::columns(const Way& way) const {
  const Result<RecordReader> reader = open();
  if (!reader) return reader.error();
  std::vector<Status> done(reader->blocks().size());
  way.pool->parallel_for(done.size(), [&](size_t i) { done[i] = read_columns(*reader, i); });
  for (const Status& status : done) {
    if (!status) return status;
  }
  return {};
}

// Seconds of one call.
Result<double> time(const std::function<Status()>& body) {
  const auto begin = std::chrono::steady_clock::now();
  std::chrono::duration<double> passed{};
  int calls = 0;
  while (calls == 0 || passed < kShortest) {
    if (Status status = body(); !status) return status.error();
    passed = std::chrono::steady_clock::now() - begin;
    ++calls;
  }
  return passed.count() / calls;
}

Status Measurement::round(Way& way) {
  const std::function<Status()> steps[kSteps] = {
      [&] { return encode(way); }, [&] { return decode(way); }, [&] { return columns(way); }};
  for (uint8_t step = 0; step < kSteps; ++step) {
    const Result<double> seconds = time(steps[step]);
    if (!seconds) return seconds.error();
    way.seconds[step].push_back(*seconds);
  }
  return {};
}

nlohmann::ordered_json as_json(const BenchText& text, const Measurement& done,
                               const std::vector<Way>& ways) {
  auto list = nlohmann::ordered_json::array();
  for (const Way& way : ways) {
    list.push_back({{"effort", way.effort == Effort::best ? "best" : "default"},
                    {"threads", way.pool->size()},
                    {"bytes", way.stored},
                    {"ratio", static_cast<double>(text.size) / static_cast<double>(way.stored)},
                    {"encode_mb_s", way.rate(kEncode, text.size)},
                    {"decode_mb_s", way.rate(kDecode, text.size)},
                    {"columns_mb_s", way.rate(kColumns, text.size)}});
  }
  return {{"input", text.name},
          {"format", name(done.format())},
          {"rows", done.rows()},
          {"text_bytes", text.size},
          {"ways", std::move(list)}};
}

void print(const BenchText& text, const Measurement& done, const std::vector<Way>& ways) {
  fmt::print("{}: {} bytes of text, {} rows ({})\n", text.name, text.size, done.rows(),
             name(done.format()));
  fmt::print("  {:<8} {:>8} {:>12} {:>9} {:>12} {:>12} {:>12}\n", "", "threads", "bytes", "ratio",
             "encode MB/s", "decode MB/s", "columns MB/s");
  for (const Way& way : ways) {
    fmt::print("  {:<8} {:>8} {:>12} {:>9.2f} {:>12.1f} {:>12.1f} {:>12.1f}\n",
               way.effort == Effort::best ? "--best" : "default", way.pool->size(), way.stored,
               static_cast<double>(text.size) / static_cast<double>(way.stored),
               way.rate(kEncode, text.size), way.rate(kDecode, text.size),
               way.rate(kColumns, text.size));
  }
}

// Prints the text's table, or adds to the JSON.
Status measure(const BenchText& text, const RecordsBenchOptions& options,
               nlohmann::ordered_json& json) {
  ThreadPool alone(1);
  std::vector<ThreadPool*> pools = {&alone};
  if (ThreadPool::process().size() > 1) pools.push_back(&ThreadPool::process());
  std::vector<Way> ways;
  for (const Effort effort : {Effort::usual, Effort::best}) {
    for (ThreadPool* pool : pools) ways.push_back({.effort = effort, .pool = pool});
  }
  Result<Measurement> measurement = Measurement::make(text);
  if (!measurement) return measurement.error();
  {
    ProgressLine line("measuring " + text.name);
    const uint64_t total = text.size * ways.size() * static_cast<uint64_t>(options.rounds);
    uint64_t done = 0;
    for (int round = 0; round < options.rounds; ++round) {
      for (Way& way : ways) {
        if (Status status = measurement->round(way); !status) return status;
        line.update(done += text.size, total);
      }
    }
  }
  if (options.json) {
    json.push_back(as_json(text, *measurement, ways));
  } else {
    print(text, *measurement, ways);
  }
  return {};
}

Status bench(const RecordsBenchOptions& options) {
  auto json = nlohmann::ordered_json::array();
  for (const std::string& name : options.files) {
    const Result<BenchText> text = open_bench_text(name);
    if (!text) return text.error();
    if (Status status = measure(*text, options, json); !status) return status;
  }
  if (options.files.empty()) {
    if (Status status = measure(generated_text(options.size), options, json); !status)
      return status;
  }
  if (options.json) {
    fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }
  return {};
}

}  // namespace

int records_bench_command(const RecordsBenchOptions& options) {
  const Status done = bench(options);
  return done ? kDone : report(done.error());
}

}  // namespace hoist::cli
