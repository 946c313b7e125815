#include "container/verify.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "container/digest.h"
#include "container/frames.h"

namespace hoist::container {
namespace {

// What the surveyed frames must be to one another.
class Verifier {
 public:
  Verifier(const Source& source, const VerifyOptions& options, Survey survey)
      : source_(source), options_(options), survey_(std::move(survey)) {}

  Result<VerifyReport> run() {
    report_.file_size = source_.size();
    report_.header = survey_.header;
    check_order();
    check_end();
    check_ids();
    if (Status lists = check_lists(); !lists) return lists.error();
    auto& damage = survey_.damage;
    std::stable_sort(damage.begin(), damage.end(),
                     [](const Damage& a, const Damage& b) { return a.offset < b.offset; });
    report_.damage = std::move(damage);
    report_.damage_count = survey_.damage_count;
    return std::move(report_);
  }

 private:
  void add(DamageKind kind, const Frame& frame, std::string what) {
    const bool is_block = frame.section == Section::block;
    survey_.add({kind, frame.offset, frame.end() - frame.offset,
                 is_block ? std::optional(frame.id) : std::nullopt, std::move(what)});
  }

  // Metadata first, then the index where there is one; commits count the blocks before them.
  void check_order() {
    const bool has_front = survey_.header && (survey_.header->flags & kFrontIndex) != 0;
    for (size_t i = 0; i < survey_.frames.size(); ++i) {
      const SurveyedFrame& frame = survey_.frames[i];
      const bool is_first = frame.offset == kFileHeaderSize;
      if (is_first != (frame.section == Section::metadata)) {
        add(DamageKind::metadata, frame,
            is_first ? "no metadata is where it should be" : "metadata in the middle of the file");
      }
      if (frame.section == Section::index && !(has_front && i == 1)) {
        add(DamageKind::index, frame, "an index that the file header does not announce");
      }
      if (frame.section == Section::commit) check_count(frame);
      if (frame.section != Section::block) continue;
      blocks_.push_back(i);
      if (!frame.intact) continue;
      ++report_.blocks;
      report_.raw_bytes += frame.raw_size;
      report_.stored_bytes += frame.stored_size;
    }
  }

  void check_count(const SurveyedFrame& commit) {
    ++report_.commits;
    if (survey_.gaps == 0 && commit.id != blocks_.size()) {
      add(DamageKind::index, commit,
          fmt::format("a commit counts {} blocks where {} are", commit.id, blocks_.size()));
    }
  }

  void check_end() {
    const auto& frames = survey_.frames;
    const auto last = std::find_if(frames.rbegin(), frames.rend(), [](const Frame& frame) {
      return frame.section == Section::commit;
    });
    if (last == frames.rend()) {
      survey_.add({DamageKind::unfinished, 0, source_.size(), {}, "there is no commit"});
    } else if (last->end() != source_.size()) {
      survey_.add({DamageKind::unfinished,
                   last->end(),
                   source_.size() - last->end(),
                   {},
                   "bytes behind the last commit"});
    } else {
      commit_ = &*last;
    }
  }

  void check_ids() {
    std::vector<size_t> order = blocks_;
    const auto& frames = survey_.frames;
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return frames[a].id != frames[b].id ? frames[a].id < frames[b].id : a < b;
    });
    size_t first = 0;
    for (size_t i = 1; i < order.size(); ++i) {
      const SurveyedFrame& before = frames[order[first]];
      const SurveyedFrame& frame = frames[order[i]];
      if (before.id != frame.id) {
        first = i;
      } else if (static_cast<const BlockInfo&>(before) == frame &&
                 before.payload_checksum == frame.payload_checksum) {
        ++report_.duplicates;
      } else {
        add(DamageKind::duplicate, frame,
            fmt::format("another block with this id is at {}", before.offset));
      }
    }
  }

  bool lists_found_blocks(std::span<const Block> listed) const {
    return listed.size() <= blocks_.size() &&
           std::equal(listed.begin(), listed.end(), blocks_.begin(),
                      [&](const Block& block, size_t i) {
                        return block == static_cast<const Block&>(survey_.frames[i]);
                      });
  }

  // The chain that ends in the last commit, and the index at the front.
  Status check_lists() {
    if (!survey_.header) return {};
    if ((survey_.header->flags & kFrontIndex) != 0) {
      if (Status front = check_front_index(); !front) return front;
    }
    if (commit_ == nullptr || !commit_->intact) return {};
    Result<uint64_t> trailer = find_last_commit(source_);
    if (!trailer) return index_damage(*commit_, trailer.error());
    if (*trailer != commit_->offset) {
      add(DamageKind::index, *commit_, "the trailer points elsewhere");
      return {};
    }
    Result<Index> index = load_index(source_, *survey_.header, commit_->offset, options_.limits);
    if (!index) return index_damage(*commit_, index.error());
    if (index->blocks.size() != blocks_.size() || !lists_found_blocks(index->blocks)) {
      add(DamageKind::index, *commit_, "the index lists other blocks than there are");
    } else if ((survey_.header->flags & kDigests) != 0) {
      check_digests(*index);
    }
    return {};
  }

  Status check_front_index() {
    const bool is_there = survey_.frames.size() > 1 && survey_.frames[1].section == Section::index;
    if (!is_there) {
      survey_.add({DamageKind::index, kFileHeaderSize, 0, {}, "the index at the front is missing"});
      return {};
    }
    const SurveyedFrame& frame = survey_.frames[1];
    if (!frame.intact) return {};
    auto blocks = load_front_index(source_, *survey_.header, frame, options_.limits);
    if (!blocks) return index_damage(frame, blocks.error());
    if (!lists_found_blocks(*blocks)) {
      add(DamageKind::index, frame, "the index at the front lists other blocks than there are");
    }
    return {};
  }

  // Untrusted bytes are damage; a source that cannot be read is an error.
  Status index_damage(const Frame& frame, const Error& error) {
    if (error.code != ErrorCode::corrupt && error.code != ErrorCode::unsupported) {
      return error;
    }
    add(DamageKind::index, frame, error.message);
    return {};
  }

  void check_digests(const Index& index) {
    if (survey_.frames.front().section != Section::metadata) return;
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (survey_.digests[blocks_[i]] != index.digests[i]) {
        add(DamageKind::digest, survey_.frames[blocks_[i]], "the block has another digest");
      }
    }
    RootDigest root(*survey_.header, survey_.digests.front());
    root.add(index.digests);
    report_.root = root.finish();
    if (*report_.root != index.root) {
      add(DamageKind::digest, *commit_, "the digests have another root");
    }
  }

  const Source& source_;
  const VerifyOptions& options_;
  Survey survey_;
  VerifyReport report_;
  std::vector<size_t> blocks_;  // positions in survey_.frames
  const SurveyedFrame* commit_ = nullptr;
};

}  // namespace

Result<VerifyReport> verify(const Source& source, const VerifyOptions& options) {
  Result<Survey> surveyed = survey(source, options.limits, options.progress);
  if (!surveyed) return surveyed.error();
  Result<VerifyReport> report = Verifier(source, options, std::move(*surveyed)).run();
  if (report && options.root && report->root != options.root) {
    ++report->damage_count;
    report->damage.push_back({DamageKind::digest,
                              0,
                              report->file_size,
                              {},
                              report->root ? "the container has another root digest"
                                           : "the container's root digest cannot be computed"});
  }
  return report;
}

}  // namespace hoist::container
