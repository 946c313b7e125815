// Predictions: every formula against the words of docs/reference/hrec.md, and back.
#include "records/prediction.h"

#include <gtest/gtest.h>

#include <random>

#include "base/test_seed.h"
#include "records/prediction_search.h"
#include "records/sources.h"

namespace hoist::records {
namespace {

using Values = std::vector<int64_t>;

std::span<const int64_t> span_of(const Values& values) { return values; }

Values random_values(std::mt19937_64& random, size_t count) {
  Values values(count);
  const uint64_t kind = random() % 4;
  for (int64_t& value : values) {
    const auto bits = static_cast<int64_t>(random());
    value = kind == 0 ? bits : kind == 1 ? bits % 5 : kind == 2 ? 1000 + bits % 100 : INT64_MIN;
  }
  return values;
}

TEST(Prediction, DifferencesGiveTheValuesBack) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 50; ++round) {
    const size_t count = 1 + random() % 60;
    const Values own = random_values(random, count);
    const Values a = random_values(random, count);
    const Values b = random_values(random, count);
    const auto before = positions_before(a, round % 2 == 0 ? span_of(b) : span_of({}));
    ASSERT_TRUE(before);
    for (uint8_t number = 0; number < kPredictors; ++number) {
      const auto predictor = static_cast<Predictor>(number);
      const auto factor = static_cast<int64_t>(1 + random() % 18);
      const Sources sources{.first = a, .second = b, .before = *before, .factor = factor};
      Values values = differences(predictor, own, sources);
      if (values.size() < own.size()) values.insert(values.begin(), own[0]);
      add_predictions(predictor, values, sources);
      EXPECT_EQ(values, own) << "predictor " << int{number};
    }
  }
}

int64_t predicted(Predictor predictor, const Values& own, const Values& a, const Values& b,
                  int64_t factor = 0) {
  const auto before = positions_before(a, {});
  const Sources sources{.first = a, .second = b, .before = *before, .factor = factor};
  return predict(predictor, own, sources, own.size() - 1);
}

TEST(Prediction, FormulasAreThoseOfTheReference) {
  EXPECT_EQ(predicted(Predictor::line, {5, 8, 0}, {}, {}), 11);
  EXPECT_EQ(predicted(Predictor::sum, {0, 0}, {1, 7}, {2, -3}), 4);
  EXPECT_EQ(predicted(Predictor::difference, {0, 0}, {1, 7}, {2, -3}), 10);
  EXPECT_EQ(predicted(Predictor::product, {0, 0}, {1, 250}, {2, 301}, 2), 753);  // 752.5
  EXPECT_EQ(predicted(Predictor::product, {0, 0}, {1, -250}, {2, 301}, 2), -753);
  EXPECT_EQ(predicted(Predictor::quotient, {0, 0}, {1, 10}, {2, 4}, 1), 25);
  EXPECT_EQ(predicted(Predictor::quotient, {0, 0}, {1, 10}, {2, 0}, 1), 0);
  EXPECT_EQ(predicted(Predictor::ratio, {300, 0}, {100, 105}, {}), 315);
  EXPECT_EQ(predicted(Predictor::running, {300, 0}, {100, 105}, {}), 405);
  EXPECT_EQ(predicted(Predictor::running_last, {300, 0}, {100, 105}, {}), 400);
  EXPECT_EQ(predicted(Predictor::moves, {300, 0}, {100, 105}, {}, 60), 600);
  EXPECT_EQ(predicted(Predictor::lag, {1, 2, 3, 4, 0}, {}, {}, 3), 2);
  EXPECT_EQ(predicted(Predictor::lag, {1, 2, 3, 4, 0}, {}, {}, 9), 4);
  EXPECT_EQ(predicted(Predictor::group_last, {10, 20, 30, 0}, {1, 2, 2, 1}, {}), 10);
  EXPECT_EQ(predicted(Predictor::group_ratio, {10, 20, 30, 0}, {1, 2, 2, 1}, {}), 10);
}

TEST(Prediction, ScaledSumsAreThoseOfTheReference) {
  const auto sum = [](int64_t a, int64_t b, const SumScales& scales) {
    return predicted(Predictor::scaled_sum, {0, 0}, {1, a}, {2, b}, factor_of(scales));
  };
  const auto difference = [](int64_t a, int64_t b, const SumScales& scales) {
    return predicted(Predictor::scaled_difference, {0, 0}, {1, a}, {2, b}, factor_of(scales));
  };
  // 19.99 + 5 = 24.99, 3 - 1.2345 = 1.77 (1.7655), 1.5 + 1 = 3 (2.5), and below 0.
  EXPECT_EQ(sum(1999, 5, {.second = 2}), 2499);
  EXPECT_EQ(difference(3, 12345, {.first = 4, .sum = 2}), 177);
  EXPECT_EQ(sum(15, 1, {.second = 1, .sum = 1}), 3);
  EXPECT_EQ(sum(-15, -1, {.second = 1, .sum = 1}), -3);
  EXPECT_EQ(difference(5, 1999, {.first = 2}), -1499);
  EXPECT_EQ(sum(INT64_MIN, INT64_MIN, {.first = 18, .second = 18, .sum = 18}), 0);
  EXPECT_EQ(sum(INT64_MAX, 7, {.first = 18, .sum = 18}), INT64_MAX);
  EXPECT_EQ(difference(0, INT64_MIN, {.sum = 18}), 9);
}

