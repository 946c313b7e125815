#include <hoist/match.hpp>
#include <iostream>
#include <string_view>
#include <vector>

#include "tour.h"

using namespace hoist::match;

namespace {

Sequence sequence(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

hoist::Status tour_search() {
  const auto index = Index::open("", {.create = true});  // in memory; a path makes a folder
  if (!index) return index.error();
  const std::vector<std::vector<std::vector<std::string>>> baskets = {
      {{"shoe"}, {"sock"}, {"hat"}}, {{"shoe"}, {"lace"}}, {{"coat"}, {"hat"}}};
  for (const auto& basket : baskets) {
    if (const auto learned = (*index)->learn(basket); !learned) return learned.error();
  }
  const auto found = (*index)->search({{"shoe"}, {"sock"}}, {.threshold = 0.4});
  if (!found) return found.error();
  std::cout << "patterns like shoe, sock:";
  for (const IndexHit& hit : found->hits) std::cout << ' ' << hit.normalized;
  std::cout << '\n';

  const std::vector<std::string_view> names = {"hand tool", "band tools", "anvil"};
  std::vector<Sequence> choices;
  for (const std::string_view name : names) choices.push_back(sequence(name));
  const std::vector<Sequence> queries = {sequence("hand tools")};
  std::vector<double> scores(queries.size() * choices.size());
  const auto scorer = PairScorer::named("ratio");
  if (!scorer) return hoist::fail(hoist::ErrorCode::unsupported, "no such scorer: ratio");
  const PairScoring ratio = {*scorer, std::nullopt};
  fill_scores<double>(ratio, queries, choices, hoist::ThreadPool::process(), scores);
  std::cout << "in percent like hand tools:";
  for (size_t i = 0; i < names.size(); ++i) std::cout << ' ' << names[i] << '=' << scores[i];
  std::cout << '\n';
  return {};
}
