// What hoist.match.SequenceMatcher asks: the second sequence prepared, and what the first has in
// common with it, exactly as difflib answers.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "match/pairs/window_matcher.h"
#include "match/score/blocks.h"
#include "match/score/opcodes.h"
#include "python/interruptible.h"
#include "python/match_elements.h"
#include "python/module.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

using match::Block;
using match::BlockMatcher;
using match::WindowMatcher;

// Work below this is done before another thread could have got the interpreter's lock.
constexpr int64_t kSmallWork = 1 << 14;
// Work from this on takes longer than a thread takes to start.
constexpr int64_t kLongWork = 1 << 22;

nb::tuple triple(uint32_t a, uint32_t b, uint32_t size) { return nb::make_tuple(a, b, size); }

nb::str tag_of(match::Edit edit) {
  switch (edit) {
    case match::Edit::equal:
      return nb::str("equal");
    case match::Edit::replace:
      return nb::str("replace");
    case match::Edit::remove:
      return nb::str("delete");
    case match::Edit::insert:
      break;
  }
  return nb::str("insert");
}

// The second sequence. Nothing of it changes once it is made, so that threads may share it.
class Second {
 public:
  // `junk` has the elements that are.
  Second(std::vector<uint32_t> symbols, bool autojunk, const std::vector<uint32_t>& junk)
      : symbols_(std::move(symbols)), numbers_(symbols_.size() + junk.size()) {
    for (const uint32_t symbol : symbols_) {
      const uint32_t number = numbers_.add(symbol);
      if (number == counts_.size()) counts_.push_back(0);
      ++counts_[number];
    }
    if (junk.empty()) matcher_.emplace(symbols_, autojunk);
    std::vector<bool> is_junk(counts_.size());
    for (const uint32_t symbol : junk) {
      const uint32_t number = numbers_.find(symbol);
      if (number < is_junk.size()) is_junk[number] = true;
    }
    const size_t n = symbols_.size();
    // difflib's rule for what is popular.
    const size_t popular = autojunk && n >= 200 ? n / 100 + 1 : n;
    roles_.reserve(n);
    for (const uint32_t symbol : symbols_) {
      const uint32_t number = numbers_.find(symbol);
      roles_.push_back(is_junk[number]             ? WindowMatcher::Role::junk
                       : counts_[number] > popular ? WindowMatcher::Role::popular
                                                   : WindowMatcher::Role::plain);
    }
  }
  Second(const Second&) = delete;
  Second& operator=(const Second&) = delete;

  size_t size() const { return symbols_.size(); }

  // With `blocks` undefined once it was cancelled.
  void find_blocks(const std::vector<uint32_t>& a, std::vector<Block>& blocks,
                   const std::stop_token& stop = {}) const {
    if (matcher_) {
      thread_local BlockMatcher::Scratch scratch;
      (void)matcher_->find(a, blocks, scratch, stop);
    } else {
      thread_local WindowMatcher::Scratch scratch;
      (void)WindowMatcher(symbols_, roles_).find(a, blocks, scratch, stop);
    }
  }

  // The windows' matcher is made when it is first asked for, under the interpreter's lock.
  const WindowMatcher& windows() const {
    if (!windows_) windows_ = std::make_unique<WindowMatcher>(symbols_, roles_);
    return *windows_;
  }

  // Elements in common whatever their order.
  uint64_t common(const std::vector<uint32_t>& a) const {
    thread_local std::vector<uint32_t> left;
    left.assign(counts_.begin(), counts_.end());
    uint64_t matched = 0;
    for (const uint32_t symbol : a) {
      const uint32_t number = numbers_.find(symbol);
      if (number == match::SymbolMap::kAbsent || left[number] == 0) continue;
      --left[number];
      ++matched;
    }
    return matched;
  }

 private:
  std::vector<uint32_t> symbols_;
  match::SymbolMap numbers_;
  std::vector<uint32_t> counts_;  // by number
  std::vector<WindowMatcher::Role> roles_;
  std::optional<BlockMatcher> matcher_;  // where there is no junk
  mutable std::unique_ptr<WindowMatcher> windows_;
};

// Methods run under the interpreter's lock, which they release while they work on much; what they
// work on then is kept by shared pointers.
class SequencePair {
 public:
  SequencePair(nb::object b, bool autojunk, nb::object junk)
      : b_(std::move(b)),
        autojunk_(autojunk),
        junk_(std::move(junk)),
        // Two strs are compared by characters; everything else as a dict would.
        by_characters_(PyUnicode_CheckExact(b_.ptr())) {
    prepare();
  }

  void set_first(const nb::object& a) {
    if (by_characters_ && !PyUnicode_CheckExact(a.ptr())) {
      by_characters_ = false;
      prepare();
    }
    // Before anything is changed: hashing may raise, call this object again, or let others run.
    auto first = std::make_shared<const std::vector<uint32_t>>(numbers_of(a));
    first_ = std::move(first);
    blocks_.reset();
  }

  double ratio() {
    const size_t total = first_->size() + second_->size();
    return match::difflib_ratio(match::matched_symbols(*blocks()), total);
  }

  double quick_ratio() {
    return match::difflib_ratio(second_->common(*first_), first_->size() + second_->size());
  }

  // With the terminator.
  nb::list matching_blocks() {
    nb::list list;
    const nb::tuple end = nb::make_tuple(first_->size(), second_->size(), 0);
    const Blocks found = blocks();
    for (const Block& block : *found) list.append(triple(block.a, block.b, block.size));
    list.append(end);
    return list;
  }

