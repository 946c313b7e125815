// Exact similarity search over sequences of symbols, and scores of pairs. Part of Hoist's C++
// library (hoist/array.hpp says how to link it, and how errors come).
//
// An index holds patterns: lists of events, an event a list of symbols. It finds every pattern that
// is as like a state as the threshold asks, never an approximation of that:
//
//   Result<std::unique_ptr<Index>> index = Index::open("", {.create = true});  // in memory
//   if (!index) return index.error();
//   Result<Learned> learned = (*index)->learn({{"shoe"}, {"sock"}, {"hat"}});
//   if (!learned) return learned.error();
//   Result<IndexSearchResult> found =
//       (*index)->search({{"shoe"}, {"sock"}}, {.threshold = 0.5, .top = 10});
//   if (!found) return found.error();
//   for (const IndexHit& hit : found->hits) use(hit.normalized, found->name(hit));
//
// A path instead of "" makes a folder, whose patterns survive the process. Two strings, and all
// pairs of two lists of strings:
//
//   const std::optional<PairScorer> ratio = PairScorer::named("ratio");  // RapidFuzz's, in percent
//   if (!ratio) return fail(ErrorCode::unsupported, "no such scorer");
//   const std::string_view a = "hand tools", b = "hand tool";
//   double score = pair_score(*ratio, {a.data(), a.size()}, {b.data(), b.size()}, std::nullopt);
//
//   std::vector<double> scores(queries.size() * choices.size());  // one row a query
//   fill_scores<double>({*ratio, std::nullopt}, queries, choices, ThreadPool::process(), scores);
//
// Names. Everything is in namespace hoist::match.
//
//   Index, IndexOptions, LearnOptions, IndexStats     match/index/index.h
//   IndexSearchOptions, IndexSearchResult, IndexHit   match/index/search.h
//   Index::predict(), RecordOptions, Record           match/record/record.h: what patterns foretell
//   PatternText, pattern_of(), pattern_name()         match/vocabulary/pattern.h
//   Scorer, score_of()                                match/score/scorer.h: kato, lcs, indel, ...
//   PairScorer, pair_score(), Sequence                match/pairs/pair_scorer.h
//   fill_scores(), PairScoring                        match/pairs/score_matrix.h
//   repair_index()                                    match/index/repair.h
//   ThreadPool                                        base/threads.h
//
// Scores are equal, bit for bit, to those of the programs that define them: RapidFuzz, Python's
// difflib, KATO (docs/reference/match-scoring.md). Symbols of an index are UTF-8. Sequences of
// pairs are of symbols of 1, 2 or 4 bytes, and their memory must outlive the call: bytes of UTF-8
// are compared as bytes.
//
// Thread safety: any number of threads may call any member of an Index; pair scores keep no state.
// One process may have an index open for writing, others read-only meanwhile. Work is spread over
// the CPUs that the process may use, or HOIST_THREADS of them; long calls take a std::stop_token
// and answer `cancelled`.
//
// fork(): a child has the index as it was at that moment, for reading.
//
// GPUs: large indexes are searched on a GPU where that is faster (IndexOptions::device); answers
// are the same.
#pragma once

#include "base/threads.h"
#include "match/index/index.h"
#include "match/index/repair.h"
#include "match/index/search.h"
#include "match/pairs/pair_scorer.h"
#include "match/pairs/score_matrix.h"
#include "match/record/record.h"
#include "match/score/scorer.h"
#include "match/vocabulary/pattern.h"
