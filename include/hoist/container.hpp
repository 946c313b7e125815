// Containers: files of blocks, each with a checksum, that are read in any order and appended to.
// Part of Hoist's C++ library (hoist/array.hpp says how to link it, and how errors come).
//
//   Result<Writer> writer = Writer::create("notes.holo", {.kind = four_letters("NOTE")});
//   if (!writer) return writer.error();
//   if (Status added = writer->add(1, as_bytes("a note")); !added) return added;
//   if (Status done = writer->commit(); !done) return done;  // durable, under its name
//
//   Result<Reader> reader = Reader::open("notes.holo");
//   if (!reader) return reader.error();
//   for (const Block& block : reader->blocks()) {
//     Result<BlockBytes> bytes = reader->read(block);  // checked
//     if (!bytes) return bytes.error();
//   }
//
// Names. Everything is in namespace hoist::container.
//
//   Writer, WriterOptions, AppendOptions         container/writer.h: new files, pipes, appending
//   Reader, ReaderOptions, BlockBytes            container/reader.h
//   Source, open_file_source(), map_file_source(), memory_source(), range_source()
//                                                container/source.h: where bytes come from
//   BlockInfo, Block, four_letters(), as_bytes() container/format.h: the layout
//   kStored, kLz4, kZstd                         container/codec_numbers.h: what `codec` means
//   verify(), repair()                           container/verify.h, container/repair.h
//   OutputRule, Replace                          base/output_file.h: what may be replaced
//
// What is promised:
//   - A crash, a kill or a full disk leaves the old state or the new one: commit() is the border.
//   - Readers bound every allocation by the file's size and by ReaderOptions::limits. Damage is
//     `corrupt`, and what is returned is what was written.
//   - Version 0 of the format may change until it is frozen; files say which version they have.
//
// A Reader is immutable, and any number of threads may use one. A Writer is for one thread at a
// time; a second writer of the same file is `unavailable`. After fork() a child's copy of a writer
// changes nothing.
//
// Not guaranteed: checksums find accidents, not someone who changes bytes on purpose. For sources
// that are not trusted write digests (WriterOptions::digests) and read with ReaderOptions::root.
//
// The byte layout: docs/reference/container.md.
#pragma once

#include "container/codec_numbers.h"
#include "container/format.h"
#include "container/reader.h"
#include "container/repair.h"
#include "container/source.h"
#include "container/verify.h"
#include "container/writer.h"
