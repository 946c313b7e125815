#include "service/api/pattern_source.h"

#include <string>
#include <utility>

#include "service/node/pattern_batches.h"
#include "service/node/pattern_lines.h"

namespace hoist::service {
namespace {

constexpr size_t kMostLine = 16 << 20;

// A body, and whether it is still of use.
class WantedBody {
 public:
  WantedBody(net::HttpBodyReader body, std::stop_token stop, std::stop_token client_gone)
      : body_(std::move(body)), stop_(std::move(stop)), client_gone_(std::move(client_gone)) {}

  Result<size_t> read(std::span<char> into) { return body_.read(into); }
  Status goes_on() const {
    if (stop_.stop_requested()) return fail(ErrorCode::unavailable, "the service ends");
    if (client_gone_.stop_requested()) return fail(ErrorCode::cancelled, "the client is gone");
    return {};
  }

 private:
  net::HttpBodyReader body_;
  std::stop_token stop_;
  std::stop_token client_gone_;
};

// Lines of a body that comes in pieces.
class BodyLines {
 public:
  explicit BodyLines(WantedBody body) : body_(std::move(body)) {}

  // Nothing at the end. `invalid_argument` for a line of more than 16 MiB.
  Result<std::optional<std::string>> next() {
    if (Status goes = body_.goes_on(); !goes) return goes.error();
    for (;;) {
      const size_t end = text_.find('\n', begin_);
      if (end != text_.npos) {
        std::string line = text_.substr(begin_, end - begin_);
        begin_ = end + 1;
        return std::optional(std::move(line));
      }
      text_.erase(0, begin_);
      begin_ = 0;
      if (text_.size() > kMostLine) {
        return fail(ErrorCode::invalid_argument, "a line has more than 16 MiB");
      }
      const size_t before = text_.size();
      text_.resize(before + kPiece);
      const auto got = body_.read(std::span(text_).subspan(before));
      text_.resize(before + (got ? *got : 0));
      if (!got) return got.error();
      if (*got > 0) continue;
      if (text_.empty()) return std::optional<std::string>();
      return std::optional(std::exchange(text_, {}));
    }
  }

 private:
  static constexpr size_t kPiece = 64 << 10;
  WantedBody body_;
  std::string text_;
  size_t begin_ = 0;
};

class LineSource : public PatternSource {
 public:
  explicit LineSource(WantedBody body) : lines_(std::move(body)) {}

  Result<std::optional<PatternRecord>> next() override {
    for (;;) {
      const auto line = lines_.next();
      ++number_;
      if (!line) return line.error();
      if (!*line) return std::optional<PatternRecord>();
      if ((*line)->find_first_not_of(" \t\r") == std::string::npos) continue;
      auto record = parse_pattern_line(**line);
      if (!record) return record.error();
      return std::optional(*std::move(record));
    }
  }
  Json place() const override { return {{"line", number_}}; }

 private:
  BodyLines lines_;
  uint64_t number_ = 0;
};

// The schema, too, is read when the first pattern is asked for: by a thread that may wait.
class BatchSource : public PatternSource {
 public:
  explicit BatchSource(WantedBody body) : body_(std::move(body)) {}

  Result<std::optional<PatternRecord>> next() override {
    if (Status goes = body_.goes_on(); !goes) return goes.error();
    if (!patterns_) {
      auto opened =
          PatternBatchReader::open([this](std::span<char> into) { return body_.read(into); },
                                   [this] { return body_.goes_on(); });
      if (!opened) return as_clients(opened.error());
      patterns_.emplace(*std::move(opened));
    }
    auto record = patterns_->next();
    if (!record) return as_clients(record.error());
    return record;
  }
  Json place() const override {
    Json place = {{"batch", patterns_ ? patterns_->batch() : 0}};
    if (patterns_ && patterns_->row() > 0) place["row"] = patterns_->row();
    return place;
  }

 private:
  // What is wrong with bytes of a client's is the client's fault.
  static Error as_clients(Error error) {
    if (error.code == ErrorCode::corrupt || error.code == ErrorCode::unsupported) {
      error.code = ErrorCode::invalid_argument;
    }
    return error;
  }

  WantedBody body_;
  std::optional<PatternBatchReader> patterns_;
};

}  // namespace

std::unique_ptr<PatternSource> pattern_source(PatternFormat format, net::HttpBodyReader body,
                                              std::stop_token stop, std::stop_token client_gone) {
  WantedBody wanted(std::move(body), std::move(stop), std::move(client_gone));
  if (format == PatternFormat::json_lines) return std::make_unique<LineSource>(std::move(wanted));
  return std::make_unique<BatchSource>(std::move(wanted));
}

}  // namespace hoist::service