TEST(Prediction, ScalesOfSumsBringAllToTheFinest) {
  const auto expect = [](int first, int second, int own, const SumScales& scales) {
    const std::optional<SumScales> found = sum_scales(first, second, own);
    ASSERT_TRUE(found);
    EXPECT_EQ(factor_of(*found), factor_of(scales));
  };
  expect(2, 0, 2, {.second = 2});
  expect(4, 0, 2, {.second = 4, .sum = 2});
  expect(0, 0, 2, {.first = 2, .second = 2});
  expect(2, 2, 0, {.sum = 2});
  expect(18, 0, 18, {.second = 18});
  EXPECT_FALSE(sum_scales(19, 0, 2));
}

TEST(Prediction, FactorsBehindTheLastAreDamage) {
  const auto read = [](int64_t factor) {
    std::string bytes;
    write_prediction({.predictor = Predictor::scaled_sum, .factor = factor}, bytes);
    ByteReader in(std::as_bytes(std::span(bytes)));
    return read_prediction(in, 1).has_value();
  };
  const int64_t last = factor_of({.first = 18, .second = 18, .sum = 18});
  EXPECT_TRUE(read(0));
  EXPECT_TRUE(read(last));
  EXPECT_FALSE(read(last + 1));
  EXPECT_FALSE(read(-1));
}

TEST(Prediction, TimesOfDayWrapAtMidnight) {
  EXPECT_EQ(clock_after(517, 2), 519);
  EXPECT_EQ(clock_after(555, 10), 605);
  EXPECT_EQ(clock_after(600, -5), 555);
  EXPECT_EQ(clock_after(2359, 2), 1);
  EXPECT_EQ(clock_after(2355, 5), 2400);
  EXPECT_EQ(clock_after(10, -20), 2350);
  EXPECT_EQ(clock_after(INT64_MIN, INT64_MAX) % 100 / 60, 0);
}

TEST(Prediction, ExceptionsTakeTheNumberBefore) {
  const Values numbers = {5, 6, 7};
  const Values exceptions = {0, 3, 5};
  EXPECT_EQ(filled({.numbers = numbers, .exceptions = exceptions, .count = 6}),
            (Values{0, 5, 6, 6, 7, 7}));
  // Own has numbers in rows 1, 2, 4 and 5.
  const Values own = {1, 2, 3, 4};
  const Values own_exceptions = {0, 3};
  const NumberRows source{.numbers = numbers, .exceptions = exceptions, .count = 6};
  const auto sources = LinedUpSources::make(
      {.predictor = Predictor::other}, {.numbers = own, .exceptions = own_exceptions, .count = 6},
      [&](uint32_t) { return source; });
  ASSERT_TRUE(sources);
  const std::span<const int64_t> first = sources->get().first;
  EXPECT_EQ(Values(first.begin(), first.end()), (Values{5, 6, 7, 7}));
}

TEST(Prediction, FormsAreReadAsWritten) {
  std::mt19937_64 random(test_seed());
  for (uint8_t number = 0; number < kPredictors; ++number) {
    const Prediction prediction{.predictor = static_cast<Predictor>(number),
                                .first = 1,
                                .second = 2,
                                .group = 3,
                                .other_group = 300,
                                .factor = 4};
    std::string bytes;
    write_prediction(prediction, bytes);
    ByteReader in(std::as_bytes(std::span(bytes)));
    const Result<Prediction> read = read_prediction(in, 301);
    ASSERT_TRUE(read) << int{number};
    EXPECT_EQ(in.remaining(), 0u);
    std::string again;
    write_prediction(*read, again);
    EXPECT_EQ(again, bytes);
    // No source is out of range.
    ByteReader few(std::as_bytes(std::span(bytes)));
    const bool has_source = has_first(prediction.predictor) || has_group(prediction.predictor);
    EXPECT_EQ(read_prediction(few, 1).has_value(), !has_source) << int{number};
  }
}

// The prediction that the search takes for the last of some columns.
Prediction chosen(const std::vector<Values>& columns, NumberForm form = {}) {
  std::vector<Sequence> sequences;
  for (const Values& values : columns) {
    sequences.push_back(
        {.rows = {.numbers = values, .exceptions = {}, .count = values.size()}, .form = &form});
  }
  const Predictions predictions = choose_predictions(sequences, Effort::usual);
  return predictions.of.back();
}

