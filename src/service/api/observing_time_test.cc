// What leaves the loop: learning that takes long, by what it brings and by what the node does.
#include "service/api/observing_time.h"

#include <gtest/gtest.h>

#include <string>

#include "service/service_testing.h"

namespace hoist::service {
namespace {

class ObservingTimeTest : public ServiceTest {
 protected:
  ObservingTimeTest() : node_(service_->nodes().get("node").value()) {}
  ~ObservingTimeTest() override { node_.reset(); }

  static Event symbols(size_t count) {
    Event event;
    for (size_t i = 0; i < count; ++i) event.push_back("s" + std::to_string(i));
    return event;
  }
  static match::Emotives emotives(size_t count) {
    match::Emotives felt;
    for (size_t i = 0; i < count; ++i) felt.emplace_back("e" + std::to_string(i), 1.0);
    return felt;
  }

  std::shared_ptr<Node> node_;
  Session session_;
};

TEST_F(ObservingTimeTest, SymbolsTimesEmotives) {
  session_.stm.push_back(symbols(20));
  for (int i = 0; i < 1000; ++i) session_.emotives.push_back(emotives(2));  // the same two
  EXPECT_FALSE(learning_takes_long(session_, *node_));
  session_.emotives.push_back(emotives(200));
  EXPECT_TRUE(learning_takes_long(session_, *node_));
  session_.emotives.clear();
  session_.stm.push_back(symbols(2000));
  EXPECT_FALSE(learning_takes_long(session_, *node_));
  session_.emotives.push_back(emotives(2));
  EXPECT_TRUE(learning_takes_long(session_, *node_));
}

TEST_F(ObservingTimeTest, EmotivesThatAreHeld) {
  session_.stm.push_back({"a", "b"});
  for (int i = 0; i < 100; ++i) session_.emotives.push_back(emotives(100));
  EXPECT_TRUE(learning_takes_long(session_, *node_));
}

TEST_F(ObservingTimeTest, AnObservationThatLearns) {
  Observation observation;
  observation.strings = symbols(100);
  observation.emotives = emotives(100);
  EXPECT_FALSE(takes_long(observation, session_, *node_));
  ObservationSequence sequence;
  sequence.observations = {observation};
  EXPECT_FALSE(takes_long(sequence, session_, *node_));
  sequence.learn_at_end = true;
  EXPECT_TRUE(takes_long(sequence, session_, *node_));
  ASSERT_TRUE(session_.config.update({{"max_pattern_length", 1}}).empty());
  EXPECT_TRUE(takes_long(observation, session_, *node_));
}

TEST_F(ObservingTimeTest, MetadataOfANodeThatHasLargeMetadata) {
  session_.stm.push_back({"a", "b"});
  ASSERT_TRUE(node_->learn({{"a"}, {"b"}}, {}, {{"k", {std::string(100'000, 'x')}}}));
  ASSERT_TRUE(node_->has_large_metadata());
  EXPECT_FALSE(learning_takes_long(session_, *node_));
  session_.metadata_seen.push_back({{"k", 1}});
  EXPECT_TRUE(learning_takes_long(session_, *node_));
  ObservationSequence sequence;
  sequence.observations.emplace_back().strings = {"c"};
  EXPECT_FALSE(takes_long(sequence, session_, *node_));  // it does not learn
  sequence.learn_at_end = true;
  EXPECT_TRUE(takes_long(sequence, session_, *node_));
}

}  // namespace
}  // namespace hoist::service
