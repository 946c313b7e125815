#include "python/match_hits.h"

#include <nanobind/ndarray.h>

#include "python/interruptible.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

template <typename T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> array_of(std::vector<T>&& values) {
  auto* const kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* it) noexcept { delete static_cast<std::vector<T>*>(it); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

}  // namespace

nb::tuple Hits::arrays(bool normalized) const {
  std::vector<double> scores;
  std::vector<int64_t> ids;
  std::vector<int64_t> ends;
  for (const match::IndexSearchResult& result : results_) {
    for (const match::IndexHit& hit : result.hits) {
      scores.push_back(normalized ? hit.normalized : hit.score);
      ids.push_back(hit.id);
    }
    ends.push_back(static_cast<int64_t>(ids.size()));
  }
  return nb::make_tuple(array_of(std::move(scores)), array_of(std::move(ids)),
                        array_of(std::move(ends)));
}

nb::list Hits::names() const {
  nb::list all;
  size_t made = 0;
  for (const match::IndexSearchResult& result : results_) {
    nb::list names;
    for (const match::IndexHit& hit : result.hits) {
      check_signals(made++);
      const std::string name = result.name(hit);
      names.append(nb::str(name.data(), name.size()));
    }
    all.append(names);
  }
  return all;
}

void define_hits(nb::module_& module) {
  nb::class_<Hits>(module, "Hits")
      .def("arrays", &Hits::arrays, "normalized"_a)
      .def("names", &Hits::names);
}

}  // namespace hoist::python