TEST(PredictionSearch, FindsRelationsOfColumns) {
  std::mt19937_64 random(test_seed());
  constexpr size_t kRows = 20'000;
  const auto noise = [&](int64_t least, int64_t most) {
    Values values(kRows);
    for (int64_t& value : values) {
      value = std::uniform_int_distribution<int64_t>(least, most)(random);
    }
    return values;
  };
  const auto of_rows = [&](const auto& formula) {
    Values values(kRows);
    for (size_t i = 0; i < kRows; ++i) values[i] = formula(i);
    return values;
  };
  // Two columns of noise leave nothing to be predicted but the third.
  const Values a = noise(1, 1 << 20);
  const Values b = noise(1, 1 << 20);
  const auto third = [&](const auto& formula) {
    return chosen({a, b, of_rows(formula)}).predictor;
  };
  EXPECT_EQ(third([&](size_t i) { return a[i] * b[i]; }), Predictor::product);
  EXPECT_EQ(third([&](size_t i) { return (a[i] > b[i] ? a[i] : b[i]) + i % 3; }),
            Predictor::larger);
  const Values towns = noise(1, 30);
  const Values roads = noise(1, 30);
  const Prediction distance = chosen(
      {towns, roads, of_rows([&](size_t i) { return towns[i] * 7919 % (97 + roads[i]) * 31; })});
  EXPECT_EQ(distance.predictor, Predictor::pair_last);
  int64_t total = 0;
  EXPECT_EQ(chosen({a, of_rows([&](size_t i) { return total += a[i]; })}).predictor,
            Predictor::running);
  EXPECT_EQ(chosen({of_rows([&](size_t i) {
              return a[i % 24] + static_cast<int64_t>(i % 2);
            })}).predictor,
            Predictor::lag);
}

// Prices with cents and whole ones: 19.99 + 5 = 24.99.
TEST(PredictionSearch, FindsSumsOfOtherScales) {
  std::mt19937_64 random(test_seed());
  constexpr size_t kRows = 5000;
  const NumberForm whole = {.type = NumberType::decimal, .scale = 0, .date = {}};
  const NumberForm cents = {.type = NumberType::decimal, .scale = 2, .date = {}};
  const NumberForm fine = {.type = NumberType::decimal, .scale = 4, .date = {}};
  Values a(kRows);
  Values b(kRows);
  Values sum(kRows);
  Values rounded(kRows);
  for (size_t i = 0; i < kRows; ++i) {
    a[i] = static_cast<int64_t>(random() % 1'000'000);
    b[i] = static_cast<int64_t>(random() % 100'000);
    sum[i] = a[i] + 100 * b[i];
    rounded[i] = (a[i] - 10'000 * b[i] + (a[i] < 10'000 * b[i] ? -50 : 50)) / 100;
  }
  const auto find = [&](const NumberForm& first, const Values& values) {
    const auto sequence = [](const Values& of, const NumberForm& form) {
      return Sequence{.rows = {.numbers = of, .exceptions = {}, .count = of.size()}, .form = &form};
    };
    const std::vector<Sequence> sequences = {sequence(a, first), sequence(b, whole),
                                             sequence(values, cents)};
    return choose_predictions(sequences, Effort::usual).of[2];
  };
  const Prediction first = find(cents, sum);
  EXPECT_EQ(first.predictor, Predictor::scaled_sum);
  EXPECT_EQ(first.factor, factor_of({.second = 2}));
  const Prediction second = find(fine, rounded);
  EXPECT_EQ(second.predictor, Predictor::scaled_difference);
  EXPECT_EQ(second.factor, factor_of({.second = 4, .sum = 2}));
}

// Around the sizes at which excerpts change, with exceptions here and there.
TEST(PredictionSearch, TakesColumnsOfAnySize) {
  std::mt19937_64 random(test_seed());
  for (const size_t rows :
       {1, 2, 3, 4, 63, 64, 65, 2047, 2049, 4095, 4096, 4097, 16383, 16384, 16385, 50001}) {
    const NumberForm form;
    const Values a = random_values(random, rows);
    Values b = random_values(random, rows);
    Values exceptions;
    for (size_t i = 0; i < rows; ++i) {
      if (random() % 3 == 0) exceptions.push_back(static_cast<int64_t>(i));
    }
    b.resize(rows - exceptions.size());
    const std::vector<Sequence> sequences = {
        {.rows = {.numbers = a, .exceptions = {}, .count = rows}, .form = &form},
        {.rows = {.numbers = b, .exceptions = exceptions, .count = rows}, .form = &form},
        {.rows = {.numbers = a, .exceptions = {}, .count = rows}, .form = nullptr}};
    const Predictions predictions =
        choose_predictions(sequences, random() % 2 == 0 ? Effort::best : Effort::usual);
    EXPECT_EQ(predictions.order.size(), 3u);
  }
}

}  // namespace
}  // namespace hoist::records
