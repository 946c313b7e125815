#include "match/record/alignment.h"

#include <algorithm>

namespace hoist::match {
namespace {

double quotient(size_t part, size_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

double signal_to_noise(size_t matches, size_t extras) {
  const double signal = 2.0 * static_cast<double>(matches);
  const double noise = static_cast<double>(extras);
  const double denominator = signal + noise;
  return denominator > 0 ? (signal - noise) / denominator : 0.0;
}

// From symbols to the events that they lie in. An event belongs to the past only if the present
// begins after it; but the reference moves the last of them to the present where it holds the value
// of the first match, wherever that match was: has_first_match(begin, end) says whether some symbol
// of the pattern there does.
template <typename HasFirstMatch>
void place_events(std::span<const uint16_t> event_sizes, const HasFirstMatch& has_first_match,
                  Alignment& alignment) {
  uint32_t end = 0;         // of the events so far
  uint32_t last_begin = 0;  // of the last of them
  auto event = event_sizes.begin();
  const auto take_until = [&](uint32_t position) {
    while (end < position && event != event_sizes.end()) {
      last_begin = end;
      end += *event++;
    }
    return end;
  };
  alignment.present_begin = take_until(alignment.present_begin);
  const uint32_t past_begin = last_begin;
  alignment.present_end = take_until(alignment.present_end);
  if (alignment.present_begin != 0 && has_first_match(past_begin, alignment.present_begin)) {
    alignment.present_begin = past_begin;
  }
}

void measure(size_t matches, size_t symbols, Alignment& alignment) {
  alignment.evidence = quotient(matches, symbols);
  alignment.confidence = quotient(matches, alignment.present_end - alignment.present_begin);
  alignment.snr = signal_to_noise(matches, alignment.flat_extras);
  alignment.fragmentation = static_cast<double>(alignment.blocks) - 1;
}

void append_joined(std::span<const std::string_view> texts, std::vector<uint32_t>& points) {
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i != 0) points.push_back(' ');
    append_code_points(texts[i], points);
  }
}

}  // namespace

double fragmentation_term(double fragmentation) {
  return fragmentation == -1 ? 0.0 : 1.0 / (fragmentation + 1);
}

double Alignment::own_potential() const {
  return (evidence + confidence) * snr + fragmentation_term(fragmentation);
}

Aligner::Aligner(const StateView& state, const RecordSource& source, const RecordOptions& options)
    : state_(state), source_(source), options_(options), matcher_(state.symbols) {
  if (options.fuzzy > 0) {
    for (const std::string_view text : state.texts) symbol_ratios_.emplace_back(text);
  }
  if (options.characters) {
    std::vector<uint32_t> points;
    append_joined(state.texts, points);
    state_ratio_ = std::make_unique<TextRatio>(points);
  }
}

std::optional<double> Aligner::text_similarity(const RecordSource::Pattern& pattern,
                                               Scratch& scratch) const {
  scratch.points.clear();
  for (size_t i = 0; i < pattern.symbols.size(); ++i) {
    if (i != 0) scratch.points.push_back(' ');
    append_code_points(source_.text(pattern.symbols[i]), scratch.points);
  }
  const double normalized = state_ratio_->normalized(scratch.points, options_.stop);
  const double similarity = normalized * 100.0 / 100.0;
  const double percent = std::max(0.0, options_.threshold * 100.0 - 1e-6);
  if (!passes_cutoff(normalized, percent) || !(similarity >= options_.threshold)) return {};
  return similarity;
}

