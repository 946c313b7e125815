#include "python/records_meaning.h"

#include "records/gpu/output_values.h"
#include "records/number_text.h"
#include "records/typed/plain_text.h"
#include "records/typed/scalars.h"

namespace hoist::python {

using namespace records;

RecordsMeaning::RecordsMeaning(std::vector<DeviceColumnType> columns)
    : columns_(std::move(columns)), misfit_(columns_.size()) {
  for (size_t i = 0; i < columns_.size(); ++i) codes_.push_back(std::make_unique<Codes>());
}

Answer RecordsMeaning::code(size_t wanted, std::string_view text) {
  Codes& codes = *codes_[wanted];
  const std::lock_guard lock(codes.mutex);
  return {codes.numbers.try_emplace(std::string(text), codes.numbers.size()).first->second, 1};
}

Answer RecordsMeaning::decimal(size_t wanted, std::string_view text) {
  const uint8_t digits = columns_[wanted].wanted.digits;
  std::optional<Decimal> decimal = parse_decimal(text);
  if (!decimal) {
    if (const std::optional<int64_t> integer = parse_integer(text)) decimal = Decimal{*integer, 0};
  }
  int64_t scaled = 0;
  if (!decimal || decimal->scale > digits ||
      !times(decimal->mantissa, power_of_ten(digits - decimal->scale), scaled)) {
    misfit_ = wanted;
    return {0, 0};
  }
  return {static_cast<uint64_t>(scaled), 1};
}

Answer RecordsMeaning::answer(size_t wanted, std::string_view text, Format format,
                              ColumnKind kind) {
  const auto of = [](std::optional<int64_t> value) {
    return Answer{static_cast<uint64_t>(value.value_or(0)), value ? 1u : 0u};
  };
  const ColumnType& type = columns_[wanted].type;
  if (type.kind == ValueKind::text) {
    if (is_missing_text(text, format, kind)) return {0, 0};
    std::string storage;
    return code(wanted, plain_text(text, format, kind, storage));
  }
  if (is_missing(text, format, kind)) return {0, 0};
  switch (columns_[wanted].wanted.type) {
    case DeviceType::boolean:
      return of(boolean(text, format, kind));
    case DeviceType::int64:
      return of(parse_integer(text));
    case DeviceType::decimal:
      return decimal(wanted, text);
    case DeviceType::timestamp: {
      const std::optional<DateForm> form = date_form(text);
      if (!form) return {0, 0};
      const std::optional<int64_t> count = parse_date(*form, text);
      return of(count ? typed::timestamp(*form, *count, type.fraction) : std::nullopt);
    }
    default:
      break;
  }
  return {bits_of(real(text)), 1};
}

std::optional<int64_t> RecordsMeaning::timestamp(size_t wanted, const DateForm& form,
                                                 int64_t count) {
  return typed::timestamp(form, count, columns_[wanted].type.fraction);
}

Result<std::vector<Answer>> RecordsMeaning::answers(size_t wanted, const Block& block) {
  const ColumnType& type = columns_[wanted].type;
  const DeviceType as = columns_[wanted].wanted.type;
  const std::vector<bool> all(block.rows(), true);
  const Result<ColumnChunk> chunk = read_column(block, type, all);
  if (!chunk) return chunk.error();
  std::vector<Answer> answers;
  answers.reserve(block.rows());
  for (size_t i = 0; i < chunk->valid.size(); ++i) {
    if (chunk->valid[i] == 0) {
      answers.push_back({0, 0});
    } else if (type.kind == ValueKind::text) {
      const auto begin = static_cast<size_t>(chunk->offsets[i]);
      const auto end = static_cast<size_t>(chunk->offsets[i + 1]);
      answers.push_back(code(wanted, {chunk->bytes.data() + begin, end - begin}));
    } else if (as == DeviceType::decimal) {
      // The double has lost digits: only texts have them all.
      misfit_ = wanted;
      answers.push_back({0, 0});
    } else if (type.kind == ValueKind::real) {
      answers.push_back({bits_of(chunk->reals[i]), 1});
    } else if (as == DeviceType::float64 || as == DeviceType::float32) {
      answers.push_back({bits_of(static_cast<double>(chunk->integers[i])), 1});
    } else {
      answers.push_back({static_cast<uint64_t>(chunk->integers[i]), 1});
    }
  }
  return answers;
}

Status RecordsMeaning::status() const {
  const size_t misfit = misfit_;
  if (misfit == columns_.size()) return {};
  return fail(ErrorCode::invalid_argument,
              "column " + columns_[misfit].type.name +
                  " has numbers that are no decimals of 64 bits: ask for float64");
}

std::vector<std::string> RecordsMeaning::texts(size_t wanted) const {
  const Codes& codes = *codes_[wanted];
  std::vector<std::string> texts(codes.numbers.size());
  for (const auto& [text, number] : codes.numbers) texts[number] = text;
  return texts;
}

}  // namespace hoist::python