  nb::list opcodes() {
    nb::list list;
    const auto a_size = static_cast<uint32_t>(first_->size());
    const auto b_size = static_cast<uint32_t>(second_->size());
    const std::vector<match::Opcode> codes = match::opcodes(*blocks(), a_size, b_size);
    for (const match::Opcode& code : codes) {
      list.append(
          nb::make_tuple(tag_of(code.edit), code.a_begin, code.a_end, code.b_begin, code.b_end));
    }
    return list;
  }

  nb::tuple longest_match(int64_t a_begin, int64_t a_end, int64_t b_begin, int64_t b_end) {
    const auto second = second_;
    const auto first = first_;
    if (a_begin > a_end || b_begin > b_end) return nb::make_tuple(a_begin, b_begin, 0);
    if (a_begin < 0 || a_end > std::ssize(*first) || b_begin < 0 ||
        b_end > static_cast<int64_t>(second->size())) {
      throw nb::index_error("a window beyond the end of a sequence");
    }
    const BlockMatcher::Window window = {
        static_cast<uint32_t>(a_begin), static_cast<uint32_t>(a_end),
        static_cast<uint32_t>(b_begin), static_cast<uint32_t>(b_end)};
    const WindowMatcher& windows = second->windows();
    const int64_t work = (a_end - a_begin) * (b_end - b_begin);
    const auto find = [&](const std::stop_token& stop) {
      thread_local WindowMatcher::Scratch scratch;
      return windows.longest(*first, window, scratch, stop);
    };
    const Block block =
        work <= kSmallWork ? find({})
                           : interruptible(work >= kLongWork,
                                           [&](const std::stop_token& stop) { return find(stop); });
    return triple(block.a, block.b, block.size);
  }

  // For the collector of cycles: an element may refer to whoever compares it.
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(b_.ptr());
    Py_VISIT(junk_.ptr());
    Py_VISIT(numbers_.elements().ptr());
    return 0;
  }
  // Lets go of them only once nothing here refers to them: that may run anything.
  void clear() {
    const nb::object b = std::exchange(b_, nb::none());
    const nb::object junk = std::exchange(junk_, nb::none());
    const nb::dict elements = numbers_.take_elements();
  }

  // (ratio, item) of the items whose ratios reach the cut-off.
  nb::list close(const nb::object& items, double cutoff) {
    nb::list list;
    for (const nb::handle item : nb::iter(items)) {
      const nb::object object = nb::borrow(item);
      set_first(object);
      const uint64_t n = first_->size();
      const uint64_t m = second_->size();
      if (match::difflib_ratio(std::min(n, m), n + m) < cutoff || quick_ratio() < cutoff) continue;
      const double reached = ratio();
      if (reached >= cutoff) list.append(nb::make_tuple(reached, object));
    }
    return list;
  }

 private:
  std::vector<uint32_t> numbers_of(const nb::object& sequence) {
    std::vector<uint32_t> out;
    if (by_characters_) {
      append_characters(sequence, out);
    } else {
      numbers_.append(sequence, out);
    }
    return out;
  }

  void prepare() {
    std::vector<uint32_t> symbols = numbers_of(b_);
    std::vector<uint32_t> junk;
    if (!junk_.is_none()) {
      for (const nb::handle element : nb::iter(junk_)) {
        if (by_characters_) {
          append_characters(element, junk);
        } else {
          junk.push_back(numbers_.number(element, false));
        }
      }
    }
    second_ = std::make_shared<const Second>(std::move(symbols), autojunk_, junk);
  }

  using Blocks = std::shared_ptr<const std::vector<Block>>;

  Blocks blocks() {
    if (blocks_) return blocks_;
    const auto second = second_;
    const auto first = first_;
    auto found = std::make_shared<std::vector<Block>>();
    const uint64_t work = uint64_t{first->size()} * second->size();
    if (work <= uint64_t{kSmallWork}) {
      second->find_blocks(*first, *found);
    } else {
      run_interruptibly(work >= uint64_t{kLongWork}, [&](const std::stop_token& stop) {
        second->find_blocks(*first, *found, stop);
      });
    }
    if (first == first_ && second == second_) blocks_ = found;
    return found;
  }

  nb::object b_;
  bool autojunk_;
  nb::object junk_;  // None, or the elements
  bool by_characters_;
  ElementNumbers numbers_{false};
  std::shared_ptr<const Second> second_;
  std::shared_ptr<const std::vector<uint32_t>> first_ =
      std::make_shared<const std::vector<uint32_t>>();
  Blocks blocks_;  // of the two
};

int traverse_pair(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  return nb::inst_ptr<SequencePair>(self)->traverse(visit, arg);
}

int clear_pair(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<SequencePair>(self)->clear();
  return 0;
}

PyType_Slot pair_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_pair)},
                            {Py_tp_clear, reinterpret_cast<void*>(clear_pair)},
                            {0, nullptr}};

}  // namespace

void define_match_sequence(nb::module_& module) {
  nb::class_<SequencePair>(module, "SequencePair", nb::type_slots(pair_slots))
      .def(nb::init<nb::object, bool, nb::object>(), "b"_a, "autojunk"_a, "junk"_a.none())
      .def("set_first", &SequencePair::set_first, "a"_a)
      .def("ratio", &SequencePair::ratio)
      .def("quick_ratio", &SequencePair::quick_ratio)
      .def("matching_blocks", &SequencePair::matching_blocks)
      .def("opcodes", &SequencePair::opcodes)
      .def("longest_match", &SequencePair::longest_match, "a_begin"_a, "a_end"_a, "b_begin"_a,
           "b_end"_a)
      .def("close", &SequencePair::close, "items"_a, "cutoff"_a);
}

}  // namespace hoist::python
