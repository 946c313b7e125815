#include "records/repair.h"

#include <algorithm>

#include "container/foreign.h"
#include "container/moved_frames.h"
#include "container/reader.h"
#include "container/writer.h"
#include "records/block.h"
#include "records/file_format.h"
#include "records/listed_blocks.h"

namespace hoist::records {
namespace {

using container::BlockBytes;
using container::Frame;
using container::MovedFrame;
using container::Section;
using container::SurveyedFrame;

// A block that lies whole somewhere in the file.
struct Found {
  MovedFrame frame;
  uint64_t rows = 0;
  bool ends_with_newline = false;
  bool decodes = false;

  uint64_t end() const { return frame.id + rows; }
};

class Repairer {
 public:
  Repairer(const container::Source& source, const RepairOptions& options)
      : source_(source),
        options_(options),
        pool_(options.pool != nullptr ? *options.pool : ThreadPool::process()) {}

  Result<RepairReport> run(const std::string& path) && {
    if (Status allowed = check_output(path, options_.output); !allowed) return allowed.error();
    if (Status looked = look(); !looked) return looked.error();
    Result<ListedBlocks> listed = read_listed_blocks(source_, intact_);
    if (!listed) return listed.error();
    listed_ = std::move(*listed);
    gather();
    if (Status decoded = decode(); !decoded) return decoded.error();
    choose();
    find_lost();
    if (saved_.empty() && !report_.is_whole()) {
      return fail(ErrorCode::corrupt,
                  "no row can be saved (" + source_.name() + "): get the file again");
    }
    if (Status written = write(path); !written) return written.error();
    return std::move(report_);
  }

 private:
  Status look() {
    Result<container::Survey> survey = container::survey(source_, limits_, options_.progress);
    if (!survey) return survey.error();
    Result<std::vector<MovedFrame>> moved = container::find_moved_frames(source_, *survey, limits_);
    if (!moved) return moved.error();
    report_.damage_count = survey->damage_count;
    report_.damage = std::move(survey->damage);
    const Result<std::optional<container::FileHeader>> header =
        container::find_file_header(source_, *survey);
    if (!header) return header.error();
    for (const SurveyedFrame& frame : survey->frames) {
      MovedFrame in_place;
      static_cast<Frame&>(in_place) = frame;
      in_place.lies_at = frame.offset;
      (frame.intact ? intact_ : damaged_).push_back(in_place);
    }
    intact_.insert(intact_.end(), moved->begin(), moved->end());
    const bool other_kind = *header && (*header)->kind != kFileKind;
    const bool has_rows = std::any_of(intact_.begin(), intact_.end(), is_rows);
    if (!other_kind && (*header || has_rows)) return {};
    const Result<bool> foreign = container::is_foreign(source_);
    if (!foreign) return foreign.error();
    if (*foreign && !has_rows) return container::not_a_container(source_);
    return fail(ErrorCode::corrupt, "a container that holds no records (" + source_.name() +
                                        "): `hoist container repair` saves what is intact");
  }

  Result<BlockBytes> payload_of(const MovedFrame& frame) const {
    return read_payload(source_, frame);
  }

  void gather() {
    for (const MovedFrame& frame : intact_) {
      if (frame.section == Section::block && is_rows(frame) && listed_.may_have(frame)) {
        found_.push_back({.frame = frame});
      }
    }
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Found& a, const Found& b) { return a.frame.id < b.frame.id; });
  }

  // Checksums find what happened to the file, not what a writer did wrong.
  Status decode() {
    std::vector<Status> read(found_.size());
    pool_.parallel_for(found_.size(), [&](size_t i) {
      Found& found = found_[i];
      const Result<BlockBytes> bytes = payload_of(found.frame);
      if (!bytes) {
        read[i] = bytes.error();
        return;
      }
      const Result<Block> block = Block::open(*bytes, found.frame.raw_size);
      found.decodes = block && block->rows() > 0 && block->text();
      if (!found.decodes) return;
      found.rows = block->rows();
      found.ends_with_newline = block->ends_with_newline();
    });
    for (const Status& status : read) {
      if (!status) return status;
    }
    return {};
  }

  void choose() {
    for (Found& found : found_) {
      if (!found.decodes) {
        damaged_.push_back(found.frame);
      } else if (!saved_.empty() && found.frame.id < saved_.back().end()) {
        ++report_.duplicates;
      } else {
        // Rows behind a gap would go on in a line that has no end.
        while (!saved_.empty() && !saved_.back().ends_with_newline &&
               found.frame.id != saved_.back().end()) {
          saved_.pop_back();
        }
        saved_.push_back(found);
      }
    }
    for (const Found& found : saved_) {
      ++report_.blocks;
      report_.rows += found.rows;
      report_.text_bytes += found.frame.raw_size;
    }
  }

