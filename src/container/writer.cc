#include "container/writer.h"

#include <fmt/core.h>

#include <new>
#include <unordered_set>

#include "container/digest.h"
#include "container/output.h"
#include "container/reader.h"

namespace hoist::container {

struct Writer::State {
  State(Output out, FileHeader file, bool is_durable)
      : output(std::move(out)), header(file), durable(is_durable) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (output.offset() != committed_end) output.abandon(committed_end);
  }

  Output output;
  FileHeader header;
  bool durable;
  std::vector<Block> blocks;
  std::unordered_set<uint64_t> ids;
  std::vector<Blake3Digest> digests;
  std::optional<RootDigest> root;
  std::vector<ListPlace> lists;
  size_t listed = 0;    // blocks in lists
  size_t digested = 0;  // digests in lists
  std::vector<Block> plan;
  uint64_t committed_end = 0;  // 0: never
  size_t committed_blocks = 0;
  Blake3Digest committed_root{};

  Status start(const WriterOptions& options);
  Status start_plan(const std::vector<BlockInfo>& plan_of_blocks);
  Status resume(const Reader& reader);
  Status check_new(const BlockInfo& block) const;
  Status write_frame(Frame frame, Bytes payload);
  Status write_commit();
  Status add(const BlockInfo& block, Bytes stored);
  Status commit();
  Status out_of_memory();
};

namespace {

Error invalid(std::string message) { return fail(ErrorCode::invalid_argument, std::move(message)); }

Frame list_frame(Section section, uint64_t offset, size_t size, uint64_t id) {
  Frame frame;
  frame.section = section;
  frame.offset = offset;
  frame.id = id;
  frame.raw_size = frame.stored_size = size;
  return frame;
}

}  // namespace

Status Writer::State::write_frame(Frame frame, Bytes payload) {
  if (Status head = output.write(encode_frame_header(frame)); !head) return head;
  const uint64_t padding = frame.payload_offset() - frame.offset - kFrameHeaderSize;
  if (Status zeros = output.zeros(padding); !zeros) return zeros;
  return output.write(payload);
}

Status Writer::State::start(const WriterOptions& options) {
  if (Status head = output.write(encode_file_header(header)); !head) return head;
  const Bytes bytes = as_bytes(options.metadata);
  Frame metadata = list_frame(Section::metadata, output.offset(), bytes.size(), 0);
  metadata.payload_checksum = checksum(bytes);
  if (options.digests) root.emplace(header, digest_of(metadata, bytes));
  if (Status written = write_frame(metadata, bytes); !written) return written;
  return options.plan ? start_plan(*options.plan) : Status();
}

// Lays the planned blocks out behind their index.
Status Writer::State::start_plan(const std::vector<BlockInfo>& plan_of_blocks) {
  const size_t list_size = kListHeaderSize + plan_of_blocks.size() * kIndexEntrySize;
  Frame index = list_frame(Section::index, output.offset(), list_size, 0);
  uint64_t offset = index.end();
  for (const BlockInfo& info : plan_of_blocks) {
    if (Status keeps = check_block(info); !keeps) {
      return invalid(fmt::format("planned block {}: {}", info.id, keeps.error().message));
    }
    if (!ids.insert(info.id).second) {
      return invalid(fmt::format("block {} is planned twice: ids are unique", info.id));
    }
    const Block block{info, offset};
    plan.push_back(block);
    offset = block.end();
    if (offset > kMaxSize) return invalid("the plan is beyond the format's limit of 2^60 bytes");
  }
  ids.clear();
  const std::string payload = encode_list({.total = plan.size(), .file = header}, plan, {});
  index.payload_checksum = checksum(as_bytes(payload));
  lists.push_back({index.offset, plan.size(), 0});
  listed = plan.size();
  return write_frame(index, as_bytes(payload));
}

Status Writer::State::check_new(const BlockInfo& block) const {
  if (Status keeps = check_block(block); !keeps) {
    return invalid(fmt::format("block {}: {}", block.id, keeps.error().message));
  }
  if (ids.contains(block.id)) {
    return invalid(fmt::format("block {} is in the container already ({}): ids are unique",
                               block.id, output.name()));
  }
  if (output.offset() + kFrameHeaderSize + block.stored_size > kMaxSize) {
    return invalid("the container would pass the format's limit of 2^60 bytes");
  }
  if (blocks.size() < plan.size() && static_cast<const BlockInfo&>(plan[blocks.size()]) != block) {
    return invalid(
        fmt::format("block {} is not what the plan has in its place: add blocks as "
                    "they were planned",
                    block.id));
  }
  return {};
}

// The list of what no list holds yet, and of the lists that it takes in.
Status Writer::State::write_commit() {
  const size_t merged = lists_to_merge(lists, blocks.size() - listed);
  size_t first_entry = listed;
  size_t first_digest = digested;
  for (size_t i = 0; i < merged; ++i) {
    first_entry -= lists.back().entries;
    first_digest -= lists.back().digests;
    lists.pop_back();
  }
  ListHeader list;
  list.previous = lists.empty() ? 0 : lists.back().offset;
  list.total = blocks.size();
  list.file = header;
  if (root) list.root = root->finish();
  const auto entries = std::span(blocks).subspan(first_entry);
  const auto new_digests = std::span(digests).subspan(first_digest);
  std::string payload = encode_list(list, entries, new_digests);

  const uint64_t offset = output.offset();
  encode_trailer(offset, offset + kFrameHeaderSize + payload.size(), payload);
  Frame frame = list_frame(Section::commit, offset, payload.size(), blocks.size());
  frame.payload_checksum = checksum(as_bytes(payload));
  if (Status written = write_frame(frame, as_bytes(payload)); !written) return written;
  lists.push_back({offset, entries.size(), new_digests.size()});
  listed = blocks.size();
  digested = digests.size();
  committed_root = list.root;
  return {};
}

