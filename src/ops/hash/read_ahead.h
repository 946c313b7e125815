// A thread that reads a file ahead of its consumer through a ring of buffers.
//
//   ReadAhead reader(fd);
//   for (auto chunk = reader.next(); chunk.size > 0; chunk = reader.next()) use(chunk);
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

namespace hoist::hash {

class ReadAhead {
 public:
  struct Chunk {
    const uint8_t* data = nullptr;
    size_t size = 0;  // 0: the end, or
    int error = 0;    // the errno of a failed read
  };

  // Reads from the present position of `fd`, which must stay open. Where no thread can be had the
  // reading happens in next().
  explicit ReadAhead(int fd);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // The chunk is valid until the next call. After the end or an error do not call again.
  Chunk next();

 private:
  // Four buffers of this size stay inside a second-level cache.
  static constexpr size_t kChunkBytes = 128 << 10;
  static constexpr size_t kChunks = 4;

  void run();
  Chunk read_chunk(size_t index);

  const int fd_;
  std::unique_ptr<uint8_t[]> memory_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Chunk ring_[kChunks];
  size_t filled_ = 0;    // chunks read since the start
  size_t consumed_ = 0;  // chunks that the consumer has finished with
  bool holding_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace hoist::hash
