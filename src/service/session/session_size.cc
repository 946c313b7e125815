#include "service/session/session_size.h"

#include <algorithm>
#include <mutex>

namespace hoist::service {
namespace {

constexpr size_t kLarge = 512 << 10;  // bytes: they are copied in about 100 microseconds
constexpr size_t kEach = 32;          // as which a string or a value counts beside its text

// Adds up until it is enough.
class Size {
 public:
  bool is_enough() const { return bytes_ >= kLarge; }

  void add(size_t bytes) { bytes_ += kEach + std::min(bytes, kLarge); }
  void add(const std::vector<Event>& events) {
    for (const Event& event : events) add(event);
  }
  void add(const Event& event) {
    for (const std::string& symbol : event) {
      if (is_enough()) return;
      add(symbol.size());
    }
  }
  void add(const nlohmann::ordered_json& value) {
    add(value.is_string() ? value.get_ref<const std::string&>().size() : 0);
    if (!value.is_structured()) return;
    for (const nlohmann::ordered_json& inner : value) {
      if (is_enough()) return;
      add(inner);
    }
  }

 private:
  size_t bytes_ = 0;
};

}  // namespace

bool is_large(Session& session) {
  const std::lock_guard lock(session.mutex);
  Size size;
  size.add(session.stm.values());
  if (session.last_state) size.add(session.last_state->values());
  if (session.last) size.add(session.last->strings);
  for (const std::vector<double>& vector : session.vectors.values()) {
    size.add(vector.size() * sizeof(double));
  }
  for (const nlohmann::ordered_json& object : session.metadata_seen.values()) {
    if (size.is_enough()) break;
    size.add(object);
  }
  return size.is_enough();
}

}  // namespace hoist::service
