#include <hoist/container.hpp>
#include <iostream>
#include <string_view>
#include <utility>

#include "tour.h"

using namespace hoist::container;

hoist::Status tour_containers(const std::string& folder) {
  const std::string path = folder + "/notes.holo";
  auto writer = Writer::create(path, {.kind = four_letters("NOTE"), .metadata = "greetings"});
  if (!writer) return writer.error();
  for (const auto& [id, text] : {std::pair{7, "hello"}, std::pair{9, "world"}}) {
    if (auto added = writer->add(static_cast<uint64_t>(id), as_bytes(text)); !added) return added;
  }
  if (auto done = writer->commit(); !done) return done;

  const auto reader = Reader::open(path);
  if (!reader) return reader.error();
  for (const Block& block : reader->blocks()) {
    const auto bytes = reader->read(block);
    if (!bytes) return bytes.error();
    const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    std::cout << "block " << block.id << ": " << text << '\n';
  }
  return {};
}
