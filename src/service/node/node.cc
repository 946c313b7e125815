#include "service/node/node.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <new>
#include <utility>

#include "base/file.h"
#include "base/log.h"
#include "service/node/node_keys.h"
#include "service/session/session_table.h"

namespace hoist::service {

std::string Node::folder(uint64_t number) const {
  return node_folder(options_.folder, id_, number);
}

std::shared_ptr<Node::Contents> Node::contents() const {
  const std::lock_guard lock(mutex_);
  return contents_;
}

// As long as somebody asks the index the contents are there, and their folder.
std::shared_ptr<match::Index> Node::index_of(const std::shared_ptr<Contents>& contents) const {
  const std::lock_guard lock(mutex_);
  return {contents, contents->index.get()};
}

std::shared_ptr<match::Index> Node::index() const { return index_of(contents()); }

bool Node::is_broken() const {
  const std::shared_ptr<match::Index> index = this->index();
  return index != nullptr && !index->takes_writes();
}

std::shared_ptr<const Affinities> Node::affinities() const {
  const std::shared_ptr<Contents> contents = this->contents();
  return {contents, &contents->affinities};
}

// What is left over because this process ends meanwhile goes at the next start.
Node::Contents::~Contents() {
  index.reset();
  if (doomed.empty()) return;
  std::error_code error;
  std::filesystem::remove_all(doomed, error);
  if (error) log(LogLevel::warn, "cannot remove {}: {}", doomed, error.message());
}

std::shared_ptr<Node::Contents> Node::new_contents(uint64_t number) const {
  const auto close = [](Contents* last) {
    std::unique_ptr<Contents> here(last);
    if (last->doomed.empty() || !last->run_later) return;
    const auto run_later = std::move(last->run_later);
    try {
      // Where it is not run the closure closes them, wherever it is dropped.
      run_later([there = std::shared_ptr<Contents>(std::move(here))] {});
    } catch (const std::bad_alloc&) {  // they are closed here
    }
  };
  std::shared_ptr<Contents> contents(new Contents, close);
  contents->number = number;
  contents->run_later = options_.run_later;
  return contents;
}

Node::Replaced::~Replaced() {
  if (contents_.use_count() == 1) contents_->run_later = {};
}

Node::OpenIndex Node::open_index(uint64_t number) const {
  return open_index_at(folder(number), false);
}

// Elsewhere first: a folder in its place has an index that was made to its end, whenever the
// process ended. One that is in its place already could not be opened when it was made, for a full
// disk, say: it is the one to open.
Node::OpenIndex Node::make_index(uint64_t number) const {
  const std::string place = folder(number);
  const bool syncs = options_.durability == match::Durability::sync;
  std::error_code error;
  if (!std::filesystem::exists(place, error)) {
    const std::string parent = options_.folder + kUnfinished;
    const std::string unfinished = fmt::format("{}/{}", parent, number);
    const auto make = [&]() -> Status {
      std::filesystem::create_directories(parent, error);
      if (auto made = open_index_at(unfinished, true); !made) return made.error();
      if (Status synced = syncs ? sync_folder(unfinished) : Status(); !synced) return synced;
      std::filesystem::rename(unfinished, place, error);
      if (!error) return {};
      return fail(ErrorCode::io, fmt::format("cannot make {}: {}", place, error.message()));
    };
    std::filesystem::remove_all(unfinished, error);
    if (Status made = make(); !made) {
      std::filesystem::remove_all(unfinished, error);
      return made.error();
    }
  }
  if (Status synced = syncs ? sync_folder(options_.folder + "/nodes") : Status(); !synced) {
    return synced.error();
  }
  return open_index(number);
}

Node::OpenIndex Node::open_index_at(const std::string& path, bool create) const {
  match::IndexOptions options;
  options.create = create;
  // Vectors' symbols stay before strings, each sorted by itself.
  options.settings = {.sort = false, .persistence = 5};
  options.durability = options_.durability;
  options.max_memory = options_.max_memory;
  options.device = options_.device;
  return match::Index::open(path, options);
}

Result<std::unique_ptr<Node>> Node::open(std::string id, uint64_t number,
                                         const NodeOptions& options, SideStore& store) {
  std::unique_ptr<Node> node(new Node(std::move(id), options, store));
  auto contents = node->new_contents(number);
  if (Status read = node->read_back(*contents); !read) return read.error();
  std::error_code ignored;
  if (std::filesystem::exists(node->folder(number), ignored)) {
    auto index = node->open_index(number);
    if (!index) return index.error();
    contents->index = *std::move(index);
  }
  node->contents_ = std::move(contents);
  return node;
}

Status Node::read_back(Contents& contents) const {
  const std::string node = node_key_part(contents.number);
  bool is_whole = true;
  Status read =
      store_.scan(keys::kAffinity + node, [&](std::string_view key, std::string_view sum) {
        const auto symbol = take_key_part(key);
        double value = 0;
        if (!symbol || sum.size() != sizeof value) {
          is_whole = false;
          return;
        }
        std::memcpy(&value, sum.data(), sizeof value);
        contents.affinities.set(*symbol, key, value);
      });
  if (!read) return read;
  read = store_.scan(keys::kVector + node, [&](std::string_view name, std::string_view bytes) {
    std::vector<double> vector(bytes.size() / sizeof(double));
    std::memcpy(vector.data(), bytes.data(), vector.size() * sizeof(double));
    const size_t dimension = contents.vectors.dimension();
    if (vector.empty() || (dimension != 0 && dimension != vector.size())) {
      is_whole = false;
      return;
    }
    contents.vectors.add(name, vector);
  });
  if (!read) return read;
  const auto finalized = store_.get(keys::kFinalized + node);
  if (!finalized) return finalized.error();
  contents.finalized = finalized->has_value();
  if (is_whole) return {};
  return fail(ErrorCode::corrupt,
              fmt::format("what the service's store has of node {} is damaged", id_));
}

Result<match::Index*> Node::index_to_learn_in(Contents& contents) {
  const auto known = [&] {
    const std::lock_guard lock(mutex_);
    return contents.index.get();
  };
  if (match::Index* index = known()) return index;
  // Making takes long: others that ask whether there is one are not held up.
  const std::lock_guard mine(making_);
  if (match::Index* index = known()) return index;
  auto made = make_index(contents.number);
  if (!made) return made.error();
  const std::lock_guard lock(mutex_);
  contents.index = *std::move(made);
  return contents.index.get();
}

Status Node::prepare_to_learn() {
  const std::shared_lock with_others(replacing_);
  if (removed_) return removed();
  const auto made = index_to_learn_in(*contents());
  return made ? Status() : made.error();
}

Status Node::forget(std::string_view name) {
  const std::shared_ptr<match::Index> index = this->index();
  if (index != nullptr) return index->remove(name);
  return fail(ErrorCode::not_found, fmt::format("no pattern {} (in node {})", name, id_));
}

Result<ObservedVectors> Node::observe_vectors(std::span<const std::vector<double>> vectors) const {
  const std::shared_ptr<Contents> contents = this->contents();
  size_t dimension = contents->vectors.dimension();
  if (dimension == 0) dimension = vectors.front().size();
  for (const std::vector<double>& vector : vectors) {
    if (vector.size() == dimension && dimension > 0) continue;
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("Vector dimension mismatch: expected {}, got {}", dimension, vector.size()));
  }
  ObservedVectors observed;
  observed.sum = Vectors::sum(vectors);
  if (!std::all_of(observed.sum.begin(), observed.sum.end(),
                   [](double number) { return std::isfinite(number); })) {
    return fail(ErrorCode::invalid_argument, "the vectors' sum is beyond a double's range");
  }
  const std::string name = Vectors::name(observed.sum);
  observed.symbols = contents->vectors.nearest(observed.sum);
  if (std::find(observed.symbols.begin(), observed.symbols.end(), name) == observed.symbols.end()) {
    observed.symbols.push_back(name);
  }
  std::sort(observed.symbols.begin(), observed.symbols.end());
  return observed;
}

