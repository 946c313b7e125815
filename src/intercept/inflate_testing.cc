#include "intercept/inflate_testing.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

extern "C" {
#include "intercept/caller_scope.h"
#include "intercept/engine_library.h"
#include "intercept/inflate_stream.h"
#include "intercept/record.h"
}

namespace hoist::intercept {
namespace {

uint64_t taken_over = 0;

hoist_inflater* counted_start(z_streamp strm, const hoist_inflate_boundary* boundary) {
  hoist_inflater* const inflater = hoist_inflate.start(strm, boundary);
  taken_over += inflater != nullptr ? 1 : 0;
  return inflater;
}

void* zlib_symbol(const char* name) {
  static void* const library = ::dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
  void* const symbol = library != nullptr ? ::dlsym(library, name) : nullptr;
  if (symbol == nullptr) std::abort();
  return symbol;
}

}  // namespace
}  // namespace hoist::intercept

// What src/intercept/inflate*.c takes from the rest of the preload library.
extern "C" {
void* engine_function(engine_library*) {
  static const hoist_inflate_functions functions = [] {
    hoist_inflate_functions counted = hoist_inflate;
    counted.start = hoist::intercept::counted_start;
    return counted;
  }();
  return const_cast<hoist_inflate_functions*>(&functions);
}

void* original_for_caller(void** slot, const char* name, const char*, const void*) {
  if (*slot == nullptr) *slot = hoist::intercept::zlib_symbol(name);
  return *slot;
}

void record_passed(const char*, const char*, const char*) {}

const char* hoist_environment(const char*) { return nullptr; }
}

namespace hoist::intercept {
namespace {

constexpr uint32_t kMostContent = 200000;
constexpr int kMostCalls = 4000;

std::vector<uint8_t> make_content(Script& script, uint32_t size) {
  std::vector<uint8_t> content;
  const uint32_t alphabet = 1 + script.any_size(255);
  const uint32_t repeats = script.below(4);
  while (content.size() < size) {
    if (repeats != 0 && !content.empty() && script.below(4) < repeats) {
      const size_t distance = 1 + script.any_size(static_cast<uint32_t>(content.size()) - 1);
      for (uint32_t left = script.any_size(400); left > 0; --left) {
        content.push_back(content[content.size() - distance]);
      }
    } else {
      for (uint32_t left = 1 + script.any_size(60); left > 0; --left) {
        content.push_back(static_cast<uint8_t>(script.below(alphabet)));
      }
    }
  }
  content.resize(size);
  return content;
}

void damage(std::vector<uint8_t>& bytes, Script& script) {
  for (uint32_t left = 1 + script.below(3); left > 0 && !bytes.empty(); --left) {
    const size_t at = script.one_in(2) ? script.any_size(static_cast<uint32_t>(bytes.size()) - 1)
                                       : script.below(static_cast<uint32_t>(bytes.size()));
    switch (script.below(4)) {
      case 0:
        bytes[at] = static_cast<uint8_t>(script.below(256));
        break;
      case 1:
        bytes[at] ^= static_cast<uint8_t>(1u << script.below(8));
        break;
      case 2:
        bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      default:
        bytes.resize(at);
    }
  }
}

std::vector<uint8_t> deflated(const std::vector<uint8_t>& content, TestStream& stream, int bits,
                              Script& script) {
  z_stream strm = {};
  deflateInit2(&strm, static_cast<int>(script.below(10)), Z_DEFLATED, bits,
               1 + static_cast<int>(script.below(9)), static_cast<int>(script.below(5)));
  if (bits <= MAX_WBITS && script.one_in(6)) {
    stream.dictionary = make_content(script, 1 + script.any_size(40000));
    deflateSetDictionary(&strm, stream.dictionary.data(),
                         static_cast<uInt>(stream.dictionary.size()));
  }
  std::vector<uint8_t> bytes(content.size() * 2 + 100000);
  strm.next_out = bytes.data();
  strm.avail_out = static_cast<uInt>(bytes.size());
  strm.next_in = content.data();
  const bool in_pieces = script.one_in(3);
  while (strm.total_in < content.size()) {
    const uInt left = static_cast<uInt>(content.size() - strm.total_in);
    strm.avail_in = in_pieces ? std::min(left, 1 + script.any_size(50000)) : left;
    static constexpr int kFlushes[] = {Z_NO_FLUSH, Z_PARTIAL_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH,
                                       Z_BLOCK};
    if (strm.avail_out < 90000) break;
    deflate(&strm, in_pieces ? kFlushes[script.below(5)] : Z_NO_FLUSH);
  }
  deflate(&strm, Z_FINISH);
  bytes.resize(bytes.size() - strm.avail_out);
  deflateEnd(&strm);
  return bytes;
}

// zlib's own functions, past ours.
template <typename Function>
Function* theirs(Function&, const char* name) {
  return reinterpret_cast<Function*>(zlib_symbol(name));
}

class Lockstep {
 public:
  Lockstep(const TestStream& stream, Script& script) : stream_(stream), script_(script) {}
  Lockstep(const Lockstep&) = delete;
  Lockstep& operator=(const Lockstep&) = delete;
  ~Lockstep() {
    inflateEnd(&ours_);
    theirs(inflateEnd, "inflateEnd")(&theirs_);
  }

