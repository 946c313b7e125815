// A node as lines, and back: snapshots.
//
//   {"hoist_node":2,"node_id":"shop","finalized":false}
//   {"affinity":{"bread":{"joy":1.5}}}      a line for each symbol that has any
//   {"vector":[0.5,0.25]}                   a line for each learned vector
//   {"name":"0ea1…","events":[["a"],["b"]],…}   a line for each pattern (pattern_lines.h)
//   {"sha256":"…"}                          of all lines before, which snapshots.cc adds and checks
//
// Format 1 had all affinities and vectors in the first line, as objects "affinities" and "vectors".
#include <fmt/core.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "service/node/node.h"
#include "service/node/node_keys.h"
#include "service/node/pattern_lines.h"
#include "service/session/json_shape.h"

namespace hoist::service {
namespace {

using Json = nlohmann::json;

constexpr const char* kVersion = "hoist_node";
constexpr int kFormat = 2;
constexpr std::string_view kAffinityLine = "{\"affinity\":";
constexpr std::string_view kVectorLine = "{\"vector\":";

std::string_view bytes_of(std::span<const double> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)};
}

Error damaged(std::string_view what) {
  return fail(ErrorCode::invalid_argument, fmt::format("this is no snapshot: {}", what));
}

// Lines of ours may have any number of values.
Result<Json> parse_line(std::string_view line) {
  if (const char* fault = check_json_shape(line, SIZE_MAX)) return damaged(fault);
  Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return damaged("a line is no JSON object");
  return json;
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Status Node::visit(const Visit& add) const { return visit(contents(), add); }

Status Node::goes_on() const {
  if (!stop().stop_requested()) return {};
  return fail(ErrorCode::unavailable, "the service ends");
}

Status Node::visit(const std::shared_ptr<Contents>& contents, const Visit& add) const {
  const std::shared_ptr<match::Index> index = index_of(contents);
  if (index == nullptr) return {};
  const LongUse use(*this);
  Status failed;
  index->visit([&](const match::VisitedPattern& pattern) {
    if (failed = goes_on(); !failed) return false;
    const auto metadata = index->metadata(pattern.name);
    if (!index->takes_writes()) {
      failed = fail(ErrorCode::unavailable, "the node's store takes no more: it is opened again");
    } else if (!metadata && metadata.error().code != ErrorCode::not_found) {
      failed = metadata.error();  // one that was forgotten meanwhile has none
    }
    return failed && add(pattern, metadata ? *metadata : std::string());
  });
  return failed;
}

// Affinities are those of the moment: what is learned meanwhile may be among the patterns and not
// among them.
Status Node::save(const std::function<bool(std::string_view line)>& write) const {
  const std::shared_ptr<Contents> contents = this->contents();
  const LongUse use(*this);
  Status saved;
  const auto put = [&](std::string_view line) {
    if (saved) saved = goes_on();
    if (saved && !write(line)) saved = fail(ErrorCode::cancelled, "the copy is not wanted");
    return static_cast<bool>(saved);
  };
  put(text_of({{kVersion, kFormat}, {"node_id", id_}, {"finalized", contents->finalized.load()}}));
  for (const auto& [symbol, sums] : contents->affinities.all()) {
    if (saved) put(text_of({{"affinity", {{symbol, sums}}}}));
  }
  contents->vectors.visit([&](std::span<const double> vector) {
    const std::vector<double> numbers(vector.begin(), vector.end());
    if (saved) put(text_of({{"vector", numbers}}));
  });
  if (!saved) return saved;
  Status visited =
      visit(contents, [&](const match::VisitedPattern& pattern, const std::string& metadata) {
        return put(pattern_line(pattern, metadata));
      });
  return visited ? saved : visited;
}

namespace {

void put_affinities(const Json& affinities, const std::string& node, Affinities& into,
                    SideStore::Batch& batch) {
  for (const auto& [symbol, sums] : affinities.items()) {
    for (const auto& [emotive, value] : sums.items()) {
      const double sum = value.get<double>();
      into.set(symbol, emotive, sum);
      std::string bytes(sizeof sum, '\0');
      std::memcpy(bytes.data(), &sum, sizeof sum);
      batch.put(keys::kAffinity + node + key_part(symbol) + emotive, bytes);
    }
  }
}

// False where it has no numbers.
bool put_vector(const Json& numbers, const std::string& node, Vectors& into,
                SideStore::Batch& batch) {
  const auto vector = numbers.get<std::vector<double>>();
  if (vector.empty()) return false;
  const std::string name = Vectors::name(vector);
  if (into.add(name, vector)) batch.put(keys::kVector + node + name, bytes_of(vector));
  return true;
}

}  // namespace

Status Node::read_head(Loaded& into, std::string_view line) {
  const auto head = parse_line(line);
  if (!head) return head.error();
  const Json version = head->value(kVersion, Json());
  if (version != kFormat && version != 1) {
    return damaged("its first line does not say {\"hoist_node\": 2}");
  }
  Contents& contents = into.contents();
  const std::string node = node_key_part(contents.number);
  try {
    contents.finalized = head->at("finalized").get<bool>();
    if (contents.finalized) into.batch.put(keys::kFinalized + node, "");
    if (version == kFormat) return {};
    put_affinities(head->at("affinities"), node, contents.affinities, into.batch);
    for (const Json& numbers : head->at("vectors")) {
      if (!put_vector(numbers, node, contents.vectors, into.batch)) {
        return damaged("a vector has no numbers");
      }
    }
  } catch (const nlohmann::json::exception& error) {
    return damaged(error.what());
  }
  return {};
}

Status Node::read_more(Loaded& into, std::string_view line) {
  const auto more = parse_line(line);
  if (!more) return more.error();
  Contents& contents = into.contents();
  const std::string node = node_key_part(contents.number);
  try {
    if (line.starts_with(kAffinityLine)) {
      put_affinities(more->at("affinity"), node, contents.affinities, into.batch);
    } else if (!put_vector(more->at("vector"), node, contents.vectors, into.batch)) {
      return damaged("a vector has no numbers");
    }
  } catch (const nlohmann::json::exception& error) {
    return damaged(error.what());
  }
  return {};
}

Status Node::read_pattern(Loaded& into, std::string_view line) const {
  const auto record = parse_pattern_line(line, SIZE_MAX);
  if (!record) return damaged(record.error().message);
  Contents& contents = into.contents();
  if (contents.index == nullptr) {
    auto made = make_index(contents.number);
    if (!made) return made.error();
    contents.index = *std::move(made);
    if (Status begun = contents.index->begin_bulk(); !begun) return begun;
  }
  if (const auto name = learn_restored(contents, *record); !name) return name.error();
  ++into.patterns;
  return {};
}

Result<Node::Loaded> Node::load(uint64_t number, const ReadLine& read) const {
  Loaded into(new_contents(number));
  into.contents().doomed = folder(number);
  for (uint64_t line_number = 1;; ++line_number) {
    if (Status goes = goes_on(); !goes) return goes.error();
    const auto line = read();
    if (!line) return line.error();
    if (!*line && line_number == 1) return damaged("it is empty");
    if (!*line) break;
    const bool is_more = (*line)->starts_with(kAffinityLine) || (*line)->starts_with(kVectorLine);
    Status known = line_number == 1 ? read_head(into, **line)
                   : is_more        ? read_more(into, **line)
                                    : read_pattern(into, **line);
    if (known) continue;
    if (known.error().code != ErrorCode::invalid_argument) return known.error();
    known.error().message = fmt::format("line {}: {}", line_number, known.error().message);
    return known.error();
  }
  match::Index* const index = into.contents().index.get();
  if (Status ended = index != nullptr ? index->end_bulk() : Status(); !ended) return ended.error();
  return into;
}

// What the store has of it.
void Node::put_all(const std::string& id, const Contents& contents, SideStore::Batch& batch) {
  const std::string number = node_key_part(contents.number);
  batch.put(keys::kNode + id, number);
  for (const auto& [symbol, sums] : contents.affinities.all()) {
    for (const auto& [emotive, sum] : sums) {
      batch.put(keys::kAffinity + number + key_part(symbol) + emotive, bytes_of({&sum, 1}));
    }
  }
  contents.vectors.visit([&](std::span<const double> vector) {
    batch.put(keys::kVector + number + Vectors::name(vector), bytes_of(vector));
  });
  if (contents.finalized) batch.put(keys::kFinalized + number, "");
}

Result<uint64_t> Node::restore(Loaded loaded) {
  Replaced before;  // its files go when others learn again
  const LongHold hold(*this);
  const std::lock_guard alone(replacing_);
  // Where the write fails it may nevertheless be there after a restart, which removes what is not.
  loaded.contents().doomed.clear();
  Status replaced = replace(loaded.owner.get(), loaded.batch, before);
  if (!replaced && !is_doubtful_) loaded.contents().doomed = folder(loaded.contents().number);
  if (!replaced) return replaced.error();
  return loaded.patterns;
}

}  // namespace hoist::service