size_t Node::vector_numbers() const {
  const std::shared_ptr<Contents> contents = this->contents();
  return contents->vectors.size() * contents->vectors.dimension();
}

Result<uint64_t> Node::finalize_training() {
  const std::shared_ptr<match::Index> index = this->index();
  if (index == nullptr) return uint64_t{0};
  if (Status goes = goes_on(); !goes) return goes.error();
  if (Status synced = index->sync(); !synced) return synced.error();
  const std::shared_lock with_others(replacing_);
  const std::shared_ptr<Contents> contents = this->contents();
  // Cleared meanwhile: what was finalised is gone.
  if (removed_ || index_of(contents).get() != index.get()) return uint64_t{0};
  SideStore::Batch batch;
  batch.put(keys::kFinalized + node_key_part(contents->number), "");
  if (Status written = store_.write(batch); !written) return written.error();
  contents->finalized = true;
  return index->stats().patterns;
}

Status Node::clear(uint64_t number) {
  auto fresh = new_contents(number);
  SideStore::Batch batch;
  // Its files go when others learn again.
  Replaced before;
  const LongHold hold(*this);
  const std::lock_guard alone(replacing_);
  return replace(std::move(fresh), batch, before);
}

// With `replacing_` alone.
Status Node::replace(std::shared_ptr<Contents> fresh, SideStore::Batch& batch, Replaced& before) {
  if (removed_) return removed();
  before.set(contents());
  const uint64_t number = before.get()->number;
  discard(id_, number, batch);
  batch.put(keys::kNode + id_, node_key_part(fresh->number));
  if (Status written = write_surely(batch, *before.get()); !written) return written;
  before.get()->doomed = folder(number);
  const std::lock_guard lock(mutex_);
  contents_ = std::move(fresh);
  return {};
}

