#include "tensors/file/repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/checksum.h"
#include "codec/parity.h"
#include "container/frames.h"
#include "container/output.h"
#include "tensors/file/file_format.h"
#include "tensors/file/foreign_format.h"
#include "tensors/file/reader.h"
#include "tensors/file/spool.h"

namespace hoist::tensors {
namespace {

using container::Source;
using container::SurveyedFrame;

// What of a damaged file is there.
struct Findings {
  std::shared_ptr<const HoloIndex> index;  // null: the metadata is lost
  std::string metadata;
  uint16_t flags = 0;
  std::vector<std::optional<uint64_t>> offsets;  // of each shard's intact bytes
  std::vector<uint64_t> lost;
};

Result<std::string> read_text(const Source& source, const container::Block& block) {
  std::string text(block.stored_size, '\0');
  if (Status read = source.read(block.payload_offset(), std::as_writable_bytes(std::span(text)));
      !read) {
    return read.error();
  }
  return text;
}

// The first intact place with the metadata. Errors of a newer version stay errors.
Status find_metadata(const Source& source, const container::Survey& survey, Findings& found) {
  for (const SurveyedFrame& frame : survey.frames) {
    const bool holds = frame.section == container::Section::metadata ||
                       (frame.section == container::Section::block && frame.kind == kMetadataCopy);
    if (!holds || !frame.intact) continue;
    Result<std::string> text = read_text(source, frame);
    if (!text) return text.error();
    auto index = make_index(container::as_bytes(*text), source.name());
    if (!index && index.error().code == ErrorCode::unsupported) {
      return index.error();
    }
    if (!index) continue;
    found.index = std::move(*index);
    found.metadata = std::move(*text);
    return {};
  }
  return {};
}

bool is_shard(const SurveyedFrame& frame, uint64_t number, const HoloIndex& index) {
  const container::BlockInfo wanted = shard_block(number, index.layout.shards()[number]);
  return frame.intact && static_cast<const container::BlockInfo&>(frame) == wanted &&
         frame.payload_checksum == index.header.checksums[number];
}

Result<Findings> find_all(const Source& source, const container::Progress& progress) {
  const Result<container::Survey> survey =
      container::survey(source, holo_limits(source.size()), progress);
  if (!survey) return survey.error();
  Findings found;
  const Result<std::optional<container::FileHeader>> file =
      container::find_file_header(source, *survey);
  if (!file) return file.error();
  if (*file) found.flags = (*file)->flags;
  if (*file && (*file)->kind != kHoloKind) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("a Hoist container, but not of tensors ({}): `hoist container repair` "
                            "is for any kind",
                            source.name()));
  }
  if (Status metadata = find_metadata(source, *survey, found); !metadata) {
    return metadata.error();
  }
  if (found.index == nullptr) return found;
  const size_t shards = found.index->layout.shards().size();
  found.offsets.resize(shards);
  for (const SurveyedFrame& frame : survey->frames) {
    if (frame.section != container::Section::block || frame.id >= shards) continue;
    if (is_shard(frame, frame.id, *found.index)) found.offsets[frame.id] = frame.payload_offset();
  }
  for (uint64_t i = 0; i < shards; ++i) {
    if (!found.offsets[i]) found.lost.push_back(i);
  }
  return found;
}

size_t lost_of(const std::vector<uint64_t>& members, const Findings& found) {
  return static_cast<size_t>(std::count_if(members.begin(), members.end(), [&](uint64_t shard) {
    return !found.offsets[shard].has_value();
  }));
}

bool is_mendable(const ShardGroup& group, const Findings& found) {
  return lost_of(group.data, found) + lost_of(group.parity, found) <= group.parity.size();
}

bool is_stream_lost(const Findings& found, size_t stream) {
  const Layout& layout = found.index->layout;
  return std::any_of(
      layout.pieces(stream).begin(), layout.pieces(stream).end(), [&](const StreamPiece& piece) {
        const uint32_t group = layout.shards()[piece.shard].group;
        return !found.offsets[piece.shard] && !is_mendable(layout.groups()[group], found);
      });
}

bool is_tensor_lost(const Findings& found, size_t tensor) {
  const size_t parts = found.index->header.tensors[tensor].parts.size();
  for (size_t part = 0; part < parts; ++part) {
    if (is_stream_lost(found, found.index->layout.part_stream(tensor, part))) return true;
  }
  return false;
}

bool some_tensor_is_whole(const Findings& found) {
  for (size_t i = 0; i < found.index->header.tensors.size(); ++i) {
    if (!is_tensor_lost(found, i)) return true;
  }
  return false;
}

