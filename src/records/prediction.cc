#include "records/prediction.h"

#include "base/varint.h"

namespace hoist::records {
namespace {

int64_t add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// Calls body with the predictor as a constant: the loops in it are then made for each.
template <typename Body>
void with_constant(Predictor predictor, const Body& body) {
  switch (predictor) {
    case Predictor::none:
      return body([] { return Predictor::none; });
    case Predictor::last:
      return body([] { return Predictor::last; });
    case Predictor::line:
      return body([] { return Predictor::line; });
    case Predictor::other:
      return body([] { return Predictor::other; });
    case Predictor::other_last:
      return body([] { return Predictor::other_last; });
    case Predictor::group_last:
      return body([] { return Predictor::group_last; });
    case Predictor::group_other:
      return body([] { return Predictor::group_other; });
    case Predictor::larger:
      return body([] { return Predictor::larger; });
    case Predictor::smaller:
      return body([] { return Predictor::smaller; });
  }
}

}  // namespace

bool has_first(Predictor predictor) {
  return predictor == Predictor::other || predictor == Predictor::other_last ||
         predictor == Predictor::group_other || has_second(predictor);
}
bool has_second(Predictor predictor) {
  return predictor == Predictor::larger || predictor == Predictor::smaller;
}
bool has_group(Predictor predictor) {
  return predictor == Predictor::group_last || predictor == Predictor::group_other;
}
bool starts_with_value(Predictor predictor) {
  return predictor == Predictor::last || predictor == Predictor::line ||
         predictor == Predictor::other_last || has_group(predictor);
}

void write_prediction(const Prediction& prediction, std::string& out) {
  out.push_back(static_cast<char>(prediction.predictor));
  if (has_first(prediction.predictor)) write_varint(out, prediction.first);
  if (has_second(prediction.predictor)) write_varint(out, prediction.second);
  if (has_group(prediction.predictor)) write_varint(out, prediction.group);
}

Result<Prediction> read_prediction(ByteReader& in, size_t columns) {
  Prediction prediction;
  const auto number = in.read<uint8_t>();
  if (number > static_cast<uint8_t>(Predictor::smaller)) {
    return fail(ErrorCode::unsupported,
                "a column has an unknown prediction: this version of Hoist is too old");
  }
  prediction.predictor = static_cast<Predictor>(number);
  bool good = true;
  const auto source = [&] {
    const uint64_t column = read_varint(in);
    good &= column < columns;
    return static_cast<uint32_t>(column);
  };
  if (has_first(prediction.predictor)) prediction.first = source();
  if (has_second(prediction.predictor)) prediction.second = source();
  if (has_group(prediction.predictor)) prediction.group = source();
  if (!good || !in.ok()) return fail(ErrorCode::corrupt, "a column's prediction is damaged");
  return prediction;
}

std::vector<uint32_t> positions_before(std::span<const int64_t> group, size_t codes) {
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> last(codes, kNone);
  std::vector<uint32_t> before(group.size());
  for (uint32_t i = 0; i < group.size(); ++i) {
    uint32_t& position = last[static_cast<size_t>(group[i])];
    before[i] = position == kNone ? (i == 0 ? 0 : i - 1) : position;
    position = i;
  }
  return before;
}

std::vector<int64_t> differences(Predictor predictor, std::span<const int64_t> values,
                                 const Sources& sources) {
  const size_t first = starts_with_value(predictor) && !values.empty() ? 1 : 0;
  std::vector<int64_t> out(values.size() - first);
  with_constant(predictor, [&](auto constant) {
    for (size_t i = first; i < values.size(); ++i) {
      const int64_t predicted = predict(constant(), values, sources, i);
      out[i - first] =
          static_cast<int64_t>(static_cast<uint64_t>(values[i]) - static_cast<uint64_t>(predicted));
    }
  });
  return out;
}

void add_predictions(Predictor predictor, std::span<int64_t> values, const Sources& sources) {
  const size_t first = starts_with_value(predictor) ? 1 : 0;
  with_constant(predictor, [&](auto constant) {
    for (size_t i = first; i < values.size(); ++i) {
      values[i] = add(values[i], predict(constant(), values, sources, i));
    }
  });
}

}  // namespace hoist::records