Status Node::remove() {
  Replaced before;  // its files go when others are answered again
  const LongHold hold(*this);
  const std::lock_guard alone(replacing_);
  if (removed_) return removed();
  before.set(contents());
  const uint64_t number = before.get()->number;
  SideStore::Batch batch;
  discard(id_, number, batch);
  if (Status written = write_surely(batch, *before.get()); !written) return written;
  removed_ = true;
  before.get()->doomed = folder(number);
  const std::lock_guard lock(mutex_);
  contents_ = new_contents(0);
  return {};
}

Status Node::remove(const std::string& id, uint64_t number, const std::string& folder,
                    SideStore& store) {
  SideStore::Batch batch;
  discard(id, number, batch);
  if (Status written = store.write(batch); !written) return written;
  Contents gone;
  gone.doomed = node_folder(folder, id, number);
  return {};
}

// What the store has of it.
void Node::discard(const std::string& id, uint64_t number, SideStore::Batch& batch) {
  batch.remove(keys::kNode + id);
  for (const std::string_view kind : {keys::kAffinity, keys::kVector, keys::kFinalized}) {
    batch.remove_prefix(std::string(kind) + node_key_part(number));
  }
}

// Where that fails all of it is put back with the store's mending, and nothing is learned before.
Status Node::write_surely(const SideStore::Batch& batch, const Contents& before) {
  Status written = store_.write(batch, [&](SideStore::Batch& undo) { put_all(id_, before, undo); });
  if (!written) is_doubtful_ = true;
  return written;
}

Status Node::check_certain() const {
  if (is_uncertain()) {
    return fail(ErrorCode::unavailable,
                fmt::format("node {} takes nothing until the service's store does: whether it was "
                            "cleared is not known",
                            id_));
  }
  is_doubtful_ = false;
  return {};
}

Error Node::removed() const {
  return fail(ErrorCode::not_found, fmt::format("node {} was deleted", id_));
}

void Node::note_use() {
  uses_.fetch_add(1, std::memory_order_relaxed);
  last_used_ms_.store(now_ms(), std::memory_order_relaxed);
}

std::chrono::system_clock::time_point Node::last_used() const {
  return std::chrono::system_clock::time_point(std::chrono::milliseconds(last_used_ms_.load()));
}

}  // namespace hoist::service
