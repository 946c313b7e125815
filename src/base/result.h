// Errors as values. A function that can fail returns Result<T>; no exception crosses a public
// boundary. An Error names the thing, the place and, where one is known, the mend:
//
//   Result<UniqueFd> fd = open_file(path, O_RDONLY);
//   if (!fd) return fd.error();
#pragma once

#include <concepts>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace hoist {

enum class ErrorCode {
  invalid_argument,
  not_found,
  corrupt,
  unsupported,
  unavailable,
  exhausted,
  io,
  cancelled,
  internal,
};

std::string_view name(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  int system_errno = 0;  // errno behind an io error, 0 where there is none
};

inline Error fail(ErrorCode code, std::string message, int system_errno = 0) {
  return {code, std::move(message), system_errno};
}

template <typename T>
class Result;

template <typename T>
inline constexpr bool kIsResult = false;
template <typename T>
inline constexpr bool kIsResult<Result<T>> = true;

// A value, or why there is none. Like std::expected<T, Error> of C++23, but made from an Error as
// readily as from a value. `*` and `->` are for results that are known to have one.
template <typename T>
class [[nodiscard]] Result {
  template <typename U>
  static constexpr bool kIsValue =
      std::is_constructible_v<T, U> && !std::is_same_v<std::remove_cvref_t<U>, Result> &&
      !std::is_same_v<std::remove_cvref_t<U>, Error> &&
      // Whether another result has a value is not the value of a Result<bool>.
      !(std::is_same_v<T, bool> && kIsResult<std::remove_cvref_t<U>>);

 public:
  using value_type = T;

  Result() requires std::is_default_constructible_v<T>
  = default;
  template <typename U = T>
  requires kIsValue<U>
  // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload)
  explicit(!std::is_convertible_v<U, T>) Result(U&& value)
      : state_(std::in_place_index<0>, std::forward<U>(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  template <typename U>
  requires(!std::is_same_v<U, T> && std::is_convertible_v<U, T>)
      Result(Result<U>&& other)  // NOLINT(google-explicit-constructor)
      : Result(other ? Result(*std::move(other)) : Result(std::move(other).error())) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& operator*() & { return *std::get_if<0>(&state_); }
  const T& operator*() const& { return *std::get_if<0>(&state_); }
  T&& operator*() && { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }

  // Throws std::runtime_error with the error's message: for tests.
  T& value() & { return check(), **this; }
  const T& value() const& { return check(), **this; }
  T&& value() && { return check(), *std::move(*this); }

  template <typename U>
  T value_or(U&& other) const& {
    return has_value() ? **this : static_cast<T>(std::forward<U>(other));
  }
  template <typename U>
  T value_or(U&& other) && {
    return has_value() ? *std::move(*this) : static_cast<T>(std::forward<U>(other));
  }

  friend bool operator==(const Result& result,
                         const T& value) requires std::equality_comparable<T> {
    return result && *result == value;
  }

  Error& error() & { return *std::get_if<1>(&state_); }
  const Error& error() const& { return *std::get_if<1>(&state_); }
  Error&& error() && { return std::move(*std::get_if<1>(&state_)); }

 private:
  void check() const {
    if (!has_value()) throw std::runtime_error(error().message);
  }

  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Error error) : error_(std::move(error)) {}

  bool has_value() const { return !error_; }
  explicit operator bool() const { return has_value(); }

  Error& error() & { return *error_; }
  const Error& error() const& { return *error_; }
  Error&& error() && { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace hoist