  std::string run() {
    result("inflateInit2", inflateInit2(&ours_, stream_.window_bits),
           theirs(inflateInit2_, "inflateInit2_")(&theirs_, stream_.window_bits, ZLIB_VERSION,
                                                  static_cast<int>(sizeof(z_stream))));
    if (theirs_.state == nullptr) return difference_;
    set_raw_dictionary();
    rewind();
    for (int calls = 0; calls < kMostCalls && difference_.empty() && !over_; ++calls) step();
    return difference_;
  }

 private:
  static constexpr uint32_t kMostRoom = 300000;

  void result(const char* what, long ours, long theirs) {
    if (ours != theirs) differ(what, "result", ours, theirs);
  }

  void differ(const char* what, const char* field, long long ours, long long theirs) {
    if (!difference_.empty()) return;
    difference_ = fmt::format("{}: {} is {}, zlib's {} (at {} of input, {} of output)", what, field,
                              ours, theirs, theirs_.total_in, theirs_.total_out);
  }

  void rewind() {
    fed_ = 0;
    ours_.next_in = theirs_.next_in = stream_.bytes.data();
    ours_.avail_in = theirs_.avail_in = 0;
  }

  void compare(const char* what) {
    const auto check = [&](const char* field, auto ours, auto theirs) {
      if (ours != theirs) {
        differ(what, field, static_cast<long long>(ours), static_cast<long long>(theirs));
      }
    };
    check("avail_in", ours_.avail_in, theirs_.avail_in);
    check("avail_out", ours_.avail_out, theirs_.avail_out);
    check("total_in", ours_.total_in, theirs_.total_in);
    check("total_out", ours_.total_out, theirs_.total_out);
    check("data_type", ours_.data_type, theirs_.data_type);
    check("adler", ours_.adler, theirs_.adler);
    check("next_in", ours_.next_in - stream_.bytes.data(), theirs_.next_in - stream_.bytes.data());
    const std::string ours = ours_.msg != nullptr ? ours_.msg : "(none)";
    const std::string their = theirs_.msg != nullptr ? theirs_.msg : "(none)";
    if (ours != their && difference_.empty()) {
      difference_ = fmt::format("{}: message is {}, zlib's {}", what, ours, their);
    }
  }

  int inflate_both(uint32_t feed, uint32_t room, int flush) {
    const uint32_t left = static_cast<uint32_t>(stream_.bytes.size()) - fed_;
    feed = std::min(feed, left);
    fed_ += feed;
    ours_.avail_in += feed;
    theirs_.avail_in += feed;
    // Exact buffers, so that a sanitizer sees what is written behind them.
    const std::vector<uint8_t> input(ours_.next_in, ours_.next_in + ours_.avail_in);
    std::vector<uint8_t> our_output(room);
    std::vector<uint8_t> their_output(room);
    const Bytef* const at = theirs_.next_in;
    static const Bytef kNothing = 0;
    ours_.next_in = input.empty() ? &kNothing : input.data();
    const Bytef* const begin = ours_.next_in;
    static Bytef no_room;
    ours_.next_out = room == 0 ? &no_room : our_output.data();
    theirs_.next_out = room == 0 ? &no_room : their_output.data();
    ours_.avail_out = theirs_.avail_out = room;
    const int ours = inflate(&ours_, flush);
    ours_.next_in = at + (ours_.next_in - begin);
    const int their = theirs(inflate, "inflate")(&theirs_, flush);
    const std::string what =
        fmt::format("inflate({} bytes, room {}, flush {})", input.size(), room, flush);
    result(what.c_str(), ours, their);
    compare(what.c_str());
    if (our_output != their_output) differ(what.c_str(), "output", 0, 0);
    return their;
  }

