// Who asks for which format.
#include "service/api/pattern_format.h"

#include <gtest/gtest.h>

namespace hoist::service {
namespace {

constexpr auto kLines = PatternFormat::json_lines;
constexpr auto kStream = PatternFormat::arrow_stream;
constexpr auto kFile = PatternFormat::arrow_file;

PatternFormat wanted(std::vector<std::string> accept) {
  net::HttpRequest request;
  for (std::string& value : accept) request.headers.push_back({"accept", std::move(value)});
  BodyFaults faults;
  return format_of_answer(request, faults).value();
}

TEST(PatternFormat, AcceptByWeightThenByOrder) {
  const std::string stream = "application/vnd.apache.arrow.stream";
  const std::string file = "application/vnd.apache.arrow.file";
  EXPECT_EQ(wanted({}), kLines);
  EXPECT_EQ(wanted({""}), kLines);
  EXPECT_EQ(wanted({"*/*"}), kLines);
  EXPECT_EQ(wanted({"text/html, image/*"}), kLines);
  EXPECT_EQ(wanted({stream}), kStream);
  EXPECT_EQ(wanted({"Application/VND.apache.arrow.STREAM ; a=b"}), kStream);
  EXPECT_EQ(wanted({file}), kFile);
  EXPECT_EQ(wanted({stream + "," + file}), kStream);
  EXPECT_EQ(wanted({file + "," + stream}), kFile);
  EXPECT_EQ(wanted({file, stream}), kFile);
  EXPECT_EQ(wanted({"text/html, " + stream + ", */*;q=0.8"}), kStream);
  EXPECT_EQ(wanted({stream + ";q=0.5, application/jsonl"}), kLines);
  EXPECT_EQ(wanted({stream + ";q=0.5," + file + " ; x=1; q=0.7"}), kFile);
  EXPECT_EQ(wanted({stream + ";q=0"}), kLines);
  EXPECT_EQ(wanted({stream + ";q=none"}), kLines);
  EXPECT_EQ(wanted({stream + ";q=7"}), kLines);
  EXPECT_EQ(wanted({",;,q=1,;;" + stream}), kLines);
}

TEST(PatternFormat, TheArgumentDecides) {
  net::HttpRequest request;
  request.headers.push_back({"accept", "application/vnd.apache.arrow.file"});
  request.headers.push_back({"content-type", "application/vnd.apache.arrow.stream; x=y"});
  BodyFaults faults;
  EXPECT_EQ(format_of_answer(request, faults), kFile);
  EXPECT_EQ(format_of_body(request, faults), kStream);
  request.query = {{"format", "jsonl"}};
  EXPECT_EQ(format_of_answer(request, faults), kLines);
  EXPECT_EQ(format_of_body(request, faults), kLines);
  request.query = {{"format", "arrow"}};
  EXPECT_EQ(format_of_answer(request, faults), kStream);
  EXPECT_TRUE(faults.empty());
  request.query = {{"format", "Arrow"}};
  EXPECT_FALSE(format_of_body(request, faults));
  EXPECT_EQ(faults.response().status, 422);
}

}  // namespace
}  // namespace hoist::service