// Names of tensors, or of files whose headers are meant, that cannot be had whole.
std::vector<std::string> lost_tensors(const Findings& found) {
  const Layout& layout = found.index->layout;
  const HoloTensorHeader& header = found.index->header;
  std::vector<std::string> names;
  for (size_t i = 0; i < header.tensors.size(); ++i) {
    if (is_tensor_lost(found, i)) names.push_back(header.tensors[i].name);
  }
  for (size_t i = 0; i < header.files.size(); ++i) {
    if (is_stream_lost(found, layout.skeleton_stream(i))) {
      names.push_back(fmt::format("the header of {}", header.files[i].name));
    }
  }
  return names;
}

bool is_repairable(const Findings& found) {
  const std::vector<ShardGroup>& groups = found.index->layout.groups();
  return std::all_of(groups.begin(), groups.end(),
                     [&](const ShardGroup& group) { return is_mendable(group, found); });
}

// Each shard's checksum stands in its block's header and in the metadata: writers that agree.
Status compare_checksums(const Source& source, const HoloTensorReader& reader,
                         std::vector<uint64_t>& lost) {
  container::FrameWalker walker(source);
  for (uint64_t number = 0; number < reader.layout().shards().size(); ++number) {
    const container::Block* const block = reader.container().find(number);
    bool agrees = false;
    if (block != nullptr) {
      Result<container::Frame> frame = walker.at(block->offset);
      if (!frame && frame.error().code != ErrorCode::corrupt) {
        return frame.error();
      }
      SurveyedFrame surveyed;
      if (frame) static_cast<container::Frame&>(surveyed) = *frame;
      surveyed.intact = frame.has_value();
      agrees = is_shard(surveyed, number, *reader.index());
    }
    if (!agrees) lost.push_back(number);
  }
  return {};
}

// The lost shards of groups, computed and put where the rewriting finds them.
class Mender {
 public:
  Mender(const Source& source, const Findings& found, Spool& spool)
      : source_(source), found_(found), spool_(spool) {}

  Status mend_all();
  Status read(uint64_t shard, std::span<std::byte> into) const;

 private:
  Status mend(const ShardGroup& group);

  const Source& source_;
  const Findings& found_;
  Spool& spool_;
  std::unordered_map<uint64_t, uint64_t> mended_;  // shard, offset in the spool
};

Status Mender::mend(const ShardGroup& group) {
  const std::vector<ShardPlace>& shards = found_.index->layout.shards();
  std::vector<uint64_t> members = group.data;
  members.insert(members.end(), group.parity.begin(), group.parity.end());
  Result<codec::Parity> code = codec::Parity::create(group.data.size(), group.parity.size());
  if (!code) return code.error();
  std::vector<std::vector<std::byte>> buffers(members.size());
  std::vector<codec::Parity::Survivor> survivors;
  std::vector<codec::Parity::Wanted> wanted;
  for (size_t i = 0; i < members.size(); ++i) {
    const std::optional<uint64_t> offset = found_.offsets[members[i]];
    if (offset && survivors.size() == group.data.size()) continue;
    buffers[i].resize(group.shard_bytes);
    if (!offset) {
      wanted.push_back({i, buffers[i]});
      continue;
    }
    const auto into = std::span(buffers[i]).first(shards[members[i]].bytes);
    if (Status read = source_.read(*offset, into); !read) return read;
    survivors.push_back({i, buffers[i]});
  }
  if (Status done = code->reconstruct(survivors, wanted, &ThreadPool::process()); !done) {
    return done;
  }
  for (const codec::Parity::Wanted& shard : wanted) {
    const uint64_t number = members[shard.index];
    const auto bytes = shard.bytes.first(shards[number].bytes);
    if (xxh3_64(bytes.data(), bytes.size()) != found_.index->header.checksums[number]) {
      return fail(ErrorCode::corrupt,
                  fmt::format("what parity makes of shard {} has another checksum ({})", number,
                              source_.name()));
    }
    mended_[number] = spool_.size();
    if (Status spooled = spool_.append(bytes); !spooled) return spooled;
  }
  return {};
}

Status Mender::mend_all() {
  std::set<uint32_t> groups;
  for (const uint64_t shard : found_.lost)
    groups.insert(found_.index->layout.shards()[shard].group);
  for (const uint32_t group : groups) {
    if (Status mended = mend(found_.index->layout.groups()[group]); !mended) return mended;
  }
  return {};
}

Status Mender::read(uint64_t shard, std::span<std::byte> into) const {
  if (found_.offsets[shard]) return source_.read(*found_.offsets[shard], into);
  return spool_.read(mended_.at(shard), into);
}

