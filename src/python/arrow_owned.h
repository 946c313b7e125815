// Arrow's structures with what they point to, freed by their release functions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "python/arrow_c.h"

namespace hoist::python {

template <typename T, typename Kept>
struct ArrowOwned {
  std::vector<T> children;
  std::vector<T*> pointers;
  std::optional<T> dictionary;
  std::string name;
  std::string format;
  std::vector<std::vector<uint8_t>> bitmaps;
  std::vector<const void*> buffers;
  std::optional<Kept> kept;
};

template <typename T, typename Kept>
void release_arrow(T* it) {
  auto* const owned = static_cast<ArrowOwned<T, Kept>*>(it->private_data);
  for (T& child : owned->children) {
    if (child.release != nullptr) child.release(&child);
  }
  if (owned->dictionary && owned->dictionary->release != nullptr) {
    owned->dictionary->release(&*owned->dictionary);
  }
  delete owned;
  it->release = nullptr;
}

// Hands `owned` over. Its children are in place: they move no more.
template <typename T, typename Kept>
void finish_arrow(std::unique_ptr<ArrowOwned<T, Kept>> owned, T* out) {
  for (T& child : owned->children) owned->pointers.push_back(&child);
  out->n_children = static_cast<int64_t>(owned->children.size());
  out->children = owned->pointers.empty() ? nullptr : owned->pointers.data();
  out->dictionary = owned->dictionary ? &*owned->dictionary : nullptr;
  out->release = &release_arrow<T, Kept>;
  out->private_data = owned.release();
}

void make_arrow_schema(const std::string& format, const std::string& name, bool nullable,
                       std::vector<ArrowSchema> children, ArrowSchema* out,
                       std::optional<ArrowSchema> dictionary = std::nullopt);

}  // namespace hoist::python