bool Aligner::align(const RecordSource::Pattern& pattern, Alignment& alignment,
                    Scratch& scratch) const {
  const std::vector<Block>& blocks = scratch.blocks;
  if (!matcher_.find(pattern.symbols, scratch.blocks, scratch.matcher, options_.stop)) {
    return false;
  }
  if (blocks.empty() && options_.threshold > 0) return false;
  alignment.blocks = static_cast<uint32_t>(blocks.size());
  alignment.matches.clear();
  alignment.anomalies.clear();
  if (options_.fuzzy > 0) {
    match_fuzzily(pattern, alignment, scratch);
    if (options_.stop.stop_requested()) return false;
  } else {
    match_exactly(blocks, alignment);
  }
  // Flat parts first; without blocks all of the pattern is present.
  alignment.present_begin = blocks.empty() ? 0 : blocks.front().a;
  alignment.present_end = blocks.empty() ? static_cast<uint32_t>(pattern.symbols.size())
                                         : blocks.back().a + blocks.back().size;
  const auto has_first_match = [&](uint32_t begin, uint32_t end) {
    if (alignment.matches.empty()) return false;
    const auto past = pattern.symbols.subspan(begin, end - begin);
    return std::find(past.begin(), past.end(), state_.symbols[alignment.matches.front()]) !=
           past.end();
  };
  if (state_.symbols.size() != 1) place_events(pattern.event_sizes, has_first_match, alignment);
  measure(alignment.matches.size(), pattern.symbols.size(), alignment);
  return true;
}

std::optional<double> Aligner::own_potential(const RecordSource::Shape& shape,
                                             const BlockSummary& summary) const {
  if (summary.blocks == 0 && options_.threshold > 0) return {};
  Alignment alignment;
  alignment.blocks = summary.blocks;
  alignment.flat_extras = static_cast<uint32_t>(state_.symbols.size() - summary.matches);
  alignment.present_begin = summary.begin;
  alignment.present_end = summary.blocks == 0 ? shape.length : summary.end;
  // The first match is equal to the pattern's symbol at `begin`.
  const auto has_first_match = [&](uint32_t begin, uint32_t end) {
    return summary.matches != 0 && (summary.begin < end || summary.before > begin);
  };
  if (state_.symbols.size() != 1) place_events(shape.event_sizes, has_first_match, alignment);
  measure(summary.matches, shape.length, alignment);
  return alignment.own_potential();
}

void Aligner::match_exactly(const std::vector<Block>& blocks, Alignment& alignment) const {
  for (const Block& block : blocks) {
    for (uint32_t k = 0; k < block.size; ++k) alignment.matches.push_back(block.b + k);
  }
  alignment.flat_extras = static_cast<uint32_t>(state_.symbols.size() - alignment.matches.size());
}

// Any symbol of the pattern may match any number of symbols of the state.
void Aligner::match_fuzzily(const RecordSource::Pattern& pattern, Alignment& alignment,
                            Scratch& scratch) const {
  scratch.covered.assign(state_.symbols.size(), false);
  for (const Block& block : scratch.blocks) {
    for (uint32_t k = 0; k < block.size; ++k) scratch.covered[block.b + k] = true;
  }
  alignment.flat_extras = 0;
  for (uint32_t position = 0; position < state_.symbols.size(); ++position) {
    if (const auto hit = most_similar(pattern, position, scratch.points)) {
      alignment.matches.push_back(position);
      if (pattern.symbols[hit->expected] != state_.symbols[position]) {
        alignment.anomalies.push_back(*hit);
      }
    } else if (!scratch.covered[position]) {
      ++alignment.flat_extras;
    }
  }
}

// The first of the pattern's symbols that is as similar as any, if that is enough.
std::optional<Anomaly> Aligner::most_similar(const RecordSource::Pattern& pattern,
                                             uint32_t position,
                                             std::vector<uint32_t>& points) const {
  const double percent = options_.fuzzy * 100.0;
  const auto equal =
      std::find(pattern.symbols.begin(), pattern.symbols.end(), state_.symbols[position]);
  if (equal != pattern.symbols.end() && passes_cutoff(1.0, percent)) {
    return Anomaly{position, static_cast<uint32_t>(equal - pattern.symbols.begin()), 1.0};
  }
  std::optional<Anomaly> best;
  double most = -1;
  for (uint32_t i = 0; i < pattern.symbols.size(); ++i) {
    if (options_.stop.stop_requested()) return {};
    points.clear();
    append_code_points(source_.text(pattern.symbols[i]), points);
    const double normalized = symbol_ratios_[position].normalized(points, options_.stop);
    if (!passes_cutoff(normalized, percent) || !(normalized * 100.0 > most)) continue;
    most = normalized * 100.0;
    best = {position, i, most / 100.0};
  }
  return best;
}

}  // namespace hoist::match
