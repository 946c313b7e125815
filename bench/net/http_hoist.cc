// A small answer by Hoist's HTTP server, for http_bench.py: http_hoist PORT. "/small" is answered
// at once, "/later" by another thread, as predictions are.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/quiet_thread.h"
#include "net/http/server.h"

namespace {

using namespace hoist::net;

HttpResponse answer() { return {.body = std::string(1200, 'x')}; }

// Takes all that waits, then answers each.
class Worker {
 public:
  void add(HttpReply reply) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(reply));
    changed_.notify_one();
  }
  void run() {
    while (true) {
      std::vector<HttpReply> batch;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !waiting_.empty(); });
        batch.swap(waiting_);
      }
      for (HttpReply& reply : batch) reply.send(answer());
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<HttpReply> waiting_;
};

}  // namespace

int main(int argc, char** argv) {
  static Worker worker;
  HttpRouter router;
  router.add("GET", "/small", [](HttpRequest, HttpReply reply) { reply.send(answer()); });
  router.add("GET", "/later", [](HttpRequest, HttpReply reply) { worker.add(std::move(reply)); });
  HttpServerOptions options;
  options.listen = {std::string("127.0.0.1:") + (argc > 1 ? argv[1] : "0")};
  options.threads = 1;
  if (argc > 3) {
    options.certificate_file = argv[2];
    options.key_file = argv[3];
  }
  auto server = HttpServer::create(std::move(options), std::move(router));
  if (!server) return std::fprintf(stderr, "%s\n", server.error().message.c_str()), 1;
  auto thread = hoist::start_quiet_thread([] { worker.run(); });
  if (!thread) return 1;
  thread->detach();
  return (*server)->run() ? 0 : 1;
}
