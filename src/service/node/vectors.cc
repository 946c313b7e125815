#include "service/node/vectors.h"

#include <fmt/core.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

namespace hoist::service {
namespace {

constexpr uint64_t kEach = 256;  // bytes of a vector beside its numbers

}  // namespace

std::vector<double> Vectors::sum(std::span<const std::vector<double>> vectors) {
  std::vector<double> total(vectors.front().size());  // -0.0 becomes 0.0
  for (const std::vector<double>& vector : vectors) {
    for (size_t i = 0; i < total.size(); ++i) total[i] += vector[i];
  }
  return total;
}

std::string Vectors::name(std::span<const double> vector) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
  unsigned size = 0;
  EVP_Digest(vector.data(), vector.size_bytes(), digest.data(), &size, EVP_sha1(), nullptr);
  std::string text = "VCTR|";
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

std::vector<Vectors::Named> Vectors::named(std::span<const std::vector<double>> vectors) {
  std::vector<Named> named;
  named.reserve(vectors.size());
  for (const std::vector<double>& vector : vectors) named.push_back({name(vector), vector});
  return named;
}

size_t Vectors::dimension() const {
  const std::shared_lock lock(mutex_);
  return dimension_;
}

size_t Vectors::size() const {
  const std::shared_lock lock(mutex_);
  return names_.size();
}

uint64_t Vectors::memory() const {
  const std::shared_lock lock(mutex_);
  return names_.size() * kEach + numbers_.size() * sizeof(double);
}

uint64_t Vectors::memory_of(std::span<const Named> vectors) {
  uint64_t bytes = 0;
  for (const Named& vector : vectors) bytes += kEach + vector.numbers.size_bytes();
  return bytes;
}

std::vector<Vectors::Named> Vectors::missing(std::vector<Named> vectors) const {
  const std::shared_lock lock(mutex_);
  size_t dimension = dimension_;
  std::set<std::string_view> taken;
  std::vector<Named> missing;
  missing.reserve(vectors.size());
  for (Named& vector : vectors) {
    if (dimension != 0 && vector.numbers.size() != dimension) continue;
    if (places_.contains(vector.name) || taken.contains(vector.name)) continue;
    dimension = vector.numbers.size();
    missing.push_back(std::move(vector));
    taken.insert(missing.back().name);
  }
  return missing;
}

bool Vectors::add(std::string_view name, std::span<const double> vector) {
  double squares = 0;
  for (const double number : vector) squares += number * number;
  const double length = std::sqrt(squares);
  const std::lock_guard lock(mutex_);
  if (dimension_ != 0 && vector.size() != dimension_) return false;
  if (!places_.emplace(name, names_.size()).second) return false;
  dimension_ = vector.size();
  names_.emplace_back(name);
  numbers_.insert(numbers_.end(), vector.begin(), vector.end());
  lengths_.push_back(length);
  return true;
}

void Vectors::visit(const std::function<void(std::span<const double>)>& visit) const {
  const std::shared_lock lock(mutex_);
  for (size_t i = 0; i < names_.size(); ++i) {
    visit(std::span(numbers_).subspan(i * dimension_, dimension_));
  }
}

std::vector<std::string> Vectors::nearest(std::span<const double> vector, size_t count) const {
  const std::shared_lock lock(mutex_);
  if (names_.empty() || vector.size() != dimension_) return {};
  struct Found {
    double cosine;  // times the length of `vector`, which is the same for all
    size_t place;
  };
  std::vector<Found> found(names_.size());
  for (size_t i = 0; i < names_.size(); ++i) {
    const double* numbers = numbers_.data() + i * dimension_;
    double product = 0;
    for (size_t k = 0; k < dimension_; ++k) product += numbers[k] * vector[k];
    found[i] = {lengths_[i] > 0 ? product / lengths_[i] : 0, i};
  }
  const size_t wanted = std::min(count, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<ptrdiff_t>(wanted), found.end(),
                    [&](const Found& x, const Found& y) {
                      if (x.cosine != y.cosine) return x.cosine > y.cosine;
                      return names_[x.place] < names_[y.place];
                    });
  std::vector<std::string> names;
  for (size_t i = 0; i < wanted; ++i) names.push_back(names_[found[i].place]);
  return names;
}

}  // namespace hoist::service
