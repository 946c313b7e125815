#include "records/convert/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "records/convert/csv_form.h"
#include "records/convert/row_chunks.h"

namespace hoist::records {
namespace {

// A chunk's share of the work: its text in the other format, or the orders of keys in it.
struct Share {
  std::string out;
  std::vector<std::vector<std::string>> keys;
  uint64_t records = 0;
  uint64_t skipped = 0;
  Status status;
};

std::string excerpt(std::string_view row) {
  constexpr size_t kMost = 60;
  std::string shown;
  for (const char c : row.substr(0, kMost)) {
    shown += static_cast<uint8_t>(c) < 0x20 || c == '\x7f' ? '?' : c;
  }
  return row.size() > kMost ? shown + "…" : shown;
}

class Conversion {
 public:
  Conversion(const EachText& text, const ConvertOptions& options, const WriteText& write)
      : text_(text),
        options_(options),
        write_(write),
        pool_(options.pool != nullptr ? *options.pool : ThreadPool::process()),
        rules_{.form = options.from, .delimiter = options.delimiter} {}

  Result<Converted> run() {
    if (options_.to == TextForm::csv) {
      if (Status seen = see_columns(); !seen) return seen.error();
      writer_ = csv_row_writer(columns_);
      if (Status written = write_(csv_header(columns_)); !written) return written.error();
    } else {
      writer_ = row_writer(options_.to);
    }
    const Status done = for_chunks(
        [&](const RowChunk& chunk, Share& share) {
          share.status = for_records(
              chunk, share, [&](const Record& record) { writer_->write(record, share.out); });
        },
        [&](const Share& share) {
          converted_.records += share.records;
          converted_.skipped += share.skipped;
          return write_(share.out);
        });
    if (!done) return done.error();
    return converted_;
  }

 private:
  Status see_columns() {
    const auto see = [&](const RowChunk& chunk, Share& share) {
      std::set<std::vector<std::string>> seen;
      std::vector<std::string> keys;
      share.status = for_records(chunk, share, [&](const Record& record) {
        keys.clear();
        for (const Member& member : record) keys.push_back(member.key);
        if (!share.keys.empty() && keys == share.keys.back()) return;
        if (seen.insert(keys).second) share.keys.push_back(keys);
      });
    };
    const Status seen = for_chunks(see, [&](const Share& share) -> Status {
      for (const std::vector<std::string>& keys : share.keys) {
        if (Status added = columns_.add(keys); !added) return added;
      }
      return {};
    });
    // A row of this text may be as long as the header.
    rules_.most_rows = std::max<size_t>(64, (size_t{8} << 20) / (columns_.keys().size() + 1));
    return seen;
  }

  // work(chunk, share) on all threads, then done(share) in order.
  template <typename Work, typename Done>
  Status for_chunks(const Work& work, const Done& done) {
    parser_ = nullptr;
    if (Status made = make_parser({}); !made) return made;
    RowCutter cutter(rules_);
    std::vector<RowChunk> chunks;
    const auto batch = static_cast<size_t>(pool_.size());
    const auto process = [&](bool all) -> Status {
      size_t at = 0;
      for (; at < chunks.size() && (all || chunks.size() - at >= batch);) {
        if (Status made = make_parser(chunks[at]); !made) return made;
        const size_t count = std::min(batch, chunks.size() - at);
        std::vector<Share> shares(count);
        pool_.parallel_for(count, [&](size_t i) { work(chunks[at + i], shares[i]); });
        for (const Share& share : shares) {
          if (!share.status) return share.status;
          if (Status status = done(share); !status) return status;
        }
        at += count;
      }
      chunks.erase(chunks.begin(), chunks.begin() + static_cast<ptrdiff_t>(at));
      return {};
    };
    const Status read = text_([&](std::string_view piece) -> Status {
      if (options_.stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped");
      if (Status cut = cutter.take(piece, chunks); !cut) return cut;
      return process(false);
    });
    if (!read) return read;
    cutter.finish(chunks);
    return process(true);
  }

  // Where the form is csv, the header decides; it is what the first chunk with a row begins with.
  Status make_parser(const RowChunk& first) {
    if (parser_ != nullptr) return {};
    if (options_.from == TextForm::lines) {
      parser_ = lines_row_parser(options_.unparsed == Unparsed::keep ? options_.keep_key : "line");
      return {};
    }
    if (options_.from != TextForm::csv) {
      parser_ = row_parser(options_.from);
      return {};
    }
    std::optional<std::string> row = options_.header;
    const bool in_text = !row && options_.has_header;
    if (!row) {
      (void)for_rows(first.text, rules_, [&](std::string_view found, uint64_t line) -> Status {
        row = found;
        header_line_ = first.first_line + line;
        return fail(ErrorCode::cancelled, {});  // one is enough
      });
    }
    if (!row) return {};
    if (!in_text) header_line_ = UINT64_MAX;
    Result<CsvHeader> header = options_.has_header || options_.header
                                   ? parse_csv_header(*row, options_.delimiter)
                                   : numbered_csv_header(*row, options_.delimiter);
    if (!header) {
      return fail(ErrorCode::invalid_argument, fmt::format("the header of {} is none: {}",
                                                           options_.name, header.error().message));
    }
    parser_ = csv_row_parser(std::move(*header), options_.delimiter);
    return {};
  }

  template <typename Take>
  Status for_records(const RowChunk& chunk, Share& share, const Take& take) const {
    Record record;
    return for_rows(chunk.text, rules_, [&](std::string_view row, uint64_t line) -> Status {
      const uint64_t number = chunk.first_line + line;
      if (number == header_line_) return {};
      record.clear();
      if (const Status parsed = parser_->parse(row, record); !parsed) {
        if (options_.unparsed == Unparsed::refuse) return refuse(row, number, parsed.error());
        if (options_.unparsed == Unparsed::skip) {
          ++share.skipped;
          return {};
        }
        record = {{options_.keep_key, {.kind = JsonKind::text, .text = std::string(row)}}};
      }
      ++share.records;
      take(record);
      return {};
    });
  }

  Status refuse(std::string_view row, uint64_t number, const Error& why) const {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} {} of {} is no record ({}): {}: {}", options_.line,
                            options_.first_line + number, options_.name, name(options_.from),
                            why.message, excerpt(row)));
  }

  const EachText& text_;
  const ConvertOptions& options_;
  const WriteText& write_;
  ThreadPool& pool_;
  RowRules rules_;
  std::unique_ptr<RowParser> parser_;
  std::unique_ptr<RowWriter> writer_;
  CsvColumns columns_;
  uint64_t header_line_ = UINT64_MAX;
  Converted converted_;
};

}  // namespace

Result<Converted> convert(const EachText& text, const ConvertOptions& options,
                          const WriteText& write) {
  return Conversion(text, options, write).run();
}

}  // namespace hoist::records
