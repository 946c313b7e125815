#include "container/repair.h"

#include <fmt/core.h>

#include <unordered_set>

#include "container/output.h"
#include "container/reader.h"
#include "container/writer.h"

namespace hoist::container {
namespace {

Result<BlockBytes> read_payload(const Source& source, const Frame& frame, uint64_t limit) {
  if (frame.stored_size > limit) {
    return fail(ErrorCode::exhausted, fmt::format("a part of {} bytes ({} at {}) is beyond the "
                                                  "limit: raise it",
                                                  frame.stored_size, source.name(), frame.offset));
  }
  BlockBytes bytes = BlockBytes::allocate(frame.stored_size);
  if (bytes.size() != frame.stored_size) {
    return fail(ErrorCode::exhausted, fmt::format("no memory for {} bytes", frame.stored_size));
  }
  if (Status read = source.read(frame.payload_offset(), MutableBytes(bytes)); !read) {
    return read.error();
  }
  // The file may have changed since it was surveyed.
  if (checksum(bytes) != frame.payload_checksum) {
    return fail(ErrorCode::corrupt, fmt::format("the file changes while it is read ({}): repair "
                                                "a copy",
                                                source.name()));
  }
  return bytes;
}

Result<WriterOptions> options_of(const Source& source, const Survey& survey, const Limits& limits,
                                 RepairReport& report) {
  WriterOptions options;
  Result<std::optional<FileHeader>> header = find_file_header(source, survey);
  if (!header) return header.error();
  report.kind_lost = !header->has_value();
  if (*header) {
    options.kind = (*header)->kind;
    options.digests = ((*header)->flags & kDigests) != 0;
  }
  const bool has_metadata = !survey.frames.empty() && survey.frames.front().intact &&
                            survey.frames.front().section == Section::metadata;
  report.metadata_lost = !has_metadata;
  if (has_metadata) {
    Result<BlockBytes> bytes = read_payload(source, survey.frames.front(), limits.metadata);
    if (!bytes) return bytes.error();
    options.metadata.assign(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  }
  return options;
}

Status copy_blocks(const Source& source, const Survey& survey, const Limits& limits, Writer& writer,
                   RepairReport& report) {
  std::unordered_set<uint64_t> ids;
  for (const SurveyedFrame& frame : survey.frames) {
    if (frame.section != Section::block || !frame.intact) continue;
    if (!ids.insert(frame.id).second) {
      ++report.duplicates;
      continue;
    }
    Result<BlockBytes> bytes = read_payload(source, frame, limits.block);
    if (!bytes) return bytes.error();
    if (Status added = writer.add(frame, *bytes); !added) return added;
    ++report.blocks;
    report.stored_bytes += frame.stored_size;
  }
  return {};
}

}  // namespace

Result<RepairReport> repair(const Source& source, const std::string& path,
                            const RepairOptions& options) {
  // Before an hour of reading.
  if (Status allowed = Output::check(path, options.output); !allowed) {
    return allowed.error();
  }
  Result<Survey> surveyed = survey(source, options.limits, options.progress);
  if (!surveyed) return surveyed.error();
  if (surveyed->frames.empty()) {
    return fail(ErrorCode::corrupt, fmt::format("nothing of a container is to be found ({}): get "
                                                "the file again",
                                                source.name()));
  }
  RepairReport report;
  Result<WriterOptions> writer_options = options_of(source, *surveyed, options.limits, report);
  if (!writer_options) return writer_options.error();
  writer_options->durable = options.durable;
  writer_options->output = options.output;
  Result<Writer> writer = Writer::create(path, *writer_options);
  if (!writer) return writer.error();
  if (Status copied = copy_blocks(source, *surveyed, options.limits, *writer, report); !copied) {
    return copied.error();
  }
  if (Status committed = writer->commit(); !committed) return committed.error();
  report.damage = std::move(surveyed->damage);
  report.damage_count = surveyed->damage_count;
  return report;
}

}  // namespace hoist::container
