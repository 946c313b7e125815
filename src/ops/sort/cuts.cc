#include "ops/sort/cuts.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/file.h"
#include "ops/sort/messages.h"

namespace hoist::sort {
namespace {

constexpr uint64_t kShortestLongCut = 256;
constexpr uint64_t kLongestCut = uint64_t{64} << 10;
constexpr uint64_t kSamplesPerRange = 4;

// A line of a file, found by its place.
struct Probed {
  uint64_t start = 0;
  uint64_t next = 0;  // the start of the line behind it, or the end of the file
  Line line;          // valid until the next probe
};

// Looks at lines anywhere in a file through a small window.
class Probe {
 public:
  Probe(const FileRange& file, char terminator) : file_(file), terminator_(terminator) {}

  // The first line that starts at `offset` or behind it and before `limit`, if any.
  Result<std::optional<Probed>> line_from(uint64_t offset, uint64_t limit) {
    uint64_t start = offset;
    if (offset > file_.begin) {
      const Result<uint64_t> stop = find_terminator(offset - 1, limit);
      if (!stop) return stop.error();
      start = *stop + 1;
    }
    if (start >= limit) return std::nullopt;
    const Result<uint64_t> stop = find_terminator(start, file_.end);
    if (!stop) return stop.error();
    // The whole line into the window.
    if (Status held = hold(start, *stop); !held) return held.error();
    const uint64_t next = std::min(*stop + 1, file_.end);
    return Probed{start,
                  next,
                  {window_.data() + (start - window_start_), static_cast<size_t>(*stop - start)}};
  }

 private:
  static constexpr uint64_t kWindow = 4096;

  // The offset of the first terminator at `offset` or behind it, or `limit` where there is none.
  Result<uint64_t> find_terminator(uint64_t offset, uint64_t limit) {
    while (offset < limit) {
      if (Status held = hold(offset, offset + 1); !held) return held.error();
      const char* const from = window_.data() + (offset - window_start_);
      const size_t size =
          static_cast<size_t>(std::min(limit, window_start_ + window_.size()) - offset);
      if (const void* found = std::memchr(from, terminator_, size)) {
        return offset + static_cast<uint64_t>(static_cast<const char*>(found) - from);
      }
      offset += size;
    }
    return limit;
  }

  // Makes the window span [start, stop).
  Status hold(uint64_t start, uint64_t stop) {
    if (start >= window_start_ && stop <= window_start_ + window_.size()) return {};
    window_.resize(
        static_cast<size_t>(std::min(std::max(stop - start, kWindow), file_.end - start)));
    window_start_ = start;
    const Result<size_t> got = pread_full(file_.fd, window_.data(), window_.size(), start);
    if (!got) return io_error("read failed", file_.name, got.error().system_errno);
    if (*got < window_.size()) return fail(ErrorCode::cancelled, file_.name + " became shorter");
    return {};
  }

