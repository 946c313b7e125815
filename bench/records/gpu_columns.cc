// Columns of candles from a file in the page cache into a device's memory:
//
//   records_gpu_columns DIRECTORY [ROWS [SYMBOLS [DEVICE]]]
//
// Makes ROWS (10^8) candles as JSON Lines, the rows of bench/records/candles.py, encodes them into
// DIRECTORY/candles.hrec unless a file of as many rows is there, and loads its columns: symbol
// (codes), timestamp and granularity (int64), open, close and volume (float64). GB/s are 10^9 bytes
// of the JSON Lines a second. Prints the median of some loads and its parts; how long the kernels
// alone, and copies of the stored streams and of the raw columns over the link, take; and compares
// some blocks with what the CPU decodes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/stopwatch.h"
#include "base/threads.h"
#include "records/candle_text.h"
#include "records/gpu/column_loader.h"
#include "records/number_text.h"
#include "records/values.h"
#include "records/writer.h"

namespace hoist::records {
namespace {

constexpr size_t kPieceRows = 50000;  // generated at a time by a thread

// Pieces that are generated on all threads, some ahead.
class Source {
 public:
  Source(uint64_t rows, size_t symbols) : rows_(rows), symbols_(symbols) {}

  Result<size_t> read(std::span<char> into) {
    while (at_ == pieces_.size()) {
      if (next_ == rows_) return 0;
      fill();
    }
    const std::string& piece = pieces_[at_];
    const size_t size = std::min(into.size(), piece.size() - offset_);
    std::memcpy(into.data(), piece.data() + offset_, size);
    offset_ += size;
    if (offset_ == piece.size()) {
      ++at_;
      offset_ = 0;
    }
    return size;
  }

 private:
  void fill() {
    ThreadPool& pool = ThreadPool::process();
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    for (size_t i = 0; i < 4 * static_cast<size_t>(pool.size()) && next_ < rows_; ++i) {
      const uint64_t end = std::min(rows_, next_ + kPieceRows);
      ranges.emplace_back(next_, end);
      next_ = end;
    }
    pieces_.assign(ranges.size(), {});
    pool.parallel_for(ranges.size(), [&](size_t i) {
      pieces_[i] = candle_text(ranges[i].first, ranges[i].second, symbols_);
    });
    at_ = 0;
  }

