#include "arrow/reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "arrow/message.h"

namespace hoist::arrow {
namespace {

constexpr int32_t kMostMetadata = 1 << 20;
constexpr size_t kPiece = 1 << 20;

}  // namespace

Status Reader::read_full(std::span<char> into) {
  while (!into.empty()) {
    const auto got = read_(into);
    if (!got) return got.error();
    if (*got == 0) return fail(ErrorCode::corrupt, "it ends within a message");
    into = into.subspan(*got);
  }
  return {};
}

// Nothing at the end: a size of 0, or no more bytes.
Result<std::optional<MessageHead>> Reader::next_head() {
  std::string begin(kMark.size() + sizeof(int32_t), '\0');
  const auto got = read_(begin);
  if (!got) return got.error();
  if (*got == 0) return std::optional<MessageHead>();
  if (Status read = read_full(std::span(begin).subspan(*got)); !read) return read.error();
  if (!begin.starts_with(kMark)) {
    return fail(ErrorCode::corrupt, is_file_ ? "this file of Arrow's does not begin as a stream "
                                               "does: send a stream"
                                             : "it is no stream of Arrow's IPC format");
  }
  int32_t size = 0;
  std::memcpy(&size, begin.data() + kMark.size(), sizeof size);
  if (size == 0) return std::optional<MessageHead>();
  if (size < 0 || size > kMostMetadata) {
    return fail(ErrorCode::unsupported,
                fmt::format("a message's metadata has more than {} bytes", kMostMetadata));
  }
  std::vector<char> metadata(static_cast<size_t>(size));  // aligned, as flatbuffers want it
  if (Status read = read_full(metadata); !read) return read.error();
  auto head = read_message(metadata);
  if (!head) return head.error();
  return std::optional(*std::move(head));
}

// Memory grows with what has come, not with what was said.
Result<std::string> Reader::read_body(int64_t size) {
  if (static_cast<uint64_t>(size) > options_.most_bytes) {
    return fail(ErrorCode::unsupported,
                fmt::format("a record batch has {} bytes, and at most {} are read: write smaller "
                            "ones",
                            size, options_.most_bytes));
  }
  std::string body;
  while (body.size() < static_cast<size_t>(size)) {
    const size_t before = body.size();
    body.resize(std::min(static_cast<size_t>(size), before + kPiece));
    if (Status read = read_full(std::span(body).subspan(before)); !read) return read.error();
  }
  return body;
}

Result<Reader> Reader::open(Read read, ReaderOptions options) {
  Reader reader(std::move(read), std::move(options));
  if (Status opened = reader.read_schema(); !opened) return opened.error();
  return reader;
}

Status Reader::read_schema() {
  // A file begins with a word of its own; what most programs write goes on as a stream.
  std::string begin(kFileBegin.size(), '\0');
  if (Status begun = read_full(begin); !begun) {
    if (begun.error().code != ErrorCode::corrupt) return begun;
    return fail(ErrorCode::corrupt, "it is no stream of Arrow's IPC format");
  }
  is_file_ = begin == kFileBegin;
  if (!is_file_) {
    read_ = [before = std::move(begin), read = std::move(read_),
             at = size_t{0}](std::span<char> into) mutable -> Result<size_t> {
      if (at == before.size()) return read(into);
      const size_t count = std::min(into.size(), before.size() - at);
      std::memcpy(into.data(), before.data() + at, count);
      at += count;
      return count;
    };
  }
  auto head = next_head();
  if (!head) return head.error();
  if (!*head || (*head)->kind != MessageKind::schema) {
    return fail(ErrorCode::corrupt, "it does not begin with a schema");
  }
  const auto body = read_body((*head)->body);
  if (!body) return body.error();
  for (Field& field : (*head)->fields) {
    const auto& names = options_.columns;
    if (std::find(names.begin(), names.end(), field.name) == names.end()) {
      columns_.push_back({.field = std::move(field), .wanted = {}});
      continue;
    }
    if (Status checked = Array::check(field); !checked) return checked;
    if (Status noted = note_dictionaries(field); !noted) return noted;
    columns_.push_back({.field = {}, .wanted = fields_.size()});
    fields_.push_back(std::move(field));
  }
  return {};
}

Status Reader::note_dictionaries(const Field& field) {
  if (field.dictionary) {
    const auto [found, is_new] = dictionaries_.try_emplace(field.dictionary->id);
    if (!is_new && found->second.field.type != field.type) {
      return fail(ErrorCode::corrupt, "a dictionary has two types");
    }
    found->second.field = {.name = field.name, .type = field.type};
  }
  for (const Field& child : field.children) {
    if (Status noted = note_dictionaries(child); !noted) return noted;
  }
  return {};
}

Result<const RecordBatch*> Reader::next() {
  for (;;) {
    auto head = next_head();
    if (!head) return head.error();
    if (!*head) return nullptr;
    auto body = read_body((*head)->body);
    if (!body) return body.error();
    switch ((*head)->kind) {
      case MessageKind::schema:
        return fail(ErrorCode::corrupt, "it has a second schema");
      case MessageKind::dictionary:
        if (Status read = read_dictionary(**head, *std::move(body)); !read) return read.error();
        break;
      case MessageKind::batch:
        head_ = **std::move(head);
        if (Status read = read_batch(*std::move(body)); !read) return read.error();
        return &batch_;
    }
  }
}

// Replaces what the dictionary had, or follows it. Arrays of the last batch view the old one.
Status Reader::read_dictionary(const MessageHead& head, std::string bytes) {
  batch_ = {};
  const auto found = dictionaries_.find(head.dictionary);
  if (found == dictionaries_.end()) return {};  // of a column that is skipped
  Dictionary& dictionary = found->second;
  if (!head.is_delta) {
    for (const Dictionary::Part& part : dictionary.parts) dictionary_bytes_ -= part.bytes();
    dictionary.parts.clear();
  }
  const size_t room = options_.most_bytes - std::min(options_.most_bytes, dictionary_bytes_);
  auto body = std::make_unique<Body>(std::move(bytes), head.batch.compression, room);
  auto values = ArrayLoader(head, *body, {}).load(dictionary.field);
  if (!values) return values.error();
  if (Status noted = note_body(*body); !noted) return noted;
  if (values->length() == 0) return {};
  Dictionary::Part part{dictionary.length(), std::move(body), *std::move(values)};
  dictionary_bytes_ += part.bytes();
  if (dictionary_bytes_ > options_.most_bytes) {
    return fail(ErrorCode::unsupported,
                fmt::format("its dictionaries, of which one came in {} parts, take more than {} "
                            "bytes: write smaller ones, in fewer parts",
                            dictionary.parts.size() + 1, options_.most_bytes));
  }
  dictionary.parts.push_back(std::move(part));
  return {};
}

Status Reader::note_body(const Body& body) const {
  return options_.on_body ? options_.on_body(body.bytes()) : Status();
}

Status Reader::read_batch(std::string bytes) {
  body_ = std::make_unique<Body>(std::move(bytes), head_.batch.compression, options_.most_bytes);
  batch_ = {.rows = head_.batch.rows, .columns = {}};
  ArrayLoader loader(head_, *body_, dictionaries_);
  for (const Column& column : columns_) {
    if (!column.wanted) {
      if (Status skipped = loader.skip(column.field); !skipped) return skipped;
      continue;
    }
    auto array = loader.load(fields_[*column.wanted]);
    if (!array) return array.error();
    if (array->length() != batch_.rows) {
      return fail(ErrorCode::corrupt,
                  fmt::format("{}: its length is not that of the batch", array->field().name));
    }
    batch_.columns.push_back(*std::move(array));
  }
  return note_body(*body_);
}

}  // namespace hoist::arrow