Status Writer::State::resume(const Reader& reader) {
  const auto damaged = [&](std::string_view what) {
    return fail(ErrorCode::corrupt,
                fmt::format("{} ({}): run `hoist container repair` first", what, output.name()));
  };
  if (reader.state() == IndexState::uncommitted) return damaged("the container has no commit");
  const Index& index = reader.index();
  if (reader.state() == IndexState::recovered) {
    Result<bool> behind = has_commit_behind(reader.source(), reader.committed_end());
    if (!behind) return behind.error();
    if (*behind) return damaged("the container is damaged before its last commit");
  }
  const bool has_digests = (header.flags & kDigests) != 0;
  if (has_digests && index.digests.size() != index.blocks.size()) {
    return damaged("the container's digests are damaged");
  }
  blocks = index.blocks;
  digests = index.digests;
  lists = index.lists;
  // Where the last list is damaged, the next one lists all.
  listed = lists.empty() ? 0 : blocks.size();
  digested = digests.size();
  for (const Block& block : blocks) ids.insert(block.id);
  if (has_digests) {
    root.emplace(header, digest_of(reader.metadata_frame(), reader.metadata()));
    root->add(digests);
    committed_root = root->finish();
  }
  committed_end = reader.committed_end();
  committed_blocks = blocks.size();
  return output.restart_at(committed_end);
}

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;

Writer::~Writer() = default;

Result<Writer> Writer::create(const std::string& path, const WriterOptions& options) {
  Result<Output> output = Output::create(path, options.mode, options.output, options.lock_replaced);
  if (!output) return output.error();
  return begin(std::move(*output), options);
}

Result<Writer> Writer::stream(int fd, const WriterOptions& options, std::string name) {
  Result<Output> output = Output::stream(fd, std::move(name));
  if (!output) return output.error();
  return begin(std::move(*output), options);
}

Result<Writer> Writer::begin(Output output, const WriterOptions& options) {
  FileHeader header{.kind = options.kind};
  if (options.plan) header.flags |= kFrontIndex;
  if (options.digests) header.flags |= kDigests;
  auto state = std::make_unique<State>(std::move(output), header, options.durable);
  if (Status started = state->start(options); !started) return started.error();
  return Writer(std::move(state));
}

Result<Writer> Writer::append(const std::string& path, const AppendOptions& options) {
  Result<Output> output = Output::append(path);
  if (!output) return output.error();
  // The locked file, whatever has its name by now.
  Result<UniqueFd> same = output->duplicate();
  if (!same) return same.error();
  Result<std::unique_ptr<Source>> source = file_source(std::move(*same), path);
  if (!source) return source.error();
  Result<Reader> reader = Reader::open(std::move(*source), {.limits = options.limits});
  if (!reader) return reader.error();
  auto state = std::make_unique<State>(std::move(*output), reader->header(), options.durable);
  if (Status resumed = state->resume(*reader); !resumed) return resumed.error();
  return Writer(std::move(state));
}

Status Writer::State::add(const BlockInfo& block, Bytes stored) {
  Frame frame;
  static_cast<BlockInfo&>(frame) = block;
  frame.offset = output.offset();
  frame.payload_checksum = checksum(stored);
  if (Status written = write_frame(frame, stored); !written) return written;
  ids.insert(block.id);
  blocks.push_back(frame);
  if (root) {
    digests.push_back(digest_of(frame, stored));
    root->add({&digests.back(), 1});
  }
  return {};
}

Status Writer::State::commit() {
  if (Status synced = output.sync(durable); !synced) return synced;
  if (Status written = write_commit(); !written) return written;
  if (Status synced = output.sync(durable); !synced) return synced;
  if (Status published = output.publish(durable); !published) return published;
  committed_end = output.offset();
  committed_blocks = blocks.size();
  return output.check_name();
}

// What was written may not be what is remembered: nothing more is written. The message is short
// enough to need no memory of its own.
Status Writer::State::out_of_memory() {
  return output.broken(fail(ErrorCode::exhausted, "out of memory"));
}

Status Writer::add(BlockInfo block, Bytes stored) {
  if (block.stored_size != 0 && block.stored_size != stored.size()) {
    return invalid(fmt::format("block {} is said to be {} bytes long and is {}", block.id,
                               block.stored_size, stored.size()));
  }
  block.stored_size = stored.size();
  if (Status is_new = state_->check_new(block); !is_new) return is_new;
  try {
    return state_->add(block, stored);
  } catch (const std::bad_alloc&) {
    return state_->out_of_memory();
  }
}

Status Writer::add(uint64_t id, Bytes raw) { return add({.id = id, .raw_size = raw.size()}, raw); }

Status Writer::commit() {
  State& state = *state_;
  if (!state.output.status()) return state.output.status();
  if (state.blocks.size() < state.plan.size()) {
    return invalid(fmt::format("{} of {} planned blocks are missing ({}): add them first",
                               state.plan.size() - state.blocks.size(), state.plan.size(),
                               state.output.name()));
  }
  if (state.committed_end != 0 && state.blocks.size() == state.committed_blocks) return {};
  try {
    return state.commit();
  } catch (const std::bad_alloc&) {
    return state.out_of_memory();
  }
}

std::optional<Blake3Digest> Writer::root() const {
  const bool has_root = state_->root && state_->committed_end != 0;
  return has_root ? std::optional(state_->committed_root) : std::nullopt;
}

uint64_t Writer::size() const { return state_->output.offset(); }

}  // namespace hoist::container
