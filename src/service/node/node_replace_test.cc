// Where the contents that a clearing replaces are closed.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "service/node/node.h"
#include "service/node/node_keys.h"
#include "service/node/nodes.h"

namespace hoist::service {
namespace {

class NodeReplaceTest : public ::testing::Test {
 protected:
  NodeReplaceTest() {
    std::filesystem::create_directories(folder_ + "/nodes");
    auto store = SideStore::open(folder_ + "/service.db", match::Durability::batch);
    EXPECT_TRUE(store) << store.error().message;
    store_ = *std::move(store);
    NodeOptions options;
    options.folder = folder_;
    options.device = "cpu";
    options.run_later = [this](std::function<void()> work) {
      if (!takes_) return false;
      later_.push_back(std::move(work));
      return true;
    };
    auto node = Node::open("node", number_, options, *store_);
    EXPECT_TRUE(node) << node.error().message;
    node_ = *std::move(node);
  }
  ~NodeReplaceTest() override {
    node_.reset();
    later_.clear();
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  // The folder of what was learned.
  std::string learn() {
    EXPECT_TRUE(node_->learn({{"a"}, {"b"}}, {}, {}));
    return node_folder(folder_, "node", number_);
  }
  void clear() { ASSERT_TRUE(node_->clear(++number_)); }
  static bool is_there(const std::string& place) { return std::filesystem::exists(place); }

  const std::string folder_ =
      ::testing::TempDir() + "node_replace_test_" + std::to_string(::getpid());
  std::unique_ptr<SideStore> store_;
  uint64_t number_ = 7;
  bool takes_ = true;
  std::vector<std::function<void()>> later_;
  std::unique_ptr<Node> node_;
};

TEST_F(NodeReplaceTest, WhoReplacesClosesWhatNobodyElseHolds) {
  const std::string place = learn();
  clear();
  EXPECT_FALSE(is_there(place));
  const std::string next = learn();
  ASSERT_TRUE(node_->remove());
  EXPECT_FALSE(is_there(next));
  EXPECT_TRUE(later_.empty());
}

TEST_F(NodeReplaceTest, WhoHoldsThemLastClosesNothing) {
  const std::string place = learn();
  auto index = node_->index();
  clear();
  ASSERT_TRUE(is_there(place));
  EXPECT_EQ(index->stats().patterns, 1U);
  index.reset();
  EXPECT_TRUE(is_there(place));
  ASSERT_EQ(later_.size(), 1U);
  later_.front()();
  later_.clear();
  EXPECT_FALSE(is_there(place));
}

TEST_F(NodeReplaceTest, WhatIsDroppedOrNotTakenIsClosedToo) {
  const std::string dropped = learn();
  auto index = node_->index();
  clear();
  index.reset();
  ASSERT_EQ(later_.size(), 1U);
  later_.clear();
  EXPECT_FALSE(is_there(dropped));

  takes_ = false;
  const std::string refused = learn();
  index = node_->index();
  clear();
  index.reset();
  EXPECT_FALSE(is_there(refused));
}

// Opened anew before the store is mended it would learn, and lose that to the mending.
TEST_F(NodeReplaceTest, WhereAClearingFailedItStaysOpenUntilTheStoreIsMended) {
  NodeOptions options;
  options.folder = folder_;
  options.device = "cpu";
  options.most_open = 1;
  auto opened = Nodes::open(options, *store_);
  ASSERT_TRUE(opened) << opened.error().message;
  Nodes& nodes = **opened;
  ASSERT_TRUE(nodes.get("other"));
  {
    const auto node = nodes.get("cleared");
    ASSERT_TRUE(node && (*node)->learn({{"a"}, {"b"}}, {}, {}));
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before = {};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
    EXPECT_FALSE(nodes.clear(**node));
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    ASSERT_TRUE(store_->is_broken());
    EXPECT_FALSE((*node)->learn({{"a"}, {"c"}}, {}, {}));
  }
  ASSERT_TRUE(nodes.get("other"));
  EXPECT_NE(nodes.find_open("cleared"), nullptr);
  ASSERT_TRUE(store_->mend());
  ASSERT_TRUE(nodes.get("third"));  // one too many again
  EXPECT_EQ(nodes.find_open("cleared"), nullptr);
  const auto node = nodes.get("cleared");
  ASSERT_TRUE(node && (*node)->index() != nullptr);
  EXPECT_EQ((*node)->index()->stats().patterns, 1U);
}

}  // namespace
}  // namespace hoist::service
