// Long calls of engines that Ctrl-C stops, or any other signal whose handler raises.
//
//   auto found = interruptible(is_long, [&](const std::stop_token& stop) {
//     return index->search(states, {.stop = stop});
//   });
//
// The interpreter's lock is free while `work` works. Signals are handled by the main thread alone,
// and only while it holds the lock: there, what is long runs on a thread of its own, and the main
// thread takes the lock every 20 ms to let handlers run. Where one raises, the work is asked to
// stop, and its exception is thrown once it has. On another thread the interpreter's end asks it to
// stop. Work that is not long runs on the calling thread,
// as a thread takes longer to start than it takes.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace hoist::python {

// With the interpreter's lock held. Throws what handlers raise, and what `work` throws; `work` must
// not touch Python objects.
void run_interruptibly(bool is_long, const std::function<void(const std::stop_token&)>& work);

// The same for what gives an answer.
template <typename Work>
auto interruptible(bool is_long, const Work& work) {
  std::optional<std::invoke_result_t<const Work&, const std::stop_token&>> answer;
  run_interruptibly(is_long, [&](const std::stop_token& stop) { answer.emplace(work(stop)); });
  return std::move(*answer);
}

// For loops that hold the lock: lets handlers run now and then, and throws what they raise.
void check_signals(size_t step);

}  // namespace hoist::python
