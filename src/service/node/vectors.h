// Vectors that were observed, and the ones nearest to a vector.
//
// A vector's name is "VCTR|" and the SHA-1 of its numbers as IEEE 754 doubles, little-endian: equal
// vectors have one name, whatever wrote them. (The reference takes the text that NumPy prints,
// which leaves digits and, of long vectors, numbers out.)
//
// Nearest is by cosine; of equal ones the lesser name. The search looks at every vector: exact.
// Thread-safe.
#pragma once

#include <functional>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace hoist::service {

class Vectors {
 public:
  static constexpr size_t kNearest = 3;

  // The sum of vectors of one length, without -0.0, whose name would be another than that of 0.0.
  static std::vector<double> sum(std::span<const std::vector<double>> vectors);
  static std::string name(std::span<const double> vector);

  struct Named {
    std::string name;
    std::span<const double> numbers;
  };
  static std::vector<Named> named(std::span<const std::vector<double>> vectors);

  // 0 while there are none.
  size_t dimension() const;
  size_t size() const;
  uint64_t memory() const;  // bytes, about
  static uint64_t memory_of(std::span<const Named> vectors);
  // Those that add() would take, one after the other.
  std::vector<Named> missing(std::vector<Named> vectors) const;
  // Whether it is new and of the others' length; else it is left out.
  bool add(std::string_view name, std::span<const double> vector);
  // As they were added.
  void visit(const std::function<void(std::span<const double>)>& visit) const;
  // The names of at most `count` vectors, nearest first.
  std::vector<std::string> nearest(std::span<const double> vector, size_t count = kNearest) const;

 private:
  mutable std::shared_mutex mutex_;
  size_t dimension_ = 0;
  std::vector<std::string> names_;
  std::vector<double> numbers_;  // one vector after the other
  std::vector<double> lengths_;
  std::unordered_map<std::string, size_t> places_;
};

}  // namespace hoist::service
