// Arbitrary bytes behind right checksums: what a whole file of records may hold, read in every way.
// The first byte says what the rest is: 0, the metadata; 1, a condition on columns, a NUL byte, a
// file's name, a NUL byte and its text; else a file: one byte for the size of the metadata (0: that
// of JSON), the metadata, and blocks, each behind two bytes for the size of its text and two for
// its own.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "base/file.h"
#include "container/writer.h"
#include "records/arrow/arrow_output.h"
#include "records/convert/sniff.h"
#include "records/convert/text_source.h"
#include "records/detect.h"
#include "records/file_format.h"
#include "records/reader.h"
#include "records/typed/typed_values.h"

namespace {

using namespace hoist;
using namespace hoist::records;

void check(bool holds) {
  if (!holds) std::abort();
}

container::Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string_view take(std::string_view& text, size_t size) {
  const std::string_view taken = text.substr(0, size);
  text.remove_prefix(taken.size());
  return taken;
}

size_t take_number(std::string_view& text, size_t size) {
  size_t number = 0;
  for (size_t i = 0; const char c : take(text, size)) {
    number |= size_t{static_cast<uint8_t>(c)} << (8 * i++);
  }
  return number;
}

void read_metadata(std::string_view text) {
  const Result<Dialect> dialect = decode_dialect(bytes_of(text));
  if (!dialect) return;
  const std::string again = encode_dialect(*dialect);
  const Result<Dialect> same = decode_dialect(bytes_of(again));
  check(same && same->format == dialect->format && same->delimiter == dialect->delimiter &&
        same->names == dialect->names && same->header_lost == dialect->header_lost &&
        (same->names.empty() || same->header_rows == dialect->header_rows));
}

void read_words(std::string_view text) {
  const size_t end = std::min(text.find('\0'), text.size());
  const std::string_view condition = take(text, end);
  if (const Result<Condition> parsed = parse_condition(condition)) {
    (void)number_of(*parsed);
    for (const std::string_view value : {"", "5", "-1e400", "null", "2024-01-31", "68a128dc"}) {
      const bool is_equal = holds({parsed->path, Comparison::equal, parsed->value}, value);
      check(is_equal != holds({parsed->path, Comparison::unequal, parsed->value}, value));
    }
  }
  (void)read_path(condition, ",");
  take(text, 1);
  const std::string file(take(text, std::min(text.find('\0'), text.size())));
  take(text, 1);
  (void)dialect_of(text, {.header = true, .file = file});
  const Dialect found = dialect_of(text, {.file = file});
  check(found.names.empty() || found.header_rows > 0);
  const Result<TextDialect> form = dialect_of_file(file, text, nullptr);
  check(!form || form->delimiter != 0);
}

std::string file_of(std::string_view rest) {
  static const int fd = ::memfd_create("records", MFD_CLOEXEC);
  check(fd >= 0 && ::ftruncate(fd, 0) == 0 && ::lseek(fd, 0, SEEK_SET) == 0);
  const std::string_view given = take(rest, take_number(rest, 1));
  const std::string metadata =
      given.empty() ? encode_dialect({.format = Format::json}) : std::string(given);
  auto writer =
      container::Writer::stream(fd, {.kind = kFileKind, .metadata = metadata, .durable = false});
  check(writer.has_value());
  uint64_t row = 0;
  while (!rest.empty()) {
    const size_t text_size = take_number(rest, 2);
    const std::string_view stored = take(rest, take_number(rest, 2));
    const Status added =
        writer->add({.id = row, .raw_size = text_size, .kind = kBlockKind, .codec = kBlockCodec},
                    bytes_of(stored));
    if (!added) break;
    const Result<Block> block = Block::open(bytes_of(stored), text_size);
    row += block && block->rows() > 0 ? block->rows() : 1;
  }
  check(writer->commit().has_value());
  std::string file(static_cast<size_t>(::lseek(fd, 0, SEEK_END)), '\0');
  check(pread_full(fd, file.data(), file.size(), 0).has_value());
  return file;
}

void read_typed(const RecordReader& reader, bool exact) {
  const auto types = typed::column_types(reader, {}, {.exact = exact});
  if (!types) return;
  const typed::Selection all{.columns = *types, .where = {}};
  for (const size_t i : typed::blocks_of(reader, all)) {
    const auto block = typed::read_block(reader, i, all);
    if (!block) continue;
    check(block->columns.size() == types->size());
    for (size_t c = 0; c < types->size(); ++c) {
      const typed::ColumnChunk& chunk = block->columns[c];
      check((*types)[c].is_list ? chunk.lists.size() == block->rows + 1
                                : chunk.valid.size() == block->rows);
    }
  }
}

void read_file(std::string_view rest) {
  static ThreadPool pool(1);
  const std::string file = file_of(rest);
  const Result<RecordReader> reader =
      RecordReader::open(container::memory_source(bytes_of(file)), {.partial = true});
  if (!reader) return;
  size_t size = 0;
  const auto count = [&](std::string_view text) {
    size += text.size();
    return Status();
  };
  if (reader->text({.pool = &pool}, count)) check(size == reader->text_bytes());
  (void)reader->text({.first = 1, .end = 3, .pool = &pool}, count);
  for (const char* text : {"a>5", "k1=x", "/0!=1", "\"a\"<2024"}) {
    const Result<Condition> condition = parse_condition(text);
    check(condition.has_value());
    const ReadOptions options{.where = {*condition}, .pool = &pool};
    if (reader->check_columns(options.where)) (void)reader->text(options, count);
  }
  read_typed(*reader, false);
  read_typed(*reader, true);
  for (const bool as_file : {false, true})
    (void)arrow::write_arrow(*reader, {.names = {}, .as_file = as_file}, count);
  for (const TextForm to : {TextForm::csv, TextForm::sym}) {
    (void)convert_records(*reader, {.to = to, .unparsed = Unparsed::skip}, count);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 0) {
    read_metadata(text);
  } else if (data[0] == 1) {
    read_words(text);
  } else {
    read_file(text);
  }
  return 0;
}