  const FileRange& file_;
  char terminator_;
  uint64_t window_start_ = 0;
  std::string window_;
};

struct Sample {
  std::string line;
  uint32_t source = 0;
  uint64_t start = 0;
};

Result<std::vector<Sample>> sample_file(const FileRange& file, uint32_t source, char terminator,
                                        uint64_t stride) {
  std::vector<Sample> samples;
  Probe probe(file, terminator);
  // The samples of an input of long lines must not become a copy of the input.
  const uint64_t longest = std::clamp(stride / 16, kShortestLongCut, kLongestCut);
  for (uint64_t offset = file.begin + stride; offset < file.end; offset += stride) {
    const auto probed = probe.line_from(offset, file.end);
    if (!probed) return probed.error();
    if (!probed->has_value()) break;
    const Probed& found = **probed;
    if (found.line.length <= longest) {
      samples.push_back({{found.line.text, found.line.length}, source, found.start});
    }
    offset = std::max(offset, found.start);
  }
  return samples;
}

Line view(const std::string& text) { return {text.data(), text.size()}; }

// Whether a line of file `source` equal in order to the cut comes before it.
bool comes_before(int order, uint32_t source, const Sample& cut) {
  return order != 0 ? order < 0 : source < cut.source;
}

// The start of the first line of `file` that does not come before the cut.
//
// Invariant: lines that start before `low` come before the cut; the one at `high` does not (or is
// the end), and no line starts in [bound, high).
Result<uint64_t> bisect(const FileRange& file, uint32_t source, uint64_t low, uint64_t high,
                        char terminator, const Sample& cut, const Comparator& comparator) {
  Probe probe(file, terminator);
  uint64_t bound = high;
  while (low < bound) {
    const uint64_t middle = low + (bound - low) / 2;
    const auto probed = probe.line_from(middle, high);
    if (!probed) return probed.error();
    if (!probed->has_value()) {
      bound = middle;
      continue;
    }
    const Probed& found = **probed;
    if (comes_before(comparator.compare(found.line, view(cut.line)), source, cut)) {
      low = found.next;
    } else {
      high = found.start;
      bound = middle;
    }
  }
  return high;
}

// Narrows the search by the samples of the file itself before it reads anything.
Result<uint64_t> place_in_file(const FileRange& file, uint32_t source, char terminator,
                               std::span<const Sample> samples, const Sample& cut,
                               const Comparator& comparator) {
  if (source == cut.source) return cut.start;
  const auto behind =
      std::partition_point(samples.begin(), samples.end(), [&](const Sample& sample) {
        return comes_before(comparator.compare(view(sample.line), view(cut.line)), source, cut);
      });
  const uint64_t low = behind == samples.begin() ? file.begin : std::prev(behind)->start;
  const uint64_t high = behind == samples.end() ? file.end : behind->start;
  return bisect(file, source, low, high, terminator, cut, comparator);
}

// Keeps the first failure of a parallel loop.
class FirstFailure {
 public:
  void note(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (status_) status_ = error;
  }
  const Status& status() const { return status_; }

 private:
  std::mutex mutex_;
  Status status_;
};

}  // namespace

Result<std::vector<Cut>> plan_cuts(std::span<const FileRange> files, const Comparator& comparator,
                                   char terminator, uint64_t range_bytes, ThreadPool& pool) {
  const uint64_t stride = std::max<uint64_t>(range_bytes / kSamplesPerRange, 1);
  std::vector<std::vector<Sample>> samples(files.size());
  FirstFailure failure;
  pool.parallel_for(files.size(), [&](size_t i) {
    auto taken = sample_file(files[i], static_cast<uint32_t>(i), terminator, stride);
    if (!taken) return failure.note(taken.error());
    samples[i] = std::move(*taken);
  });
  if (!failure.status()) return failure.status().error();

  std::vector<const Sample*> order;
  for (const auto& of_file : samples) {
    for (const Sample& sample : of_file) order.push_back(&sample);
  }
  // Stable: among equal lines the file's number and the place in it decide. It also survives a
  // collation that contradicts itself.
  std::stable_sort(order.begin(), order.end(), [&](const Sample* a, const Sample* b) {
    return comparator.compare(view(a->line), view(b->line)) < 0;
  });

  std::vector<Cut> cuts(order.size() / kSamplesPerRange);
  pool.parallel_for(cuts.size(), [&](size_t i) {
    const Sample& sample = *order[(i + 1) * kSamplesPerRange - 1];
    Cut& cut = cuts[i];
    cut.line = sample.line;
    cut.source = sample.source;
    for (uint32_t source = 0; source < files.size(); ++source) {
      const Result<uint64_t> place =
          place_in_file(files[source], source, terminator, samples[source], sample, comparator);
      if (!place) return failure.note(place.error());
      cut.offsets.push_back(*place);
    }
  });
  if (!failure.status()) return failure.status().error();
  // Files out of order may give places out of order, too.
  for (size_t i = 1; i < cuts.size(); ++i) {
    for (size_t source = 0; source < files.size(); ++source) {
      cuts[i].offsets[source] = std::max(cuts[i].offsets[source], cuts[i - 1].offsets[source]);
    }
  }
  return cuts;
}

}  // namespace hoist::sort
