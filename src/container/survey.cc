#include "container/survey.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "base/threads.h"
#include "container/frames.h"

namespace hoist::container {
namespace {

constexpr size_t kBufferSize = size_t{256} << 10;  // stays in the second-level cache
constexpr uint64_t kBatchBytes = uint64_t{8} << 20;
// A frame of most of the file keeps one thread busy when all others are done: from here on, all
// work on it.
constexpr uint64_t kLargeFrame = uint64_t{16} << 20;

bool means_damage(const Error& error) {
  return error.code == ErrorCode::corrupt || error.code == ErrorCode::unsupported;
}

Status look_at_header(const Source& source, Survey& survey) {
  std::array<std::byte, kFileHeaderSize> bytes{};
  if (source.size() < bytes.size()) {
    survey.add(
        {DamageKind::file_header, 0, source.size(), {}, "the file is cut off in its header"});
    return {};
  }
  if (Status read = source.read(0, MutableBytes(bytes)); !read) return read;
  Result<FileHeader> header = decode_file_header(bytes);
  if (header) {
    survey.header = *header;
    return {};
  }
  // Its checksum is right: a sound file, of which this Hoist would miss parts.
  if (header.error().code == ErrorCode::unsupported) {
    return fail(ErrorCode::unsupported, fmt::format("{} ({}): a newer Hoist can read it",
                                                    header.error().message, source.name()));
  }
  survey.add({DamageKind::file_header, 0, kFileHeaderSize, {}, header.error().message});
  return {};
}

Status walk(const Source& source, const Limits& limits, Survey& survey) {
  FrameWalker walker(source);
  uint64_t offset = kFileHeaderSize;
  while (offset < source.size()) {
    Result<Frame> frame = walker.at(offset);
    if (!frame && !means_damage(frame.error())) return frame.error();
    if (!frame) {
      Result<std::optional<Frame>> next = walker.find(offset + 1);
      if (!next) return next.error();
      const uint64_t until = *next ? (*next)->offset : source.size();
      survey.add({DamageKind::gap, offset, until - offset, {}, frame.error().message});
      ++survey.gaps;
      if (!*next) return {};
      frame = **next;
    }
    if (survey.frames.size() >= limits.index / kIndexEntrySize) {
      return fail(ErrorCode::exhausted,
                  fmt::format("more blocks ({}) than the limit for the index allows: raise it",
                              source.name()));
    }
    survey.frames.push_back({*frame, false});
    offset = frame->end();
  }
  return {};
}

// Positions at which batches of about kBatchBytes begin, and the end.
std::vector<size_t> cut_into_batches(std::span<const SurveyedFrame> frames) {
  std::vector<size_t> cuts = {0};
  uint64_t bytes = 0;
  for (size_t i = 0; i < frames.size(); ++i) {
    bytes += kFrameHeaderSize + frames[i].stored_size;
    if (bytes < kBatchBytes) continue;
    cuts.push_back(i + 1);
    bytes = 0;
  }
  if (cuts.back() != frames.size()) cuts.push_back(frames.size());
  return cuts;
}

// Checks payloads on all threads.
class Checker {
 public:
  Checker(const Source& source, Survey& survey, const Progress& progress)
      : source_(source), survey_(survey), progress_(progress) {}

  Status run() {
    const bool with_digests = survey_.header && (survey_.header->flags & kDigests) != 0;
    if (with_digests) survey_.digests.resize(survey_.frames.size());
    const std::vector<size_t> cuts = cut_into_batches(survey_.frames);
    ThreadPool& pool = ThreadPool::process();
    pool.parallel_for(cuts.size() - 1, [&](size_t i) { check_batch(cuts[i], cuts[i + 1]); });
    if (!large_ || !status_) return status_;
    const Frame& frame = survey_.frames[*large_];
    record(*large_, check_payload_on_all_threads(source_, frame, with_digests, [&](uint64_t done) {
      if (progress_) progress_(done_ + done, source_.size());
    }));
    return status_;
  }

 private:
  bool is_large(const Frame& frame) const {
    return frame.stored_size >= kLargeFrame && frame.stored_size > source_.size() / 2 &&
           ThreadPool::process().size() > 1;
  }

