// Writes a container of two blocks, reads it back and prints it.
//
//   container_example FILE
#include <fmt/core.h>

#include <cstdio>
#include <string_view>

#include "container/reader.h"
#include "container/writer.h"

using namespace hoist::container;

int fail(const hoist::Error& error) {
  fmt::print(stderr, "{}\n", error.message);
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: {} FILE\n", argv[0]);
    return 2;
  }
  auto writer = Writer::create(argv[1], {.kind = four_letters("EXAM"),
                                         .metadata = "greetings",
                                         .output = {.mend = "name a new one"}});
  if (!writer) return fail(writer.error());
  for (const auto& [id, text] : {std::pair{7, "hello"}, std::pair{9, "world"}}) {
    if (hoist::Status added = writer->add(id, as_bytes(text)); !added) return fail(added.error());
  }
  if (hoist::Status done = writer->commit(); !done) return fail(done.error());

  auto reader = Reader::open(argv[1]);
  if (!reader) return fail(reader.error());
  for (const Block& block : reader->blocks()) {
    auto bytes = reader->read(block);
    if (!bytes) return fail(bytes.error());
    const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    fmt::print("{}: {}\n", block.id, text);
  }
}
