// Snapshots that are cut short, given up or deleted meanwhile, and what is on the disk of them.
#include "service/node/snapshots.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/file.h"
#include "service/service_testing.h"

namespace {

// Folders that were synced, each with how many entries it had.
std::mutex syncs_mutex;
std::vector<std::pair<std::string, size_t>> syncs;

void note_sync(int fd) {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), error);
  if (error || !std::filesystem::is_directory(path, error)) return;
  const std::filesystem::directory_iterator entries(path, error);
  const std::lock_guard lock(syncs_mutex);
  syncs.emplace_back(path, std::distance(begin(entries), end(entries)));
}

}  // namespace

// In the place of the C library's.
extern "C" int fsync(int fd) {
  note_sync(fd);
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace hoist::service {
namespace {

constexpr std::string_view kHead = R"({"hoist_node":2,"node_id":"node","finalized":false})";

class SnapshotsTest : public ServiceTest {
 protected:
  std::string learn_all(const std::vector<Event>& events) {
    const std::string id = session();
    observe_all(id, events);
    return learn(id);
  }
  std::string snapshot() { return json("POST", "/nodes/node/snapshots")["snapshot"]; }
  net::HttpResponse restore(const std::string& name) {
    return ask("POST", "/nodes/node/snapshots/" + name + "/restore");
  }
  net::HttpResponse remove_node() {
    return ask("DELETE", "/nodes/node", {}, {{"sessions", "end"}, {"snapshots", "delete"}});
  }
  // Under the service's folder.
  std::vector<std::string> files_in(const std::string& place) const {
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(folder_ + "/" + place, error)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    return files;
  }
  size_t indexes() const {
    const std::filesystem::directory_iterator entries(folder_ + "/nodes");
    return static_cast<size_t>(std::distance(begin(entries), end(entries)));
  }
  std::vector<std::string> nodes() { return service_->nodes().names().value(); }
};

TEST_F(SnapshotsTest, ARestoreThatIsGivenUpChangesNothing) {
  const std::string name = learn_all({{"x"}, {"y"}});
  for (const std::string node : {"node", "another"}) {
    start();
    size_t lines = 0;
    const auto read = [&]() -> Result<std::optional<std::string>> {
      if (++lines == 1) return std::optional<std::string>(kHead);
      if (lines == 5) service_->stop();
      if (lines == 1000) return std::optional<std::string>();
      return std::optional(R"({"events":[["a"],["b)" + std::to_string(lines) + "\"]]}");
    };
    const auto restored = service_->nodes().restore(node, read);
    ASSERT_FALSE(restored);
    EXPECT_EQ(restored.error().code, ErrorCode::unavailable) << restored.error().message;
    EXPECT_EQ(lines, 5U);
    EXPECT_EQ(indexes(), 1U);
    EXPECT_EQ(nodes(), std::vector<std::string>{"node"});
    const auto index = service_->nodes().look("node").value()->index();
    EXPECT_TRUE(index->contains(name.substr(std::string_view("PTRN|").size())));
    EXPECT_EQ(index->stats().patterns, 1U);
  }
}

TEST_F(SnapshotsTest, ARestoreThatFailsMakesNoNode) {
  learn_all({{"x"}, {"y"}});
  const std::string copy = snapshot();
  ASSERT_EQ(ask("DELETE", "/nodes/node", {}, {{"sessions", "end"}}).status, 200);
  const std::string file = files_in("snapshots").at(0);
  const std::string whole = read_file(file, 1 << 20).value();
  std::ofstream(file, std::ios::trunc) << whole.substr(0, whole.size() - 2);
  EXPECT_GE(restore(copy).status, 400);
  EXPECT_EQ(nodes(), std::vector<std::string>());
  EXPECT_EQ(indexes(), 0U);
  std::ofstream(file, std::ios::trunc) << whole;
  EXPECT_EQ(restore(copy).status, 200);
  EXPECT_EQ(nodes(), std::vector<std::string>{"node"});
}

TEST_F(SnapshotsTest, CopiesEndWithTheService) {
  constexpr size_t kPatterns = 50;
  for (size_t i = 0; i < kPatterns; ++i) learn_all({{"x"}, {std::to_string(i)}});
  const std::string id = session();
  const auto node = service_->nodes().get("node").value();
  const auto lines_until = [&](size_t last) {
    size_t lines = 0;
    const Status saved = node->save([&](std::string_view) {
      if (++lines == last) service_->stop();
      return true;
    });
    EXPECT_EQ(saved.has_value(), lines < last);
    return lines;
  };
  EXPECT_EQ(lines_until(SIZE_MAX), 1 + kPatterns);
  snapshot();
  EXPECT_EQ(files_in("snapshots").size(), 1U);
  EXPECT_EQ(lines_until(7), 7U);

  size_t visited = 0;
  const Status all = node->visit([&](const match::VisitedPattern&, const std::string&) {
    ++visited;
    return true;
  });
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, ErrorCode::unavailable);
  EXPECT_EQ(visited, 0U);
  EXPECT_EQ(ask("POST", "/nodes/node/snapshots").status, 503);
  EXPECT_EQ(files_in("snapshots").size(), 1U);
  EXPECT_EQ(files_in("unfinished"), std::vector<std::string>());
  EXPECT_EQ(ask("POST", "/sessions/" + id + "/finalize-training").status, 503);
  EXPECT_FALSE(node->is_finalized());
}

// Whichever is first: the other one finds what there is then.
TEST_F(SnapshotsTest, AreRestoredWhileTheyAreDeleted) {
  size_t restored = 0, refused = 0;
  for (int i = 0; i < 50; ++i) {
    learn_all({{"x"}, {"y"}});
    const std::string copy = snapshot();
    std::atomic<bool> begins = false;
    std::thread deleter([&] {
      while (!begins) std::this_thread::yield();
      EXPECT_EQ(ask("DELETE", "/nodes/node/snapshots/" + copy).status, 200);
    });
    begins = true;
    const auto answer = restore(copy);
    deleter.join();
    EXPECT_TRUE(answer.status == 200 || answer.status == 404) << answer.status << answer.body;
    ++(answer.status == 200 ? restored : refused);
    EXPECT_EQ(restore(copy).status, 404);
    EXPECT_EQ(ask("DELETE", "/nodes/node/snapshots/" + copy).status, 404);
    EXPECT_EQ(remove_node().status, 200);
  }
  EXPECT_EQ(restored + refused, 50U);
}

TEST_F(SnapshotsTest, ANodeThatIsDeletedStaysSoWhereItsSnapshotIsMissing) {
  for (int i = 0; i < 50; ++i) {
    learn_all({{"x"}, {"y"}});
    const std::string copy = snapshot();
    std::thread deleter([&] { EXPECT_EQ(remove_node().status, 200); });
    const auto answer = restore(copy);
    deleter.join();
    EXPECT_TRUE(answer.status == 200 || answer.status == 404) << answer.status << answer.body;
    EXPECT_TRUE(answer.status == 200 || nodes().empty());
    remove_node();
  }
}

TEST_F(SnapshotsTest, AreWhereTheyWereAfterAPowerCut) {
  learn_all({{"x"}, {"y"}});
  const auto node = service_->nodes().get("node").value();
  for (const auto durability : {match::Durability::batch, match::Durability::sync}) {
    std::filesystem::remove_all(folder_ + "/snapshots");
    {
      const std::lock_guard lock(syncs_mutex);
      syncs.clear();
    }
    ASSERT_TRUE(Snapshots(folder_, durability).make(*node));
    const std::string file = files_in("snapshots").at(0);
    const auto folder = std::filesystem::path(file).parent_path();
    const std::vector<std::pair<std::string, size_t>> wanted = {{folder, 1},
                                                                {folder.parent_path(), 1}};
    const std::lock_guard lock(syncs_mutex);
    for (const auto& one : wanted) {
      EXPECT_EQ(std::count(syncs.begin(), syncs.end(), one),
                durability == match::Durability::sync ? 1 : 0)
          << one.first;
    }
  }
}

}  // namespace
}  // namespace hoist::service
