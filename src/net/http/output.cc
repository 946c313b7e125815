#include "net/http/output.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <utility>

namespace hoist::net {
namespace {

constexpr size_t kJoined = 16 << 10;  // copying so much costs less than a piece of its own

}  // namespace

void HttpOutput::add(std::string text) {
  if (text.empty()) return;
  pending_ += text.size();
  if (first_ < pieces_.size() && pieces_.back().size() + text.size() <= kJoined) {
    pieces_.back() += text;
  } else {
    pieces_.push_back(std::move(text));
  }
}

Transport::Outcome HttpOutput::flush(Transport& transport) {
  while (pending_ > 0) {
    std::array<iovec, 16> parts;
    size_t count = 0;
    size_t skip = sent_;
    for (size_t i = first_; i < pieces_.size() && count < parts.size(); ++i, ++count) {
      parts[count] = {pieces_[i].data() + skip, pieces_[i].size() - skip};
      skip = 0;
    }
    size_t taken = 0;
    const auto outcome = transport.send({parts.data(), count}, taken);
    if (outcome != Transport::Outcome::done) return outcome;
    pending_ -= taken;
    sent_ += taken;
    while (first_ < pieces_.size() && sent_ >= pieces_[first_].size()) {
      sent_ -= pieces_[first_].size();
      std::string().swap(pieces_[first_++]);
    }
  }
  pieces_.clear();
  first_ = sent_ = 0;
  return Transport::Outcome::done;
}

}  // namespace hoist::net
