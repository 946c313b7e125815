#include "service/api/routes.h"

#include <fmt/core.h>

#include <utility>

#include "service/session/session_size.h"

namespace hoist::service {
namespace {

// Requests behind a session's long one: they hold their bodies, and count as under way.
constexpr size_t kMostWaiting = 256;

net::HttpResponse no_session(const net::HttpRequest& request, const char* missing) {
  return detail(404, fmt::format("Session {} {}", request.parameters.at(0), missing));
}

}  // namespace

Result<bool> Api::end_session(Session& session, const char* reason) const {
  session.is_ending = true;
  // One that is still written would come back with the next start.
  if (Status forgotten = keeper.forget(session); !forgotten) {
    session.is_ending = false;
    return forgotten.error();
  }
  if (sessions.remove(session.id) == nullptr) return false;
  events.session_destroyed(session, reason);
  return true;
}

void Api::handle(net::HttpRouter& router, Work work, const char* method, const char* pattern,
                 Handler handler) const {
  router.add(method, pattern,
             monitor.watch(work, [handler = std::move(handler)](net::HttpRequest request,
                                                                net::HttpReply reply) {
               handler(std::make_shared<Exchange>(Exchange{std::move(request), std::move(reply)}));
             }));
}

void Api::add(net::HttpRouter& router, Work work, const char* method, const char* pattern,
              Answer answer) const {
  router.add(method, pattern,
             monitor.watch(work, [answer = std::move(answer)](net::HttpRequest request,
                                                              net::HttpReply reply) {
               reply.send(answer(request));
             }));
}

void Api::add_in(net::HttpRouter& router, Background& pool, Work work, const char* method,
                 const char* pattern, Answer answer) const {
  handle(router, work, method, pattern,
         [pool = &pool, answer = std::move(answer)](const SharedExchange& exchange) {
           answer_in(*pool, exchange, [exchange, answer] { return answer(exchange->request); });
         });
}

void Api::add_for_session(net::HttpRouter& router, Work work, const char* method,
                          const char* pattern, SessionAnswer answer, const char* missing) const {
  handle(router, work, method, pattern,
         [api = *this, answer = std::move(answer), missing](const SharedExchange& exchange) {
           const auto session = api.find_session(exchange, missing);
           if (session == nullptr) return;
           api.use_session(
               session, exchange,
               [api, exchange, session, answer](const Strand::Use& use) {
                 const auto now = [exchange, session, answer] {
                   return answer(exchange->request, session);
                 };
                 if (!is_large(*session)) return exchange->reply.send(now());
                 api.answer_in(api.pools.observations, exchange, session, use, now);
               },
               missing);
         });
}

std::shared_ptr<Session> Api::find_session(const SharedExchange& exchange,
                                           const char* missing) const {
  auto session = sessions.find(exchange->request.parameters.at(0));
  if (session == nullptr) exchange->reply.send(no_session(exchange->request, missing));
  return session;
}

void Api::use_session(const std::shared_ptr<Session>& session, const SharedExchange& exchange,
                      Strand::Next then, const char* missing) const {
  const auto begin = [&sessions = sessions, &keeper = keeper, session, exchange,
                      then = std::move(then), missing](Strand::Use use) {
    if (session->ended) return exchange->reply.send(no_session(exchange->request, missing));
    sessions.touch(*session);  // it may have waited
    keeper.keep_time(*session);
    then(std::move(use));
  };
  const std::shared_ptr<Strand> strand(session, &session->strand);
  if (Strand::Use use = Strand::try_use(strand)) {
    const std::weak_ptr<const void> goes_on = use;
    begin(std::move(use));
    if (!goes_on.expired()) strand->go_on();
    return;
  }
  const bool waits = Strand::use(
      strand,
      [exchange, begin](Strand::Use use) {
        exchange->reply.run([begin, use = std::move(use)] { begin(use); });
      },
      kMostWaiting);
  if (!waits) exchange->reply.send(busy());
}

void Api::with_node(const std::string& id, NodeOpenings::Wanted wanted,
                    const SharedExchange& exchange, WithNode then) const {
  const auto node = nodes.find_open(id);
  if (node && (wanted != NodeOpenings::Wanted::learn || node->has_index())) return then(node);
  const bool waits = openings.open(
      id, wanted, [exchange, then = std::move(then)](const NodeOpenings::Opened& opened) {
        if (!opened) return exchange->reply.send(error_response(opened.error()));
        exchange->reply.run([then, node = *opened] { then(node); });
      });
  if (!waits) exchange->reply.send(busy());
}

void Api::answer_in(Background& pool, const SharedExchange& exchange,
                    const std::shared_ptr<Session>& session, Strand::Use use,
                    std::function<net::HttpResponse()> answer) const {
  answer_in(pool, exchange,
            [&sessions = sessions, &keeper = keeper, session, use = std::move(use),
             answer = std::move(answer)] {
              net::HttpResponse response = answer();
              sessions.touch(*session);
              keeper.keep_time(*session);
              return response;
            });
}

void Api::answer_in(Background& pool, const SharedExchange& exchange,
                    std::function<net::HttpResponse()> answer) {
  const bool runs =
      pool.run([exchange, answer = std::move(answer)] { exchange->reply.send(answer()); });
  if (!runs) exchange->reply.send(busy());
}

}  // namespace hoist::service
