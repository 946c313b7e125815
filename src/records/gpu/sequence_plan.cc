#include "records/gpu/sequence_plan.h"

#include <algorithm>
#include <cstring>

#include "base/varint.h"
#include "codec/entropy.h"
#include "records/byte_stream.h"
#include "records/integer_stream.h"

namespace hoist::records {
namespace {

Error damaged() { return fail(ErrorCode::corrupt, "a column of the block is damaged"); }

constexpr size_t kPadding = 16;

SymbolTable symbol_table(const codec::EntropyTable& table) {
  SymbolTable made{};
  for (const codec::EntropyCode code : table.codes()) made.frequencies[code.value] = code.frequency;
  made.escape_frequency = static_cast<uint16_t>(table.escape_frequency());
  made.escape = static_cast<uint16_t>(table.decode_table().escape);
  return made;
}

}  // namespace

Arena::Piece SequencePlan::room(size_t size) {
  if (const std::optional<Arena::Piece> piece = context_.staged->take(size + kPadding); piece) {
    std::memset(piece->host + size, 0, kPadding);
    return *piece;
  }
  full_ = true;
  spare_.resize(std::max(spare_.size(), size + kPadding));
  return {spare_.data(), nullptr};
}

std::byte* SequencePlan::stage(std::span<const std::byte> bytes) {
  const Arena::Piece piece = room(bytes.size());
  if (!bytes.empty()) std::memcpy(piece.host, bytes.data(), bytes.size());
  return piece.device;
}

std::byte* SequencePlan::scratch(size_t size) {
  const std::optional<Arena::Piece> piece = context_.scratch->take(size);
  if (!piece) full_ = true;
  return piece ? piece->device : nullptr;
}

Result<const ColumnLayout*> SequencePlan::layout(size_t column) {
  for (;;) {
    auto found = layouts_.find(column);
    if (found == layouts_.end()) {
      const BlockColumn& about = block_.columns()[column];
      Result<ColumnLayout> read = read_layout(about.bytes, about.values, column);
      if (!read) return read.error();
      found = layouts_.emplace(column, std::move(*read)).first;
    }
    if (found->second.type != ColumnType::copy) return &found->second;
    const size_t copied = found->second.copied;
    if (block_.columns()[copied].values != block_.columns()[column].values) return damaged();
    column = copied;
  }
}

Result<const uint8_t*> SequencePlan::symbols_by_cpu(std::span<const std::byte> stream,
                                                    size_t count) {
  const Arena::Piece piece = room(count);
  const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(piece.host), count);
  if (Status status = decode_bytes(stream, bytes); !status) return status.error();
  return reinterpret_cast<const uint8_t*>(piece.device);
}

Result<const uint8_t*> SequencePlan::coded_symbols(std::span<const std::byte> stream,
                                                   size_t count) {
  ByteReader in(stream.subspan(1));
  const std::span<const std::byte> table_bytes = in.take(read_varint(in));
  if (!in.ok()) return damaged();
  const auto table = codec::EntropyTable::parse(table_bytes);
  if (!table) return table.error();
  if (table->symbols_per_code() != 1) return symbols_by_cpu(stream, count);
  const std::span<const std::byte> section = in.take(in.remaining());
  const auto view = codec::EntropyView::parse(section);
  if (!view) return view.error();
  if (view->symbols() != count) return damaged();
  const SymbolTable small = symbol_table(*table);
  const auto* const staged_table =
      reinterpret_cast<const SymbolTable*>(stage(std::as_bytes(std::span(&small, 1))));
  const auto* const bytes = reinterpret_cast<const uint8_t*>(stage(section));
  auto* const symbols = reinterpret_cast<uint8_t*>(scratch(count + kPadding));
  for (const codec::EntropyTile& tile : view->tiles()) {
    jobs_.symbols.push_back({.table = staged_table,
                             .bytes = bytes + tile.offset,
                             .symbols = symbols + tile.first_symbol,
                             .size = tile.size,
                             .count = tile.symbols,
                             .flag = flag_});
  }
  return symbols;
}

