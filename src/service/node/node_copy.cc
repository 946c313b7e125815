// A node as lines, and back: snapshots.
//
// The first line tells what no pattern does: affinities of symbols, vectors, whether training was
// finalised.
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
constexpr int kFormat = 1;

std::string_view bytes_of(const std::vector<double>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)};
}

Error damaged(std::string_view what) {
  return fail(ErrorCode::invalid_argument, fmt::format("this is no snapshot: {}", what));
}

}  // namespace

std::string Node::head_line(const Contents& contents) const {
  Json affinities = Json::object();
  for (const auto& [symbol, sums] : contents.affinities.all()) affinities[symbol] = sums;
  Json vectors = Json::array();
  contents.vectors.visit([&](std::span<const double> vector) {
    vectors.push_back(std::vector<double>(vector.begin(), vector.end()));
  });
  return Json{{kVersion, kFormat},
              {"node_id", id_},
              {"finalized", contents.finalized.load()},
              {"affinities", std::move(affinities)},
              {"vectors", std::move(vectors)}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Status Node::visit(const std::function<bool(const match::VisitedPattern& pattern,
                                            const std::string& metadata)>& add) const {
  const std::shared_ptr<match::Index> index = this->index();
  if (index == nullptr) return {};
  Status metadata_read;
  index->visit([&](const match::VisitedPattern& pattern) {
    const auto metadata = index->metadata(pattern.name);
    // One that was forgotten meanwhile has none.
    if (!metadata && metadata.error().code != ErrorCode::not_found) {
      metadata_read = metadata.error();
      return false;
    }
    return add(pattern, metadata ? *metadata : std::string());
  });
  return metadata_read;
}

Status Node::save(const std::function<bool(std::string_view line)>& write) const {
  const std::shared_ptr<Contents> contents = this->contents();
  bool goes_on = write(head_line(*contents));
  Status visited;
  if (goes_on) {
    visited = visit([&](const match::VisitedPattern& pattern, const std::string& metadata) {
      goes_on = write(pattern_line(pattern, metadata));
      return goes_on;
    });
  }
  if (!visited) return visited;
  if (!goes_on) return fail(ErrorCode::cancelled, "the copy was not taken to its end");
  return {};
}

Status Node::read_head(Contents& contents, std::string_view line, SideStore::Batch& batch) const {
  if (const char* fault = check_json_shape(line)) return damaged(fault);
  const Json head = Json::parse(line, nullptr, false);
  if (!head.is_object() || head.value(kVersion, Json()) != kFormat) {
    return damaged("its first line does not say {\"hoist_node\": 1}");
  }
  const std::string node = node_key_part(contents.number);
  try {
    contents.finalized = head.at("finalized").get<bool>();
    if (contents.finalized) batch.put(keys::kFinalized + node, "");
    for (const auto& [symbol, sums] : head.at("affinities").items()) {
      for (const auto& [emotive, value] : sums.items()) {
        const double sum = value.get<double>();
        contents.affinities.set(symbol, emotive, sum);
        std::string bytes(sizeof sum, '\0');
        std::memcpy(bytes.data(), &sum, sizeof sum);
        batch.put(keys::kAffinity + node + key_part(symbol) + emotive, bytes);
      }
    }
    for (const Json& numbers : head.at("vectors")) {
      const auto vector = numbers.get<std::vector<double>>();
      if (vector.empty()) return damaged("a vector has no numbers");
      const std::string name = Vectors::name(vector);
      if (contents.vectors.add(name, vector)) {
        batch.put(keys::kVector + node + name, bytes_of(vector));
      }
    }
  } catch (const nlohmann::json::exception& error) {
    return damaged(error.what());
  }
  return {};
}

Result<uint64_t> Node::restore(uint64_t number,
                               const std::function<Result<std::optional<std::string>>()>& read) {
  auto fresh = std::make_shared<Contents>();
  fresh->number = number;
  SideStore::Batch batch;
  const auto head = read();
  if (!head) return head.error();
  if (!*head) return damaged("it is empty");
  if (Status known = read_head(*fresh, **head, batch); !known) return known.error();

  const auto fill = [&]() -> Result<uint64_t> {
    uint64_t patterns = 0;
    for (;; ++patterns) {
      const auto line = read();
      if (!line) return line.error();
      if (!*line) break;
      const auto record = parse_pattern_line(**line);
      if (!record) return damaged(fmt::format("line {}: {}", patterns + 2, record.error().message));
      if (fresh->index == nullptr) {
        auto made = make_index(number);
        if (!made) return made.error();
        fresh->index = *std::move(made);
        if (Status begun = fresh->index->begin_bulk(); !begun) return begun.error();
      }
      if (const auto name = learn_in(*fresh, *fresh->index, *record); !name) return name.error();
    }
    if (fresh->index == nullptr) return patterns;
    if (Status ended = fresh->index->end_bulk(); !ended) return ended.error();
    return patterns;
  };
  const auto patterns = fill();
  Result<std::shared_ptr<Contents>> before = std::shared_ptr<Contents>();
  if (patterns) {
    const std::lock_guard alone(replacing_);
    before = replace(fresh, batch);
  }
  if (patterns && before) return *patterns;
  fresh->doomed = folder(number);
  return patterns ? before.error() : patterns.error();
}

}  // namespace hoist::service
