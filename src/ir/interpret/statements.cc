// Statements, for all threads that are at them.
#include <algorithm>
#include <utility>

#include "ir/arithmetic.h"
#include "ir/interpret/frame.h"

namespace hoist::ir {
namespace {

constexpr size_t kLanes = 16;  // of the widest vector

}  // namespace

Frame::Frame(Run& run, uint32_t threads, const std::deque<Array>& arrays)
    : run_(run), threads_(threads), gone_(threads) {
  for (const Array& array : arrays) {
    if (array.space == Space::global) continue;
    const uint64_t copies = array.space == Space::local ? threads : 1;
    own_arrays_[&array].resize(array.count * copies * static_cast<uint64_t>(bytes(array.element)));
  }
}

void Frame::run(const Block& block, Threads active) {
  for (const Statement& statement : block) {
    if (active.empty() || run_.steps_left == 0) return;
    run_.steps_left -= std::min<uint64_t>(run_.steps_left, active.size());
    place_ = statement.place;
    step(statement, active);
    std::erase_if(active, [&](uint32_t thread) { return gone_[thread] != Gone::no; });
  }
}

void Frame::set(const Variable* variable, const Expression& e, const Threads& active) {
  for (const uint32_t thread : active) {
    // The new value may be made of the old one.
    std::array<uint64_t, kLanes> lanes;
    for (int i = 0; i < e.type.lanes; ++i) lanes[static_cast<size_t>(i)] = value(e, thread, i);
    std::copy_n(lanes.data(), e.type.lanes, slot(variable, thread));
  }
}

void Frame::leave(const Threads& active, Gone how) {
  for (const uint32_t thread : active) gone_[thread] = how;
}

// `begins_turn` says for each thread in turn whether it goes on.
template <typename BeginsTurn>
void Frame::repeat(Threads active, const Block& body, Place place, BeginsTurn begins_turn) {
  const Threads all = active;
  while (run_.steps_left > 0) {
    place_ = place;
    std::erase_if(active, [&](uint32_t thread) { return !begins_turn(thread); });
    if (active.empty()) break;
    run_.steps_left -= 1;
    run(body, active);
    std::erase_if(active, [&](uint32_t thread) {
      if (gone_[thread] == Gone::turn) gone_[thread] = Gone::no;
      return gone_[thread] != Gone::no;
    });
  }
  for (const uint32_t thread : all) {
    if (gone_[thread] == Gone::loop) gone_[thread] = Gone::no;
  }
}

void Frame::count(const For& s, const Threads& active) {
  const Scalar type = s.variable->type.scalar;
  struct Counter {
    uint64_t next, to, step;
    bool ended = false;
  };
  std::vector<Counter> counters(threads_);
  for (const uint32_t thread : active) {
    counters[thread] = {value(*s.from, thread), value(*s.to, thread), value(*s.step, thread)};
  }
  repeat(active, s.body, place_, [&](uint32_t thread) {
    Counter& counter = counters[thread];
    const bool down = is_signed(type) && integer_of(type, counter.step) < 0;
    const Comparison before = down ? Comparison::greater : Comparison::less;
    if (counter.ended || counter.step == 0 ||
        !compare_bits(before, type, counter.next, counter.to)) {
      return false;
    }
    *slot(s.variable, thread) = counter.next;
    const uint64_t next = binary_bits(BinaryOperator::add, type, counter.next, counter.step, type);
    counter.ended = !compare_bits(before, type, counter.next, next);  // wrapped
    counter.next = next;
    return true;
  });
}

void Frame::step(const Statement& statement, const Threads& active) {
  match(
      statement, [&](const Declare& s) { set(s.variable, *s.value, active); },
      [&](const Assign& s) { set(s.variable, *s.value, active); },
      [&](const Store& s) {
        for (const uint32_t thread : active) store(s, thread);
      },
      [&](const If& s) {
        Threads yes, no;
        for (const uint32_t thread : active) {
          (value(*s.condition, thread) ? yes : no).push_back(thread);
        }
        run(s.then, std::move(yes));
        run(s.otherwise, std::move(no));
      },
      [&](const For& s) { count(s, active); },
      [&](const While& s) {
        repeat(active, s.body, statement.place,
               [&](uint32_t thread) { return value(*s.condition, thread) != 0; });
      },
      [&](const Break&) { leave(active, Gone::loop); },
      [&](const Continue&) { leave(active, Gone::turn); },
      [&](const Return& s) {
        if (s.value) result_ = value(*s.value, 0);
        leave(active, Gone::body);
      },
      [](const Barrier&) {}, [&](const Shuffle& s) { shuffle(s, active); },
      [&](const Ballot& s) { ballot(s, active); }, [&](const Reduce& s) { reduce(s, active); },
      [&](const Atomic& s) {
        for (const uint32_t thread : active) atomic(s, thread);
      });
}

}  // namespace hoist::ir