Result<const uint8_t*> SequencePlan::symbols(std::span<const std::byte> stream, size_t count,
                                             SequenceJob& job) {
  if (stream.empty()) return damaged();
  switch (static_cast<ByteMethod>(stream[0])) {
    case ByteMethod::constant:
      if (stream.size() != 2) return damaged();
      job.symbol = static_cast<uint8_t>(stream[1]);
      return nullptr;
    case ByteMethod::entropy:
      return coded_symbols(stream, count);
    default:
      return symbols_by_cpu(stream, count);
  }
}

Status SequencePlan::tokens(std::span<const std::byte> stream, size_t count, SequenceJob& job) {
  ByteReader in(stream);
  const std::span<const std::byte> coded = in.take(read_varint(in));
  const std::span<const std::byte> low = in.take(in.remaining());
  if (!in.ok()) return damaged();
  const Result<const uint8_t*> found = symbols(coded, count, job);
  if (!found) return found.error();
  job.symbols = *found;
  job.low_bits = reinterpret_cast<const uint64_t*>(stage(low));
  job.low_bytes = low.size();
  return {};
}

Status SequencePlan::integers_by_cpu(std::span<const std::byte> stream, size_t count,
                                     SequenceJob& job) {
  const Result<std::vector<int64_t>> values = decode_integer_stream(stream, count);
  if (!values) return values.error();
  send(*values, job);
  return {};
}

Status SequencePlan::whole_by_cpu(size_t column, SequenceJob& job) {
  const Result<ColumnValues> read = block_.read(column);
  if (!read) return read.error();
  const DecodedColumn& decoded = *read->column;
  const std::vector<int64_t>& values =
      decoded.type == ColumnType::dictionary ? decoded.codes : decoded.numbers.values;
  if (values.size() != job.count) return damaged();
  job.predictor = Predictor::none;
  job.stored = 0;
  job.a = job.b = job.group = nullptr;
  send(values, job);
  return {};
}

void SequencePlan::send(std::span<const int64_t> values, SequenceJob& job) {
  const size_t count = values.size();
  uint64_t all = 0;
  for (const int64_t value : values) all |= zigzag(value);
  job.coding = IntegerCoding::raw;
  job.raw_bytes = all >> 8 == 0 ? 1 : all >> 16 == 0 ? 2 : all >> 32 == 0 ? 4 : 8;
  const Arena::Piece piece = room(count * job.raw_bytes);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t value = zigzag(values[i]);
    std::memcpy(piece.host + i * job.raw_bytes, &value, job.raw_bytes);  // little-endian
  }
  job.raw = piece.device;
}

Status SequencePlan::integers(std::span<const std::byte> stream, size_t count, SequenceJob& job) {
  ByteReader in(stream);
  const auto method = static_cast<IntegerMethod>(in.read<uint8_t>());
  if (!in.ok()) return damaged();
  switch (method) {
    case IntegerMethod::constant:
      job.coding = IntegerCoding::constant;
      job.base = static_cast<uint64_t>(unzigzag(read_varint(in)));
      return in.ok() && in.remaining() == 0 ? Status() : damaged();
    case IntegerMethod::dictionary: {
      std::vector<int64_t> entries(std::min<uint64_t>(read_varint(in), 257));
      if (entries.size() > 256) return damaged();
      for (int64_t& entry : entries) entry = unzigzag(read_varint(in));
      if (!in.ok()) return damaged();
      job.coding = IntegerCoding::entries;
      job.entries = reinterpret_cast<const int64_t*>(stage(std::as_bytes(std::span(entries))));
      job.entry_count = static_cast<uint32_t>(entries.size());
      const Result<const uint8_t*> found = symbols(in.take(in.remaining()), count, job);
      if (!found) return found.error();
      job.symbols = *found;
      return {};
    }
    case IntegerMethod::from_least:
      job.coding = IntegerCoding::tokens;
      job.base = static_cast<uint64_t>(unzigzag(read_varint(in)));
      if (!in.ok()) return damaged();
      return tokens(in.take(in.remaining()), count, job);
    case IntegerMethod::zigzag:
      job.coding = IntegerCoding::zigzag;
      return tokens(in.take(in.remaining()), count, job);
    default:
      return integers_by_cpu(stream, count, job);
  }
}