  uint64_t rows_;
  size_t symbols_;
  uint64_t next_ = 0;
  std::vector<std::string> pieces_;
  size_t at_ = 0;
  size_t offset_ = 0;
};

Status make_file(const std::string& path, uint64_t rows, size_t symbols) {
  if (const auto there = RecordReader::open(path); there && there->rows() == rows) return {};
  const Stopwatch watch;
  RecordOptions options;
  options.durable = false;
  Result<RecordWriter> writer = RecordWriter::create(path, options);
  if (!writer) return writer.error();
  Source source(rows, symbols);
  const auto read = [&](std::span<char> into) { return source.read(into); };
  if (Status written = writer->write_all(read); !written) return written;
  if (Status done = writer->finish(); !done) return done;
  fmt::print("made and encoded in {:.1f} s\n", watch.milliseconds() / 1e3);
  return {};
}

// Symbols, the first column, are numbered as they come; other texts are integers.
class Symbols : public ColumnMeaning {
 public:
  Answer answer(size_t wanted, std::string_view text, Format, ColumnKind) override {
    if (wanted > 0) {
      const std::optional<int64_t> value = parse_integer(text);
      return {static_cast<uint64_t>(value.value_or(0)), value ? 1u : 0u};
    }
    const std::lock_guard lock(mutex_);
    return {numbers_.try_emplace(std::string(text), numbers_.size()).first->second, 1};
  }
  std::optional<int64_t> timestamp(size_t, const DateForm&, int64_t) override {
    return std::nullopt;
  }
  Result<std::vector<Answer>> answers(size_t, const Block&) override {
    return fail(ErrorCode::unsupported, "a column that the device does not decode");
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, uint64_t> numbers_;
};

template <typename T>
Result<std::vector<T>> part_of(const DeviceColumns& columns, size_t column, uint64_t first,
                               size_t count) {
  std::vector<T> values(count);
  const std::byte* const from = columns.columns[column].values + first * sizeof(T);
  if (Status s = columns.memory->device()->copy(values.data(), from, count * sizeof(T), {}); !s) {
    return s.error();
  }
  return values;
}

// Numbers of some blocks against the CPU's.
Status compare(const RecordReader& reader, const LoadRequest& request,
               const DeviceColumns& columns) {
  const size_t blocks = reader.blocks().size();
  for (const size_t b : {size_t{0}, blocks / 3, blocks - 1}) {
    const Result<LoadedBlock> loaded = reader.load(b);
    if (!loaded) return loaded.error();
    const Block& block = loaded->block();
    for (size_t c = 0; c < request.columns.size(); ++c) {
      const WantedColumn& wanted = request.columns[c];
      if (wanted.type == DeviceType::codes) continue;
      for (size_t i = 0; i < block.columns().size(); ++i) {
        if (block.columns()[i].path != wanted.path) continue;
        const Result<ColumnValues> read = block.read(i);
        if (!read) return read.error();
        const uint64_t first = reader.blocks()[b].id;
        bool same = false;
        if (wanted.type == DeviceType::float64) {
          const auto values = part_of<double>(columns, c, first, block.rows());
          same = values && *values == reals(*read->column);
        } else {
          const auto values = part_of<int64_t>(columns, c, first, block.rows());
          const auto expected = integers(*read->column);
          same = values && expected && *values == *expected;
        }
        if (!same) return fail(ErrorCode::internal, "other values than the CPU's: " + wanted.path);
      }
    }
  }
  return {};
}

// Seconds that copies of so many bytes from pinned memory take, 64 MiB at a time.
Result<double> copy_seconds(ColumnLoader& loader, uint64_t bytes) {
  Result<device::PinnedBlock> pinned = loader.pool().allocate(device::PinnedPool::kLargest);
  if (!pinned) return pinned.error();
  std::memset(pinned->data(), 1, pinned->size());
  Result<device::Buffer> to = device::Buffer::allocate(loader.device(), pinned->size());
  if (!to) return to.error();
  Result<device::Stream> stream = device::Stream::create(loader.device());
  if (!stream) return stream.error();
  double best = INFINITY;
  for (int i = 0; i < 3; ++i) {
    const Stopwatch watch;
    for (uint64_t left = bytes; left > 0;) {
      const size_t size = std::min<uint64_t>(left, pinned->size());
      if (Status s = stream->copy(to->data(), pinned->data(), size); !s) return s.error();
      left -= size;
    }
    if (Status s = stream->synchronize(); !s) return s.error();
    best = std::min(best, watch.milliseconds() / 1e3);
  }
  return best;
}

struct Timed {
  double seconds = 0;
  LoadStatistics statistics;
  std::vector<uint64_t> on_cpu;
};

Result<Timed> load(ColumnLoader& loader, const RecordReader& reader, const LoadRequest& request,
                   int turns, bool compared) {
  std::vector<Timed> all;
  for (int i = 0; i < turns; ++i) {
    Symbols symbols;
    const Stopwatch watch;
    const Result<DeviceColumns> columns = loader.load(reader, request, symbols);
    const double seconds = watch.milliseconds() / 1e3;
    if (!columns) return columns.error();
    if (compared && i == 0) {
      if (Status same = compare(reader, request, *columns); !same) return same.error();
    }
    Timed timed{seconds, columns->statistics, {}};
    for (const DeviceColumn& column : columns->columns) timed.on_cpu.push_back(column.on_cpu);
    all.push_back(std::move(timed));
  }
  // The first one also starts what is kept for the others.
  fmt::print("  first call {:.1f} ms\n", all.front().seconds * 1e3);
  std::sort(all.begin(), all.end(),
            [](const Timed& a, const Timed& b) { return a.seconds < b.seconds; });
  return all[all.size() / 2];
}

Status run(const std::string& directory, uint64_t rows, size_t symbols, const char* device_name) {
  const std::string path = directory + "/candles.hrec";
  if (Status made = make_file(path, rows, symbols); !made) return made;
  const Result<RecordReader> reader = RecordReader::open(path);
  if (!reader) return reader.error();
  const Result<device::Device*> device = device::find_device(device_name);
  if (!device) return device.error();
  fmt::print("{}, {} threads\n", (*device)->properties().name, ThreadPool::process().size());
  const double text = static_cast<double>(reader->text_bytes());
  fmt::print("{} rows, {:.2f} GB of JSON Lines, {:.3f} GB stored ({:.2f} bytes a row), {} blocks\n",
             rows, text / 1e9, static_cast<double>(reader->file_size()) / 1e9,
             static_cast<double>(reader->file_size()) / static_cast<double>(rows),
             reader->blocks().size());
  LoadRequest request;
  request.columns = {{"/symbol", DeviceType::codes},   {"/timestamp", DeviceType::int64},
                     {"/open", DeviceType::float64},   {"/close", DeviceType::float64},
                     {"/volume", DeviceType::float64}, {"/granularity", DeviceType::int64}};
  uint64_t row_bytes = 0;
  for (const WantedColumn& column : request.columns) {
    row_bytes += element_bytes(element_of(column.type));
  }
  for (size_t b = 0; b < reader->blocks().size(); ++b) {
    const uint64_t end = b + 1 < reader->blocks().size() ? reader->blocks()[b + 1].id : rows;
    request.blocks.push_back({b, 0, static_cast<uint32_t>(end - reader->blocks()[b].id)});
  }
  ColumnLoader loader(**device);
  const auto report = [&](const char* what, const Result<Timed>& timed) -> Status {
    if (!timed) return timed.error();
    const LoadStatistics& statistics = timed->statistics;
    fmt::print(
        "{:24} {:8.1f} ms {:8.1f} GB/s of JSON Lines; host prepares {:.1f} ms, waits {:.1f} "
        "ms; {:.3f} GB copied; blocks by the CPU:",
        what, timed->seconds * 1e3, text / timed->seconds / 1e9, statistics.prepare_seconds * 1e3,
        statistics.wait_seconds * 1e3, static_cast<double>(statistics.copied_bytes) / 1e9);
    for (const uint64_t blocks : timed->on_cpu) fmt::print(" {}", blocks);
    fmt::print("\n");
    return {};
  };
  const Result<Timed> whole = load(loader, *reader, request, 7, true);
  if (Status s = report("all columns", whole); !s) return s;
  request.decode_repeats = 5;
  const Result<Timed> repeated = load(loader, *reader, request, 3, false);
  if (Status s = report("kernels five times", repeated); !s) return s;
  fmt::print("kernels by themselves: {:.1f} ms or less\n",
             (repeated->seconds - whole->seconds) / 4 * 1e3);
  request.decode_repeats = 1;
  const std::vector<WantedColumn> columns = request.columns;
  request.columns = {columns[3]};
  if (Status s = report("close alone", load(loader, *reader, request, 5, true)); !s) return s;
  request.columns = columns;
  request.where = {parse_condition("close>=118000").value()};
  if (Status s = report("close>=118000", load(loader, *reader, request, 5, false)); !s) return s;
  const Result<double> stored = copy_seconds(loader, whole->statistics.copied_bytes);
  if (!stored) return stored.error();
  const Result<double> raw = copy_seconds(loader, row_bytes * rows);
  if (!raw) return raw.error();
  fmt::print(
      "link alone: stored streams {:.1f} ms; raw columns, {:.2f} GB, {:.1f} ms; text at "
      "this rate {:.1f} ms ({:.1f} GB/s)\n",
      *stored * 1e3, static_cast<double>(row_bytes * rows) / 1e9, *raw * 1e3,
      *raw * 1e3 * text / static_cast<double>(row_bytes * rows),
      static_cast<double>(row_bytes * rows) / *raw / 1e9);
  return {};
}

}  // namespace
}  // namespace hoist::records

int main(int argc, char** argv) {
  if (argc < 2 || argc > 5) {
    fmt::print(stderr, "usage: records_gpu_columns DIRECTORY [ROWS [SYMBOLS [DEVICE]]]\n");
    return 2;
  }
  const uint64_t rows = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 100000000;
  const size_t symbols = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  if (rows == 0 || symbols == 0 || symbols > hoist::records::kMostCandleSymbols) {
    fmt::print(stderr, "records_gpu_columns: from 1 row on, 1 to 10 symbols\n");
    return 2;
  }
  const hoist::Status status =
      hoist::records::run(argv[1], rows, symbols, argc > 4 ? argv[4] : "auto");
  if (status) return 0;
  fmt::print(stderr, "records_gpu_columns: error: {}\n", status.error().message);
  return 1;
}
