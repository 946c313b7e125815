// Messages of Arrow's IPC format as they are written: metadata as a flatbuffer, and a body of
// buffers.
//
// https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc,
// and format/Message.fbs, Schema.fbs and File.fbs of Arrow, whose field numbers stand here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arrow/schema.h"

namespace hoist::arrow {

// A record batch, or the entries of a dictionary.
struct Batch {
  struct Node {
    int64_t length = 0;
    int64_t nulls = 0;
  };
  struct Buffer {
    int64_t offset = 0;  // in the body
    int64_t size = 0;
  };
  int64_t rows = 0;
  std::vector<Node> nodes;      // of each array, a list before its items
  std::vector<Buffer> buffers;  // of each node: validity, then what the type has
  std::string body;
};

// Where a message lies in a file.
struct Place {
  int64_t offset = 0;
  int32_t metadata = 0;  // bytes, with the length in front and what fills it up
  int64_t body = 0;      // bytes
};

std::string schema_message(std::span<const Field> fields);
// Metadata alone: the body follows.
std::string batch_message(const Batch& batch);
std::string dictionary_message(const Batch& batch, int64_t id, bool is_delta = false);
// What ends a file, behind the end of its stream: footer, its size, magic.
std::string footer(std::span<const Field> fields, std::span<const Place> dictionaries,
                   std::span<const Place> batches);

inline constexpr std::string_view kFileBegin{"ARROW1\0\0", 8};
inline constexpr std::string_view kStreamEnd{"\xff\xff\xff\xff\0\0\0\0", 8};
inline constexpr std::string_view kMark = kStreamEnd.substr(0, 4);  // in front of each message

}  // namespace hoist::arrow