  void add_lost(uint64_t first, std::optional<uint64_t> end) {
    LostRows lost{.first = first, .end = end, .text_bytes = std::nullopt};
    uint64_t bytes = 0;
    bool is_first_known = false;
    for (const auto& [offset, block] : listed_.blocks) {
      if (block.id < first || (end && block.id >= *end)) continue;
      is_first_known |= block.id == first;
      bytes += block.raw_size;
    }
    if (listed_.are_all && is_first_known) lost.text_bytes = bytes;
    report_.lost.push_back(lost);
  }

  void find_lost() {
    uint64_t next = 0;
    for (const Found& found : saved_) {
      if (found.frame.id > next) add_lost(next, found.frame.id);
      next = found.end();
    }
    const auto is_behind = [&](const container::BlockInfo& block) { return block.id >= next; };
    const bool is_more_listed =
        std::any_of(listed_.blocks.begin(), listed_.blocks.end(),
                    [&](const auto& entry) { return is_behind(entry.second); });
    const bool is_more_damaged =
        std::any_of(damaged_.begin(), damaged_.end(), [&](const MovedFrame& frame) {
          return frame.section == Section::block && is_rows(frame) && is_behind(frame);
        });
    const std::optional<uint64_t> commit = last_commit();
    uint64_t written_end = 0;
    for (const Found& found : saved_) written_end = std::max(written_end, found.frame.end());
    // A commit follows a block.
    if (is_more_listed || is_more_damaged || (commit && *commit > written_end)) {
      add_lost(next, std::nullopt);
    } else {
      report_.is_end_unknown = !commit;
    }
  }

  // Where the commit that the file ends in was written; 0: it has no blocks.
  std::optional<uint64_t> last_commit() const {
    for (const std::vector<MovedFrame>& frames : {intact_, damaged_}) {
      for (const MovedFrame& frame : frames) {
        if (frame.section == Section::commit &&
            frame.payload_lies_at() + frame.stored_size == source_.size()) {
          return frame.id == 0 ? 0 : frame.offset;
        }
      }
    }
    const Result<uint64_t> trailer = container::find_last_commit(source_);
    return trailer ? std::optional(*trailer) : std::nullopt;
  }

  Result<std::string> metadata() {
    Dialect dialect;
    const auto place = std::find_if(intact_.begin(), intact_.end(), [](const Frame& frame) {
      return frame.section == Section::metadata;
    });
    report_.metadata_lost = true;
    if (place != intact_.end()) {
      const Result<BlockBytes> bytes = payload_of(*place);
      if (!bytes) return bytes.error();
      if (const Result<Dialect> decoded = decode_dialect(*bytes); decoded) {
        dialect = *decoded;
        report_.metadata_lost = false;
      }
    }
    if (report_.metadata_lost && !saved_.empty()) {
      const Result<BlockBytes> bytes = payload_of(saved_[0].frame);
      if (!bytes) return bytes.error();
      const Result<Block> block = Block::open(*bytes, saved_[0].frame.raw_size);
      if (block) dialect.format = block->format();
    }
    const bool has_first_row = !saved_.empty() && saved_[0].frame.id == 0;
    if (!dialect.names.empty() && !has_first_row) dialect.header_lost = true;
    return encode_dialect(dialect);
  }

  Status write(const std::string& path) {
    Result<std::string> about = metadata();
    if (!about) return about.error();
    Result<container::Writer> writer =
        container::Writer::create(path, {.kind = kFileKind,
                                         .metadata = std::move(*about),
                                         .durable = options_.durable,
                                         .output = options_.output});
    if (!writer) return writer.error();
    uint64_t row = 0;
    for (const Found& found : saved_) {
      const Result<BlockBytes> bytes = payload_of(found.frame);
      if (!bytes) return bytes.error();
      container::BlockInfo info = found.frame;
      info.id = row;
      info.alignment_log2 = 0;
      if (Status added = writer->add(info, *bytes); !added) return added;
      row += found.rows;
    }
    if (Status committed = writer->commit(); !committed) return committed;
    report_.file_bytes = writer->size();
    return {};
  }

  const container::Source& source_;
  const RepairOptions& options_;
  ThreadPool& pool_;
  const container::Limits limits_;
  std::vector<MovedFrame> intact_;
  std::vector<MovedFrame> damaged_;  // their headers are intact
  ListedBlocks listed_;
  std::vector<Found> found_;
  std::vector<Found> saved_;
  RepairReport report_;
};

}  // namespace

Result<RepairReport> repair(const container::Source& source, const std::string& path,
                            const RepairOptions& options) {
  return Repairer(source, options).run(path);
}

}  // namespace hoist::records
