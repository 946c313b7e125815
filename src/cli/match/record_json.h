// A record (match/record/record.h) as JSON, its keys named as in the reference.
#pragma once

#include <string>

#include "match/index/index.h"

namespace hoist::cli {

// `state` is the one that the record answers, as predict() gave it back.
std::string record_json(const match::Record& record, const match::PatternText& state,
                        const match::Index& index);

// Its present symbols, for people.
std::string record_summary(const match::Record& record, const match::Index& index);

}  // namespace hoist::cli
