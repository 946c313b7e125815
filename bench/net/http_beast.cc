// The same answer by Boost.Beast on Asio, on one thread: http_beast PORT.
#include <boost/asio.hpp>
#include <boost/beast.hpp>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using Tcp = boost::asio::ip::tcp;

class Session : public std::enable_shared_from_this<Session> {
 public:
  explicit Session(Tcp::socket socket) : socket_(std::move(socket)) {
    socket_.set_option(Tcp::no_delay(true));
  }

  void read() {
    request_ = {};
    http::async_read(socket_, buffer_, request_,
                     [self = shared_from_this()](beast::error_code code, size_t) {
                       if (!code) self->answer();
                     });
  }

 private:
  void answer() {
    const bool found = request_.target() == "/small";
    response_ = {found ? http::status::ok : http::status::not_found, request_.version()};
    response_.set(http::field::content_type, "application/json");
    response_.keep_alive(request_.keep_alive());
    response_.body().assign(1200, 'x');
    response_.prepare_payload();
    http::async_write(socket_, response_,
                      [self = shared_from_this()](beast::error_code code, size_t) {
                        if (!code && self->response_.keep_alive()) self->read();
                      });
  }

  Tcp::socket socket_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> response_;
};

void accept(Tcp::acceptor& acceptor) {
  acceptor.async_accept([&](beast::error_code code, Tcp::socket socket) {
    if (!code) std::make_shared<Session>(std::move(socket))->read();
    accept(acceptor);
  });
}

}  // namespace

int main(int argc, char** argv) {
  boost::asio::io_context context(1);
  const auto port = static_cast<unsigned short>(argc > 1 ? std::atoi(argv[1]) : 0);
  Tcp::acceptor acceptor(context, {boost::asio::ip::address_v4::loopback(), port});
  accept(acceptor);
  context.run();
}