Result<uint64_t> rewrite(const Findings& found, const Mender& mender, const std::string& path,
                         bool durable, const OutputRule& output) {
  const std::vector<ShardPlace>& shards = found.index->layout.shards();
  const uint32_t copies = found.index->header.parity;
  std::vector<container::BlockInfo> plan;
  for (const ShardPlace& shard : shards) plan.push_back(shard_block(plan.size(), shard));
  for (uint32_t i = 0; i < copies; ++i) {
    plan.push_back(metadata_copy_block(plan.size(), found.metadata.size()));
  }
  container::WriterOptions how = holo_writer_options(found.metadata, plan);
  how.digests = (found.flags & container::kDigests) != 0;
  how.durable = durable;
  how.output = output;
  Result<container::Writer> writer = container::Writer::create(path, how);
  if (!writer) return writer.error();
  std::vector<std::byte> buffer;
  for (uint64_t number = 0; number < plan.size(); ++number) {
    const bool is_copy = number >= shards.size();
    buffer.resize(std::max<size_t>(buffer.size(), plan[number].stored_size));
    const auto bytes = std::span(buffer).first(is_copy ? 0 : plan[number].stored_size);
    if (Status read = is_copy ? Status() : mender.read(number, bytes); !read) {
      return read.error();
    }
    const container::Bytes stored =
        is_copy ? container::as_bytes(found.metadata) : container::Bytes(bytes);
    if (Status added = writer->add(plan[number], stored); !added) {
      return added.error();
    }
  }
  if (Status done = writer->commit(); !done) return done.error();
  return writer->size();
}

Error too_much_lost(const Source& source, const Findings& found) {
  if (found.index == nullptr) {
    return fail(ErrorCode::corrupt,
                fmt::format("no place with the metadata is intact ({}): get the file again",
                            source.name()));
  }
  std::vector<std::string> names = lost_tensors(found);
  const size_t count = names.size();
  const char* const mend = some_tensor_is_whole(found)
                               ? "`hoist tensors unpack --skip-damaged` saves the other tensors"
                               : "get the file again";
  if (names.size() > 5) names.resize(5);
  return fail(ErrorCode::corrupt,
              fmt::format("{} shards are lost, more than parity gives back ({}): {}{} cannot be "
                          "read whole; {}",
                          found.lost.size(), source.name(), fmt::join(names, ", "),
                          count > 5 ? fmt::format(" and {} more", count - 5) : "", mend));
}

}  // namespace

Result<HoloVerifyReport> verify_holotensor(const Source& source,
                                           const container::Progress& progress) {
  if (Status ours = refuse_foreign(source); !ours) return ours.error();
  container::VerifyOptions options;
  options.limits = holo_limits(source.size());
  options.progress = progress;
  Result<container::VerifyReport> verified = container::verify(source, options);
  if (!verified) return verified.error();
  HoloVerifyReport report;
  report.container = std::move(*verified);
  if (report.container.ok()) {
    Result<HoloTensorReader> reader = HoloTensorReader::open(container::range_source(
        source.size(),
        [&](uint64_t offset, size_t size) -> Result<std::string> {
          std::string bytes(size, '\0');
          Status read = source.read(offset, std::as_writable_bytes(std::span(bytes)));
          if (!read) return read.error();
          return bytes;
        },
        source.name()));
    if (!reader) return reader.error();
    report.shards = reader->layout().shards().size();
    if (Status compared = compare_checksums(source, *reader, report.lost_shards); !compared) {
      return compared.error();
    }
    if (report.lost_shards.empty()) return report;
  }
  const Result<Findings> found = find_all(source, {});
  if (!found) return found.error();
  report.metadata_lost = found->index == nullptr;
  if (report.metadata_lost) return report;
  report.shards = found->offsets.size();
  report.lost_shards = found->lost;
  report.lost_tensors = lost_tensors(*found);
  report.repairable = is_repairable(*found);
  report.some_left = some_tensor_is_whole(*found);
  return report;
}

Result<HoloRepairReport> repair_holotensor(const Source& source, const std::string& path,
                                           const container::Progress& progress, bool durable,
                                           const OutputRule& output) {
  if (Status allowed = container::Output::check(path, output); !allowed) {
    return allowed.error();
  }
  if (Status ours = refuse_foreign(source); !ours) return ours.error();
  const Result<Findings> found = find_all(source, progress);
  if (!found) return found.error();
  if (found->index == nullptr || !is_repairable(*found)) return too_much_lost(source, *found);
  Result<Spool> spool = Spool::create(path);
  if (!spool) return spool.error();
  Mender mender(source, *found, *spool);
  if (Status mended = mender.mend_all(); !mended) return mended.error();
  const Result<uint64_t> size = rewrite(*found, mender, path, durable, output);
  if (!size) return size.error();
  return HoloRepairReport{found->offsets.size(), found->lost.size(), *size};
}

}  // namespace hoist::tensors
