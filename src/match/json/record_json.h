// A record (match/record/record.h) as JSON, its keys named as in the reference.
#pragma once

#include <string>

#include "match/index/index.h"

namespace hoist::match {

// `state` is the one that the record answers, as predict() gave it back.
std::string record_json(const Record& record, const PatternText& state, const Index& index);
void append_record_json(std::string& out, const Record& record, const PatternText& state,
                        const Index& index);

// Its present symbols, for people.
std::string record_summary(const Record& record, const Index& index);

}  // namespace hoist::match