  void check_batch(size_t first, size_t last) {
    std::vector<std::byte> buffer(source_.data() == nullptr ? kBufferSize : 0);
    uint64_t left = 0;
    for (size_t i = first; i < last; ++i) {
      const SurveyedFrame& frame = survey_.frames[i];
      if (is_large(frame)) {
        left = frame.stored_size;
        large_ = i;
      } else {
        record(i, check_payload(source_, frame, !survey_.digests.empty(), buffer));
      }
    }
    const std::lock_guard lock(mutex_);
    done_ += survey_.frames[last - 1].end() - survey_.frames[first].offset - left;
    if (progress_) progress_(done_, source_.size());
  }

  void record(size_t i, const Result<PayloadCheck>& check) {
    SurveyedFrame& frame = survey_.frames[i];
    if (check && !survey_.digests.empty()) survey_.digests[i] = check->digest;
    if (check && check->padding_is_zero && check->checksum_holds) {
      frame.intact = true;
      return;
    }
    const std::lock_guard lock(mutex_);
    if (!check) {
      status_ = check.error();
      return;
    }
    const std::optional<uint64_t> id =
        frame.section == Section::block ? std::optional(frame.id) : std::nullopt;
    if (!check->padding_is_zero) {
      const uint64_t padding = frame.offset + kFrameHeaderSize;
      survey_.add({DamageKind::padding, padding, frame.payload_offset() - padding, id,
                   "the padding before the bytes is not zero"});
    }
    if (!check->checksum_holds) {
      const DamageKind kind = frame.section == Section::block      ? DamageKind::payload
                              : frame.section == Section::metadata ? DamageKind::metadata
                                                                   : DamageKind::index;
      survey_.add(
          {kind, frame.payload_offset(), frame.stored_size, id, "the bytes have another checksum"});
    }
  }

  const Source& source_;
  Survey& survey_;
  const Progress& progress_;
  std::mutex mutex_;
  uint64_t done_ = 0;
  std::optional<size_t> large_;  // written by one thread: there is at most one
  Status status_;
};

}  // namespace

std::string_view name(DamageKind kind) {
  switch (kind) {
    case DamageKind::file_header:
      return "file-header";
    case DamageKind::metadata:
      return "metadata";
    case DamageKind::gap:
      return "gap";
    case DamageKind::padding:
      return "padding";
    case DamageKind::payload:
      return "payload";
    case DamageKind::digest:
      return "digest";
    case DamageKind::index:
      return "index";
    case DamageKind::duplicate:
      return "duplicate";
    case DamageKind::unfinished:
      return "unfinished";
  }
  return "";
}

void Survey::add(Damage found) {
  ++damage_count;
  if (damage.size() < kMaxDamage) damage.push_back(std::move(found));
}

Result<Survey> survey(const Source& source, const Limits& limits, const Progress& progress) {
  Survey survey;
  if (Status header = look_at_header(source, survey); !header) {
    return header.error();
  }
  if (Status walked = walk(source, limits, survey); !walked) {
    return walked.error();
  }
  if (Status checked = Checker(source, survey, progress).run(); !checked) {
    return checked.error();
  }
  std::stable_sort(survey.damage.begin(), survey.damage.end(),
                   [](const Damage& a, const Damage& b) { return a.offset < b.offset; });
  return survey;
}

Result<std::optional<FileHeader>> find_file_header(const Source& source, const Survey& survey) {
  if (survey.header) return survey.header;
  for (const SurveyedFrame& frame : survey.frames) {
    const bool is_list = frame.section == Section::commit || frame.section == Section::index;
    if (!is_list || !frame.intact || frame.stored_size < kListHeaderSize) continue;
    std::array<std::byte, kListHeaderSize> bytes;
    if (Status read = source.read(frame.payload_offset(), MutableBytes(bytes)); !read) {
      return read.error();
    }
    if (Result<ListHeader> list = decode_list_header(bytes)) return list->file;
  }
  return std::nullopt;
}

}  // namespace hoist::container
