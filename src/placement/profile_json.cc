#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "placement/profile.h"
#include "placement/rows_json.h"

namespace hoist::placement {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;
// Far above what any machine yields; they bound what a file can make us keep.
constexpr size_t kMostVariants = 4096;
constexpr size_t kMostImplementations = 64;
constexpr size_t kMostPoints = 256;
constexpr size_t kMostRows = 64;
constexpr size_t kMostIntervals = 64;
constexpr size_t kLongestText = 256;
constexpr int kMostCpus = 1 << 20;
constexpr double kLongestSeconds = 1e7;

constexpr const char* kWithHoistd = "rows_with_hoistd";

// Takes values out of untrusted JSON. What has not the wanted form gives a harmless value and is
// remembered: parse first, then ask ok() once.
class Taker {
 public:
  bool ok() const { return ok_; }
  void require(bool condition) { ok_ = ok_ && condition; }

  const Json& member(const Json& object, const char* key) {
    static const Json kNull;
    const auto found = object.is_object() ? object.find(key) : object.end();
    if (object.is_object() && found != object.end()) return *found;
    ok_ = false;
    return kNull;
  }

  const Json& list(const Json& object, const char* key, size_t most) {
    static const Json kEmpty = Json::array();
    const Json& value = member(object, key);
    if (value.is_array() && value.size() <= most) return value;
    ok_ = false;
    return kEmpty;
  }

  std::string text(const Json& object, const char* key) {
    const std::string* value = member(object, key).get_ptr<const std::string*>();
    if (value != nullptr && value->size() <= kLongestText) return *value;
    ok_ = false;
    return {};
  }

  uint64_t number(const Json& object, const char* key, uint64_t least, uint64_t most) {
    const uint64_t* value = member(object, key).get_ptr<const uint64_t*>();
    if (value != nullptr && *value >= least && *value <= most) return *value;
    ok_ = false;
    return least;
  }

  double real(const Json& object, const char* key, double least, double most) {
    const Json& value = member(object, key);
    const double number = value.is_number() ? value.get<double>() : -1;
    if (number >= least && number <= most) return number;
    ok_ = false;
    return least;
  }

 private:
  bool ok_ = true;
};

int take_cpus(Taker& taker, const Json& object) {
  return static_cast<int>(taker.number(object, "cpus", 1, kMostCpus));
}

Point take_point(Taker& taker, const Json& json) {
  Point point;
  point.shape.bytes = taker.number(json, "bytes", 0, UINT64_MAX);
  point.shape.items = taker.number(json, "items", 1, UINT64_MAX);
  point.seconds = taker.real(json, "seconds", 1e-12, kLongestSeconds);
  point.noise = taker.real(json, "noise", 0, 1e6);
  point.runs = static_cast<int>(taker.number(json, "runs", 1, 1u << 20));
  point.factor = taker.real(json, "factor", 0.01, 100);
  return point;
}

MeasuredImplementation take_implementation(Taker& taker, const Json& json) {
  MeasuredImplementation one;
  one.name = taker.text(json, "name");
  for (const Json& entry : taker.list(json, "points", kMostPoints)) {
    const Point point = take_point(taker, entry);
    taker.require(one.points.empty() || point.shape.bytes > one.points.back().shape.bytes);
    one.points.push_back(point);
  }
  taker.require(!one.points.empty());
  return one;
}

Row take_row(Taker& taker, const Json& json) {
  Row row;
  row.cpus = take_cpus(taker, json);
  for (const Json& entry : taker.list(json, "intervals", kMostIntervals)) {
    const uint64_t from = taker.number(entry, "from", 0, UINT64_MAX);
    taker.require(row.intervals.empty() ? from == 0 : from > row.intervals.back().from);
    row.intervals.push_back({from, taker.text(entry, "implementation")});
  }
  taker.require(!row.intervals.empty());
  return row;
}

std::vector<Row> take_rows(Taker& taker, const Json& json, const char* key) {
  std::vector<Row> rows;
  for (const Json& entry : taker.list(json, key, kMostRows)) {
    Row row = take_row(taker, entry);
    taker.require(rows.empty() || row.cpus > rows.back().cpus);
    rows.push_back(std::move(row));
  }
  return rows;
}

MeasuredVariant take_variant(Taker& taker, const Json& json) {
  MeasuredVariant variant;
  variant.name = taker.text(json, "name");
  const std::string residency = taker.text(json, "residency");
  taker.require(residency == "host" || residency == "device");
  variant.residency = residency == "device" ? Residency::device : Residency::host;
  for (const Json& entry : taker.list(json, "implementations", kMostImplementations)) {
    variant.implementations.push_back(take_implementation(taker, entry));
  }
  variant.rows = take_rows(taker, json, "rows");
  if (json.contains(kWithHoistd)) variant.rows_with_hoistd = take_rows(taker, json, kWithHoistd);
  return variant;
}

Json json_of(const MeasuredVariant& variant) {
  Json implementations = Json::array();
  for (const MeasuredImplementation& one : variant.implementations) {
    Json points = Json::array();
    for (const Point& point : one.points) {
      points.push_back({{"bytes", point.shape.bytes},
                        {"items", point.shape.items},
                        {"seconds", point.seconds},
                        {"noise", point.noise},
                        {"runs", point.runs},
                        {"factor", point.factor}});
    }
    implementations.push_back({{"name", one.name}, {"points", std::move(points)}});
  }
  Json json = {{"name", variant.name},
               {"residency", variant.residency == Residency::device ? "device" : "host"},
               {"implementations", std::move(implementations)},
               {"rows", json_of(variant.rows)}};
  if (!variant.rows_with_hoistd.empty()) json[kWithHoistd] = json_of(variant.rows_with_hoistd);
  return json;
}

}  // namespace

