#include "cli/px/run_values.h"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "base/nearest_word.h"
#include "cli/assignments.h"
#include "px/lower/literal.h"

namespace hoist::cli {
namespace {

Error refuse(std::string what) { return fail(ErrorCode::invalid_argument, std::move(what)); }

Error unknown(const std::string& option, const std::string& what, const std::string& name,
              const std::vector<std::string>& known) {
  const std::string nearest = nearest_word(name, known);
  return refuse(fmt::format(
      "no {} {} ({}): {}", what, name, option,
      nearest.empty()
          ? fmt::format("the file has {}",
                        known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")))
          : fmt::format("is it {}?", nearest)));
}

Result<const px::HostArray*> find_array(const std::string& option, const std::string& name,
                                        const px::HostProgram& host) {
  const px::HostArray* array = host.find_array(name);
  if (array != nullptr && !array->is_allocated) return array;
  if (array != nullptr) {
    return refuse(fmt::format("{} is allocated by the file itself ({}): name an array of the host",
                              name, option));
  }
  std::vector<std::string> known;
  for (const px::HostArray& each : host.arrays) {
    if (!each.is_allocated) known.push_back(each.array.name);
  }
  return unknown(option, "array", name, known);
}

Result<uint64_t> scalar_bits(const Assignment& set, ir::Scalar type) {
  const auto wrong = [&] {
    return refuse(fmt::format("{} is no {} (--set {}): write a number of that type", set.value,
                              name(type), set.name));
  };
  if (type == ir::Scalar::boolean) {
    if (set.value == "true" || set.value == "1") return uint64_t{1};
    if (set.value == "false" || set.value == "0") return uint64_t{0};
    return wrong();
  }
  const bool is_negative = set.value.starts_with('-');
  const std::string digits = is_negative ? set.value.substr(1) : set.value;
  std::optional<px::Literal> literal = px::parse_integer(digits);
  if (!literal) literal = px::parse_real(digits);
  if (literal && is_negative) literal = px::compute(ir::UnaryOperator::negate, *literal);
  if (!literal) return wrong();
  const Result<uint64_t> bits = px::bits_of(*literal, type);
  if (!bits)
    return refuse(fmt::format("{} (--set {}): give another", bits.error().message, set.name));
  return *bits;
}

Status set_scalars(const PxRunOptions& options, const px::HostProgram& host, RunValues& made) {
  std::vector<std::string> known;
  for (const px::HostScalar& scalar : host.scalars) {
    if (!scalar.is_counter) known.push_back(scalar.parameter.name);
  }
  const Result<std::vector<Assignment>> sets =
      assignments("hoist px run", "--set", options.scalars);
  if (!sets) return sets.error();
  for (const Assignment& set : *sets) {
    const px::HostScalar* scalar = host.find_scalar(set.name);
    if (scalar == nullptr) return unknown("--set", "scalar", set.name, known);
    const Result<uint64_t> bits = scalar_bits(set, scalar->parameter.type.scalar);
    if (!bits) return bits.error();
    made.values.scalars[scalar] = *bits;
  }
  for (const px::HostScalar& scalar : host.scalars) {
    if (!scalar.is_used || made.values.scalars.contains(&scalar)) continue;
    return refuse(fmt::format("{} has no value (hoist px run): pass --set {}=VALUE, of type {}",
                              scalar.parameter.name, scalar.parameter.name,
                              name(scalar.parameter.type)));
  }
  return {};
}

void add_array(RunValues& made, const px::HostArray* array, ArrayContent content) {
  ArrayContent& kept = made.contents[array] = std::move(content);
  made.values.arrays[array] = {kept.bytes, kept.elements(array->array.element)};
}

Status add_zeros(RunValues& made, const px::HostArray* array, uint64_t elements) {
  ArrayContent content;
  try {
    content.bytes.resize(elements * static_cast<size_t>(ir::bytes(array->array.element)));
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::exhausted, fmt::format("no memory for {} elements ({}): take fewer",
                                                  elements, array->array.name));
  }
  content.shape = {elements};
  add_array(made, array, std::move(content));
  return {};
}

Status read_inputs(const PxRunOptions& options, const px::HostProgram& host, RunValues& made,
                   std::optional<uint64_t>& first) {
  const Result<std::vector<Assignment>> inputs =
      assignments("hoist px run", "--in", options.inputs);
  if (!inputs) return inputs.error();
  for (const Assignment& input : *inputs) {
    const Result<const px::HostArray*> array = find_array("--in", input.name, host);
    if (!array) return array.error();
    Result<ArrayContent> content = read_array(input.value, (*array)->array.element);
    if (!content) return content.error();
    if (!first) first = content->elements((*array)->array.element);
    add_array(made, *array, *std::move(content));
  }
  return {};
}

Status set_lengths(const PxRunOptions& options, const px::HostProgram& host, RunValues& made) {
  const Result<std::vector<Assignment>> lengths =
      assignments("hoist px run", "--len", options.lengths);
  if (!lengths) return lengths.error();
  for (const Assignment& length : *lengths) {
    const Result<const px::HostArray*> array = find_array("--len", length.name, host);
    if (!array) return array.error();
    if (made.contents.contains(*array)) {
      return refuse(
          fmt::format("{} has the length of its input (--len): leave one out", length.name));
    }
    const std::optional<px::Literal> elements = px::parse_integer(length.value);
    constexpr __int128 kMost = __int128{1} << 40;
    if (!elements || elements->integer > kMost) {
      return refuse(fmt::format("{} is no number of elements (--len {}): write one up to 2^40",
                                length.value, length.name));
    }
    Status added = add_zeros(made, *array, static_cast<uint64_t>(elements->integer));
    if (!added) return added;
  }
  return {};
}

// Arrays that the command line does not name.
Status fill_in(const px::HostProgram& host, RunValues& made, std::optional<uint64_t> first) {
  for (const px::HostArray& array : host.arrays) {
    if (array.is_allocated || made.contents.contains(&array)) continue;
    const std::string& name = array.array.name;
    if (array.is_read) {
      return refuse(
          fmt::format("{} has no elements (hoist px run): pass --in {}=FILE, or --len "
                      "{}=N for N zeros",
                      name, name, name));
    }
    if (!first) {
      return refuse(fmt::format("{} has no length (hoist px run): pass --len {}=N", name, name));
    }
    if (Status added = add_zeros(made, &array, *first); !added) return added;
  }
  return {};
}

}  // namespace

Result<RunValues> read_values(const PxRunOptions& options, const px::HostProgram& host) {
  RunValues made;
  std::optional<uint64_t> first;
  if (Status done = set_scalars(options, host, made); !done) return done.error();
  if (Status done = read_inputs(options, host, made, first); !done) return done.error();
  if (Status done = set_lengths(options, host, made); !done) return done.error();
  if (Status done = fill_in(host, made, first); !done) return done.error();
  return made;
}

std::vector<std::string> input_files(const PxRunOptions& options) {
  std::vector<std::string> files = {options.file};
  for (const std::string& input : options.inputs)
    files.push_back(input.substr(input.find('=') + 1));
  return files;
}

Result<std::vector<ArrayFileName>> output_files(const PxRunOptions& options,
                                                const px::HostProgram& host) {
  std::vector<ArrayFileName> files;
  const Result<std::vector<Assignment>> outputs =
      assignments("hoist px run", "--out", options.outputs);
  if (!outputs) return outputs.error();
  for (const Assignment& output : *outputs) {
    const Result<const px::HostArray*> array = find_array("--out", output.name, host);
    if (!array) return array.error();
    files.push_back({*array, output.value});
  }
  return files;
}

}  // namespace hoist::cli