  void set_raw_dictionary() {
    if (stream_.window_bits < 0 && !stream_.dictionary.empty()) set_dictionary();
  }

  void set_dictionary() {
    const uInt size = static_cast<uInt>(stream_.dictionary.size());
    result("inflateSetDictionary", inflateSetDictionary(&ours_, stream_.dictionary.data(), size),
           theirs(inflateSetDictionary, "inflateSetDictionary")(&theirs_, stream_.dictionary.data(),
                                                                size));
  }

  void step() {
    static constexpr int kFlushes[] = {Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH, Z_BLOCK, Z_TREES};
    if (script_.one_in(40)) odd_call();
    const uint32_t kinds = plain_flushes_ ? 3 : 5;
    const uint32_t feed = script_.any_size(static_cast<uint32_t>(stream_.bytes.size()));
    const int before = last_;
    last_ = inflate_both(feed, script_.any_size(kMostRoom), kFlushes[script_.below(kinds)]);
    if (last_ == Z_NEED_DICT) set_dictionary();
    const bool at_end = last_ == Z_STREAM_END || last_ == Z_DATA_ERROR || last_ == Z_STREAM_ERROR;
    const bool starved = last_ == Z_BUF_ERROR && fed_ == stream_.bytes.size();
    if ((at_end || starved) && (before == last_ || script_.one_in(2))) after_the_end();
  }

  void after_the_end() {
    if (last_ == Z_DATA_ERROR && script_.one_in(2)) return synchronise();
    if (resets_++ == 2 || script_.one_in(2)) {
      over_ = true;
      return;
    }
    reset();
  }

  void reset() {
    if (script_.one_in(2)) {
      result("inflateReset", inflateReset(&ours_), theirs(inflateReset, "inflateReset")(&theirs_));
    } else {
      result("inflateReset2", inflateReset2(&ours_, stream_.window_bits),
             theirs(inflateReset2, "inflateReset2")(&theirs_, stream_.window_bits));
    }
    set_raw_dictionary();
    rewind();
  }

  void synchronise() {
    synchronised_ = true;
    // zlib 1.2.13 writes behind its window where it has not learnt the size from a header yet.
    if (stream_.window_bits % 16 == 0) {
      over_ = true;
      return;
    }
    const uint32_t feed = script_.below(200);
    const uint32_t more = std::min(feed, static_cast<uint32_t>(stream_.bytes.size()) - fed_);
    fed_ += more;
    ours_.avail_in += more;
    theirs_.avail_in += more;
    const int found = theirs(inflateSync, "inflateSync")(&theirs_);
    result("inflateSync", inflateSync(&ours_), found);
    compare("inflateSync");
    if (found == Z_DATA_ERROR) last_ = found;
    if (more == 0) over_ = true;
  }

  void copy() {
    z_stream ours;
    z_stream their;
    result("inflateCopy", inflateCopy(&ours, &ours_),
           theirs(inflateCopy, "inflateCopy")(&their, &theirs_));
    z_stream moved;  // the copies are streams of their own address: copy them back
    theirs(inflateEnd, "inflateEnd")(&theirs_);
    result("inflateEnd", inflateEnd(&ours_), Z_OK);
    moved = ours_;
    result("inflateCopy back", inflateCopy(&ours_, &ours),
           theirs(inflateCopy, "inflateCopy")(&theirs_, &their));
    result("inflateEnd of the copy", inflateEnd(&ours), theirs(inflateEnd, "inflateEnd")(&their));
    // Not a stream, and not to be taken for one.
    moved.state = ours_.state;
    result("inflate of a moved stream", inflate(&moved, Z_NO_FLUSH), Z_STREAM_ERROR);
  }

  void dictionaries() {
    // Not promised once nothing more may be decoded: after the last block and errors.
    constexpr int kLastBlock = 64;
    const bool last_block = (theirs_.data_type & kLastBlock) != 0;
    if (last_block || last_ == Z_DATA_ERROR || last_ == Z_STREAM_ERROR) return;
    std::array<Bytef, 32768> ours{};
    std::array<Bytef, 32768> their{};
    uInt our_size = 0;
    uInt their_size = 0;
    result(
        "inflateGetDictionary", inflateGetDictionary(&ours_, ours.data(), &our_size),
        theirs(inflateGetDictionary, "inflateGetDictionary")(&theirs_, their.data(), &their_size));
    result("size of the dictionary", our_size, their_size);
    if (ours != their) differ("inflateGetDictionary", "content", 0, 0);
  }

