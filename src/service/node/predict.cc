#include "service/node/predict.h"

#include <fmt/core.h>

#include <atomic>
#include <iterator>
#include <stop_token>
#include <utility>

#include "base/threads.h"
#include "match/json/json_text.h"
#include "match/json/record_json.h"

namespace hoist::service {
namespace {

void append_future(std::string& out, const match::FuturePotential& future,
                   const match::Index& index) {
  out += "{\"future\": [";
  size_t at = 0;
  for (const uint16_t size : future.event_sizes) {
    out += at == 0 ? "[" : ", [";
    for (size_t i = 0; i < size; ++i, ++at) {
      if (i > 0) out += ", ";
      match::append_json_string(out, index.symbol(future.symbols[at]));
    }
    out += "]";
  }
  fmt::format_to(std::back_inserter(out),
                 "], \"aggregate_potential\": {}, \"supporting_patterns\": {}, "
                 "\"total_weighted_frequency\": {}}}",
                 match::json_number(future.aggregate_potential), future.supporting_patterns,
                 match::json_number(future.total_weighted_frequency));
}

// Its token is requested once one of two is.
class EitherStop {
 public:
  EitherStop(const std::stop_token& one, const std::stop_token& other)
      : one_(one, Request{both_}), other_(other, Request{both_}) {}
  std::stop_token token() const { return both_.get_token(); }

 private:
  struct Request {
    void operator()() { source.request_stop(); }
    std::stop_source source;
  };
  std::stop_source both_;
  std::stop_callback<Request> one_;
  std::stop_callback<Request> other_;
};

// What a session asks for, as the index takes it.
struct Question {
  Question(const Node& node, const SessionConfig& config, const std::stop_token& client_gone)
      : emotive(config.affinity_emotive()),
        affinities(node.affinities()),
        stop(node.stop(), client_gone) {
    options.threshold = config.recall_threshold();
    options.max_predictions = config.max_predictions();
    options.rank = config.rank();
    options.fuzzy = config.fuzzy_token_threshold();
    options.characters = !config.use_token_matching();
    options.whole_pattern_entropy = node.is_finalized();
    options.affinity_emotive = emotive;
    options.stop = stop.token();
    if (emotive.empty()) return;
    options.affinity = [this](std::string_view symbol) { return affinities->of(symbol, emotive); };
  }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

  const std::string emotive;
  const std::shared_ptr<const Affinities> affinities;
  const EitherStop stop;
  match::RecordOptions options;
};

// `written`: bytes of all that is written for one answer.
Predictions write(const match::Prediction& prediction, const match::PatternText& state,
                  const match::Index& index, std::atomic<size_t>& written) {
  Predictions answer;
  answer.count = prediction.records.size();
  answer.predictions = "[";
  for (const match::Record& record : prediction.records) {
    const size_t before = answer.predictions.size();
    if (before > 1) answer.predictions += ", ";
    match::append_record_json(answer.predictions, record, state, index);
    if ((written += answer.predictions.size() - before) > kMostAnswer) {
      answer.is_too_large = true;
      return answer;
    }
  }
  answer.predictions += "]";
  answer.future_potentials = "[";
  for (const match::FuturePotential& future : prediction.futures) {
    if (answer.future_potentials.size() > 1) answer.future_potentials += ", ";
    append_future(answer.future_potentials, future, index);
  }
  answer.future_potentials += "]";
  return answer;
}

}  // namespace

Result<Predictions> predict(const Node& node, const std::vector<Event>& state,
                            const SessionConfig& config, const std::stop_token& client_gone) {
  const std::shared_ptr<match::Index> index = node.index();
  if (index == nullptr || state.empty()) return Predictions();
  const Question question(node, config, client_gone);
  match::PatternText text = match::pattern_of(state);
  const auto prediction = index->predict(text, question.options);
  if (!prediction) return prediction.error();
  std::atomic<size_t> written = 0;
  return write(*prediction, text, *index, written);
}

Result<std::vector<Predictions>> predict(const Node& node,
                                         std::span<const std::vector<Event>> states,
                                         const SessionConfig& config,
                                         const std::stop_token& client_gone) {
  std::vector<Predictions> answers(states.size());
  const std::shared_ptr<match::Index> index = node.index();
  if (index == nullptr) return answers;
  const Question question(node, config, client_gone);
  std::vector<match::PatternText> texts;
  for (const std::vector<Event>& state : states) texts.push_back(match::pattern_of(state));
  const auto predictions = index->predict(texts, question.options);
  if (!predictions) return predictions.error();
  std::atomic<size_t> written = 0;
  ThreadPool::process().parallel_for(states.size(), [&](size_t i) {
    answers[i] = write((*predictions)[i], texts[i], *index, written);
  });
  return answers;
}

}  // namespace hoist::service
