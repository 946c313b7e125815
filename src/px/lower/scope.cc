#include "px/lower/scope.h"

#include <utility>

namespace hoist::px {

void Scopes::close(const std::function<void(const std::string&, const Symbol&)>& leave) {
  for (const auto& [name, symbol] : blocks_.back()) leave(name, symbol);
  blocks_.pop_back();
}

Symbol* Scopes::find(std::string_view name) {
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
    const auto found = block->find(name);
    if (found != block->end()) return &found->second;
  }
  return nullptr;
}

Symbol* Scopes::find_here(std::string_view name) {
  const auto found = blocks_.back().find(name);
  return found == blocks_.back().end() ? nullptr : &found->second;
}

Symbol& Scopes::add(const std::string& name, Symbol symbol) {
  return blocks_.back().insert_or_assign(name, symbol).first->second;
}

std::vector<std::string> Scopes::names() const {
  std::vector<std::string> names;
  for (const auto& block : blocks_) {
    for (const auto& [name, symbol] : block) names.push_back(name);
  }
  return names;
}

}  // namespace hoist::px