bool SequencePlan::sources(const Prediction& prediction, bool has_all, SequenceJob& job,
                           size_t& level) {
  // The sources of columns with exceptions are lined up with their numbers, which the CPU does.
  const bool has_sources = has_first(job.predictor) || has_group(job.predictor);
  bool known = is_known(job.predictor) && (!has_sources || has_all);
  const bool is_product =
      job.predictor == Predictor::product || job.predictor == Predictor::quotient;
  job.factor = is_product ? power_of_ten_factor(prediction.factor) : prediction.factor;
  const auto source = [&](uint32_t column) {
    const Planned& planned = planned_[column];
    known &= planned.count == job.count && planned.has_all;
    level = std::max(level, planned.level + 1);
    return planned;
  };
  if (known && has_first(job.predictor)) job.a = source(prediction.first).values;
  if (known && has_second(job.predictor)) job.b = source(prediction.second).values;
  if (known && has_group(job.predictor)) {
    const Planned group = source(prediction.group);
    known &= group.codes > 0;
    job.group = group.values;
    job.group_codes = group.codes;
    if (known) {
      job.last_positions =
          reinterpret_cast<uint32_t*>(scratch(group.codes * sizeof(uint32_t) + kPadding));
    }
  }
  return known;
}

Result<SequencePlan::Planned> SequencePlan::sequence(size_t column) {
  if (const auto found = planned_.find(column); found != planned_.end()) return found->second;
  // Sources come before what is made of them, as deep as these go.
  std::vector<bool> needed(column + 1);
  needed[column] = true;
  for (size_t i = column + 1; i-- > 0;) {
    if (!needed[i] || planned_.contains(i)) continue;
    const Result<std::vector<uint32_t>> sources = sources_of(block_.columns()[i].bytes, i);
    if (!sources) return sources.error();
    for (const uint32_t source : *sources) needed[source] = true;
  }
  for (size_t i = 0; i <= column; ++i) {
    if (!needed[i] || planned_.contains(i)) continue;
    if (Status status = plan(i); !status) return status.error();
  }
  return planned_[column];
}

Status SequencePlan::plan(size_t column) {
  const Result<const ColumnLayout*> about = layout(column);
  if (!about) return about.error();
  const ColumnLayout& layout = **about;
  if (const ColumnLayout& own = layouts_.at(column); own.type == ColumnType::copy) {
    planned_[column] = planned_[own.copied];
    return {};
  }
  Planned planned;
  if (layout.type == ColumnType::dictionary || layout.type == ColumnType::numbers) {
    const SequenceLayout& from = layout.sequence;
    const bool is_dictionary = layout.type == ColumnType::dictionary;
    // A dictionary without entries has no values, either.
    if (is_dictionary && layout.texts == 0 && from.count > 0) return damaged();
    SequenceJob job{};
    job.count = static_cast<uint32_t>(from.count);
    job.stored = from.stores_first ? 1 : 0;
    job.first = from.first;
    job.predictor = from.prediction.predictor;
    job.flag = flag_;
    job.codes = is_dictionary ? static_cast<uint32_t>(layout.texts) : 0;
    planned.has_all = from.count == block_.columns()[column].values;
    if (sources(from.prediction, planned.has_all, job, planned.level)) {
      planned.on_cpu = false;
      for_sources(from.prediction, [&](uint32_t i) { planned.on_cpu |= planned_[i].on_cpu; });
      if (Status status = integers(from.integers, from.differences(), job); !status) return status;
    } else {
      planned.on_cpu = true;
      if (Status status = whole_by_cpu(column, job); !status) return status;
    }
    job.values = reinterpret_cast<int64_t*>(scratch(from.count * sizeof(int64_t) + kPadding));
    planned.values = job.values;
    planned.count = from.count;
    planned.codes = job.codes;
    if (jobs_.sequences.size() <= planned.level) jobs_.sequences.resize(planned.level + 1);
    if (job.count > 0) jobs_.sequences[planned.level].push_back(job);
  }
  planned_[column] = planned;
  return {};
}

}  // namespace hoist::records