Json json_of(const std::vector<Interval>& intervals) {
  Json list = Json::array();
  for (const Interval& interval : intervals) {
    list.push_back({{"from", interval.from}, {"implementation", interval.implementation}});
  }
  return list;
}

Json json_of(const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const Row& row : rows) {
    list.push_back({{"cpus", row.cpus}, {"intervals", json_of(row.intervals)}});
  }
  return list;
}

std::string to_json(const Profile& profile) {
  Json variants = Json::array();
  for (const MeasuredVariant& variant : profile.variants) variants.push_back(json_of(variant));
  const Json json = {{"format", kFormat},
                     {"machine",
                      {{"cpu", profile.machine.cpu},
                       {"gpu", profile.machine.gpu},
                       {"driver", profile.machine.driver},
                       {"cpus", profile.machine.cpus},
                       {"hoist", profile.machine.version}}},
                     {"measured", profile.measured},
                     {"variants", std::move(variants)}};
  return json.dump(1, ' ', true, Json::error_handler_t::replace) + '\n';
}

bool looks_like_profile(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("format") || !json.contains("machine")) return false;
  const Json& machine = json["machine"];
  return machine.is_object() && machine.contains("hoist");
}

Result<Profile> parse_profile(std::string_view text) {
  if (text.size() > kProfileLimit) {
    return fail(ErrorCode::corrupt, "the profile is too large: measure again with `hoist tune`");
  }
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  Taker taker;
  taker.number(json, "format", kFormat, kFormat);
  const Json& machine = taker.member(json, "machine");
  Profile profile;
  profile.machine = {taker.text(machine, "cpu"), taker.text(machine, "gpu"),
                     taker.text(machine, "driver"), take_cpus(taker, machine),
                     taker.text(machine, "hoist")};
  profile.measured = taker.text(json, "measured");
  for (const Json& entry : taker.list(json, "variants", kMostVariants)) {
    profile.variants.push_back(take_variant(taker, entry));
  }
  if (!taker.ok()) {
    return fail(ErrorCode::corrupt,
                "this is no profile of format 1: measure again with "
                "`hoist tune`");
  }
  return profile;
}

}  // namespace hoist::placement
