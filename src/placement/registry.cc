#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "placement/decision_table.h"
#include "placement/operation.h"

namespace hoist::placement {
namespace {

// Names stand in files whose fields are parted by blanks and slashes.
bool is_name(std::string_view text) {
  constexpr size_t kLongest = 31;
  return !text.empty() && text.size() <= kLongest &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 ||
                  std::string_view("._+-").find(static_cast<char>(c)) != std::string_view::npos;
         });
}

bool names_are_valid(const Operation& operation) {
  return is_name(operation.name) &&
         std::all_of(operation.variants.begin(), operation.variants.end(),
                     [](const Variant& variant) { return is_name(variant.name); }) &&
         std::all_of(operation.implementations.begin(), operation.implementations.end(),
                     [](const Implementation& one) { return is_name(one.name); });
}

}  // namespace

struct Registry::Entry {
  Operation operation;
  std::vector<std::unique_ptr<VariantHandle>> handles;
};

VariantHandle::~VariantHandle() {
  for (const auto& table : tables_) delete table.load();
}

Registry& Registry::process() {
  // Never destroyed: threads may still choose when static destructors run.
  static Registry* const registry = new Registry;
  return *registry;
}

Registry::Registry() = default;
Registry::~Registry() = default;

Status Registry::add(Operation operation) {
  const auto refuse = [&](const char* why) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("operation {} cannot be registered: {}", operation.name, why));
  };
  if (!names_are_valid(operation)) return refuse("a name has other characters than A-Za-z0-9._+-");
  if (find(operation.name) != nullptr) return refuse("the name is taken");
  if (operation.variants.empty()) return refuse("it has no variant");
  if (operation.implementations.empty()) return refuse("it has no implementation");
  auto entry = std::make_unique<Entry>();
  entry->operation = std::move(operation);
  for (size_t i = 0; i < entry->operation.variants.size(); ++i) {
    entry->handles.push_back(std::make_unique<VariantHandle>(entry->operation, i));
  }
  entries_.push_back(std::move(entry));
  return {};
}

const Operation* Registry::find(std::string_view name) const {
  for (const auto& entry : entries_) {
    if (entry->operation.name == name) return &entry->operation;
  }
  return nullptr;
}

const VariantHandle* Registry::find_variant(std::string_view name) const {
  for (const VariantHandle* handle : variants()) {
    if (handle->name() == name) return handle;
  }
  return nullptr;
}

std::vector<const VariantHandle*> Registry::variants() const {
  std::vector<const VariantHandle*> all;
  for (const auto& entry : entries_) {
    for (const auto& handle : entry->handles) all.push_back(handle.get());
  }
  return all;
}

}  // namespace hoist::placement