  void odd_call() {
    switch (script_.below(8)) {
      case 0:
        return copy();
      case 1:
        return dictionaries();
      case 2:
        if (last_ == Z_DATA_ERROR || last_ == Z_STREAM_ERROR) return;
        return result("inflateMark", inflateMark(&ours_),
                      theirs(inflateMark, "inflateMark")(&theirs_));
      case 3:
        return result("inflateSyncPoint", inflateSyncPoint(&ours_),
                      theirs(inflateSyncPoint, "inflateSyncPoint")(&theirs_));
      case 4:
        return script_.one_in(4) ? synchronise() : void();
      case 5: {
        // Once synchronised, zlib would go on from a checksum that it has not kept meanwhile.
        const int check = synchronised_ ? 0 : static_cast<int>(script_.below(2));
        return result("inflateValidate", inflateValidate(&ours_, check),
                      theirs(inflateValidate, "inflateValidate")(&theirs_, check));
      }
      case 6:
        if (theirs_.total_in != 0 || stream_.window_bits >= 0) return;
        return result("inflatePrime", inflatePrime(&ours_, 5, 19),
                      theirs(inflatePrime, "inflatePrime")(&theirs_, 5, 19));
      default:
        return script_.one_in(4) ? reset() : void();
    }
  }

  const TestStream& stream_;
  Script& script_;
  const bool plain_flushes_ = !script_.one_in(4);
  z_stream ours_ = {};
  z_stream theirs_ = {};
  uint32_t fed_ = 0;  // of the stream's bytes, given to both
  int last_ = Z_OK;
  int resets_ = 0;
  bool over_ = false;
  bool synchronised_ = false;
  std::string difference_;
};

}  // namespace

Script::Script(std::span<const uint8_t> bytes) : bytes_(bytes), state_(0xcbf29ce484222325) {
  for (const uint8_t byte : bytes) state_ = (state_ ^ byte) * 0x100000001b3;  // FNV-1a
}

uint32_t Script::next() {
  state_ = state_ * 6364136223846793005u + 1442695040888963407u;
  const uint32_t generated = static_cast<uint32_t>(state_ >> 33);
  if (bytes_.empty()) return generated;
  const uint32_t given = bytes_.front();
  bytes_ = bytes_.subspan(1);
  return given << 8 | (generated & 0xff);
}

uint32_t Script::below(uint32_t limit) { return next() % limit; }

uint32_t Script::any_size(uint32_t limit) {
  const uint32_t bits = below(20);
  return std::min(limit, below(uint32_t{2} << bits));
}

TestStream make_stream(Script& script) {
  TestStream stream;
  // Between the bits given to deflateInit2() and those to inflateInit2(): header, and its kind.
  const int window = 9 + static_cast<int>(script.one_in(3) ? script.below(7) : 6);
  const uint32_t format = script.below(3);
  const int bits = format == 0 ? -window : format == 1 ? window : window + 16;
  static constexpr int kReaders[3][3] = {{-15, -15, -15}, {15, 0, 47}, {31, 47, 16}};
  stream.window_bits = script.one_in(2) ? bits : kReaders[format][script.below(3)];
  if (script.one_in(12)) stream.window_bits = static_cast<int>(script.below(66)) - 16;
  if (script.one_in(5)) {
    stream.bytes.assign(script.rest().begin(), script.rest().end());
    stream.window_bits = -15;
  } else {
    const uint32_t size = script.any_size(kMostContent);
    stream.bytes = deflated(make_content(script, size), stream, bits, script);
  }
  if (script.one_in(3)) damage(stream.bytes, script);
  if (script.one_in(4)) stream.bytes.insert(stream.bytes.end(), 100, 0xa5);
  return stream;
}

std::string compare_with_zlib(const TestStream& stream, Script& script) {
  // Any stream may be taken over, at its start or later.
  inflate_limits.process = 0;
  inflate_limits.call = script.one_in(3) ? script.any_size(300) : 0;
  inflate_limits.stream = script.one_in(3) ? script.any_size(30000) : 0;
  return Lockstep(stream, script).run();
}

uint64_t streams_taken_over() { return taken_over; }

}  // namespace hoist::intercept
