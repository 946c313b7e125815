// Fuzzes what is read from the user's cache: the profile's JSON and the records of timings. An
// accepted profile must survive writing and reading, and decisions must come out of it.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "placement/decide.h"
#include "placement/decision_table.h"
#include "placement/profile.h"
#include "placement/record.h"
#include "placement/refine.h"
#include "takeover/decisions.h"

using namespace hoist::placement;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

const Registry& registry() {
  static Registry* const known = [] {
    auto* made = new Registry;
    Operation sort;
    sort.name = "sort";
    sort.variants = {{"C"}};
    sort.implementations = {{"original"}, {"cpu-1"}, {"cpu-all", 0}};
    require(made->add(std::move(sort)).has_value());
    return made;
  }();
  return *known;
}

void check_table(const Profile& profile) {
  const VariantHandle* sort = registry().find_variant("sort/C");
  for (const int cpus : {1, 3}) {
    const DecisionTable table(*sort, Residency::host, &profile, cpus);
    for (int bit = 0; bit < 64; ++bit) {
      const uint64_t bytes = uint64_t{1} << bit;
      const Choice& choice = table.find(bytes);
      require(choice.from <= bytes && bytes < choice.until);
      require(choice.implementation < (cpus > 1 ? 3u : 2u));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<Timing> timings = decode_timings(text);
  hoist::Result<Profile> profile = parse_profile(text);
  if (!profile) return 0;
  check_table(*profile);
  const std::string json = to_json(*profile);
  const hoist::Result<Profile> again = parse_profile(json);
  require(again && to_json(*again) == json);
  if (profile->variants.size() > 8) return 0;  // the rest is slow, and the same for each
  Profile decided = *profile;
  decide(decided, &*profile, registry());
  check_table(decided);
  static hoist_decisions decisions;
  const std::string lines = decisions_text(decided);
  (void)hoist_parse_decisions(&decisions, lines.data(), lines.size(), hoist_machine_key());
  fold_timings(decided, timings, 0);
  return 0;
}
