// An index in children that fork() makes while other threads learn, search and sync.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "match/index/index_testing.h"

namespace hoist::match {
namespace {

#if defined(__SANITIZE_THREAD__)  // whose runtime does not know the threads of a child
const int one_thread = ::setenv("HOIST_THREADS", "1", 1);
#endif

Events pattern(uint32_t number) {
  return {{fmt::format("a{}", number % 50)}, {fmt::format("b{}", number)}};
}

// 0: `body` was true in a child that ended by _exit(), or by exit(). One that hangs is killed.
int status_of_child(const std::function<bool()>& body, bool with_handlers = false) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);
    const int status = body() ? 0 : 1;
    if (with_handlers) std::exit(status);
    ::_exit(status);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child ? status : -1;
}

bool is_refused(const Status& status) {
  return !status && status.error().code == ErrorCode::unavailable &&
         status.error().message.find("fork") != std::string::npos;
}

template <typename T>
bool is_refused(const Result<T>& result) {
  return !result && is_refused(Status(result.error()));
}

// All that changes an index, in the child of its process.
bool refuses_changes(Index& index) {
  return is_refused(index.learn(pattern(1), {})) && is_refused(index.remove("name")) &&
         is_refused(index.sync()) && is_refused(index.begin_bulk()) && is_refused(index.end_bulk());
}

// All that only looks at it. Pattern 0, whose name is "first", is there.
bool answers(const Index& index) {
  const auto found = index.search(pattern(0), {.top = 1});
  if (!found || found->hits.size() != 1 || found->hits[0].normalized != 1.0) return false;
  const std::vector<uint32_t> ids = {found->hits[0].id};
  const auto names = index.names(ids);
  if (!names || names->front() != "first" || found->name(found->hits[0]) != "first") return false;
  const Events first = pattern(0);
  PatternText text = pattern_of(first);
  const auto prediction = index.predict(text, {.affinity_emotive = "joy"});
  return prediction && !prediction->records.empty() && index.contains("first") &&
         !index.contains("none") && index.stats().patterns > 0 && index.memory() > 0;
}

class IndexForkTest : public IndexFolderTest {
 protected:
  static void learn_first(Index& index) {
    ASSERT_TRUE(index.learn(pattern(0), {.name = "first", .emotives = {{"joy", 1.0}}}));
  }
};

TEST_F(IndexForkTest, AChildLooksAndChangesNothing) {
  for (const std::string& folder : {std::string(), path()}) {
    auto index = *Index::open(folder, {.create = true});
    learn_first(*index);
    EXPECT_EQ(status_of_child([&] {
                const bool is_right =
                    answers(*index) && refuses_changes(*index) &&
                    index->metadata("none").error().code == ErrorCode::not_found &&
                    (folder.empty() ? index->metadata("first").has_value()
                                    : is_refused(index->metadata("first"))) &&
                    (folder.empty() || is_refused(index->verify()));
                index.reset();
                return is_right;
              }),
              0)
        << folder;
    EXPECT_EQ(*index->verify(), 1u);
    EXPECT_TRUE(index->learn(pattern(1), {}));
  }
  EXPECT_EQ(status_of_child([] { return true; }, true), 0);
  const auto again = Index::open(path(), {});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*(*again)->verify(), 2u);
}

// The folder is free once its process lets it go, though a child lives on.
TEST_F(IndexForkTest, AChildKeepsNoLock) {
  auto index = *Index::open(path(), {.create = true});
  learn_first(*index);
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);
    ::close(pipe[1]);
    char byte;
    ::_exit(::read(pipe[0], &byte, 1) == 0 && answers(*index) ? 0 : 1);
  }
  index.reset();
  auto again = Index::open(path(), {});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE((*again)->learn(pattern(1), {}));
  EXPECT_TRUE((*again)->sync());
  ::close(pipe[1]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ::close(pipe[0]);
}

// Busy threads, and the forks beside them. AddressSanitizer's allocator is not there for a child
// that was forked while another thread was inside it, so with it the threads rest while one forks.
class Bystanders {
 public:
  ~Bystanders() { stop(); }

  void start(const std::function<void()>& step) {
    threads_.emplace_back([this, step] {
      while (!stop_) {
        if (rest_) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        } else {
          step();
        }
      }
    });
  }

  int status_of_child(const std::function<bool()>& body, bool with_handlers) {
#ifdef __SANITIZE_ADDRESS__
    rest_ = true;  // fork() waits until they sleep (tests/sanitized_fork.cc)
#endif
    const int status = match::status_of_child(body, with_handlers);
    rest_ = false;
    return status;
  }

  void stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<bool> rest_ = false;
  std::vector<std::thread> threads_;
};

// Whatever lock is held, list half changed, or thread in the middle of something at the moment.
TEST_F(IndexForkTest, ForksWhileOthersLearnSearchAndSync) {
  for (const std::string& folder : {std::string(), path()}) {
    auto index =
        *Index::open(folder, {.create = true, .recent_patterns = 200, .sync_patterns = 500});
    learn_first(*index);
    std::atomic<uint32_t> learned = 0;
    Bystanders bystanders;
    bystanders.start([&] {
      const uint32_t i = learned + 1;
      const LearnOptions options = {.emotives = {{"joy", 1.0 * i}}};
      ASSERT_TRUE(index->learn(pattern(i), options));
      if (i % 3 == 0) {
        ASSERT_TRUE(index->learn(pattern(i), options));
      }
      learned = i;
    });
    bystanders.start([&] { ASSERT_TRUE(answers(*index)); });
    bystanders.start([&] { ASSERT_TRUE(index->sync()); });
    for (int i = 0; i < 40; ++i) {
      const int status = bystanders.status_of_child(
          [&] {
            const bool is_right = answers(*index) && refuses_changes(*index);
            if (i % 4 == 1) index.reset();
            return is_right;
          },
          i % 2 == 0);
      EXPECT_EQ(status, 0) << folder << " " << i;
    }
    bystanders.stop();
    EXPECT_EQ(*index->verify(), 1 + learned);
    if (folder.empty()) continue;
    index.reset();
    const auto again = Index::open(folder, {});
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*(*again)->verify(), 1 + learned);
  }
}

}  // namespace
}  // namespace hoist::match
