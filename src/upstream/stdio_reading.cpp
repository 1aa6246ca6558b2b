// What a line of a child says, and whom it concerns.
#include "protocol/errors.hpp"
#include "protocol/line_writer.hpp"
#include "protocol/results.hpp"
#include "upstream/listing_reader.hpp"
#include "upstream/stdio_session.hpp"

#include <boost/asio/post.hpp>

#include <limits>
#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

namespace {

constexpr std::size_t longest_echoed_id = 256;  // of a request by the server, which we answer with its own id

// What a server says to everybody who listens, even while it happens to work on one call.
bool concerns_no_call(const protocol::message& seen) {
  return seen.method == "notifications/resources/updated" || seen.method.starts_with("notifications/subscriptions/");
}

}  // namespace

void stdio_session::read_line(std::string_view line) {
  result<kept_message> message = read_message(line, scratch_);
  if (!message) {
    owner_.noise(line);
    return;
  }
  switch (message->seen.kind) {
    case protocol::kind::response:
      return read_response(*std::move(message));
    case protocol::kind::notification:
      return read_notification(*std::move(message));
    case protocol::kind::request:
      return read_request(*std::move(message));
  }
}

void stdio_session::read_response(kept_message message) {
  const auto id = our_id(message.seen.id.in(message.text.view()));
  const auto found = id ? waiting_.find(*id) : waiting_.end();
  // A response to what was never asked says nothing that anybody waits for.
  if (found == waiting_.end() || !found->second.begun) {
    if (id && *id <= newest_id_) {
      owner_.late_answer();
    } else {
      owner_.noise(message.text.view());
    }
    return;
  }
  const std::shared_ptr<stdio_request> request = std::move(found->second.request);
  waiting_.erase(found);
  request->answered(std::move(message));
}

void stdio_session::read_notification(kept_message message) {
  const std::string_view method = message.seen.method;
  if (method == "notifications/progress") return read_progress(std::move(message));
  if (says_list_changed(method)) return owner_.list_changed();
  if (method == "notifications/cancelled" && message.seen.cancelled_id) {
    return withdraw(message.seen.cancelled_id.in(message.text.view()));
  }
  stdio_request* const call = concerns_no_call(message.seen) ? nullptr : only_call();
  if (call != nullptr && call->has_listener()) {
    call->heard(std::move(message));
  } else {
    owner_.notified(std::move(message));
  }
}

void stdio_session::read_progress(kept_message notification) {
  const auto id = our_id(notification.seen.progress_token.in(notification.text.view()));
  const auto found = id ? waiting_.find(*id) : waiting_.end();
  if (found != waiting_.end()) {
    found->second.request->heard(std::move(notification));
  } else if (id && *id <= newest_id_) {
    owner_.late_answer();
  }
}

void stdio_session::read_request(kept_message request) {
  const std::string_view text = request.text.view();
  const std::string_view id = request.seen.id.in(text);
  if (id.size() > longest_echoed_id || questions_.contains(id)) {
    owner_.noise(text);
  } else if (request.seen.method == "ping") {
    post(protocol::write_result(id, protocol::empty_result) + "\n");
  } else if (!protocol::may_ask(abilities_, request.seen, text)) {
    post(protocol::write_error(id, protocol::code::method_not_found, "Method not found") + "\n");
  } else if (questions_.size() >= most_questions) {
    post(protocol::write_error(id, protocol::code::internal_error, "too many requests at once") + "\n");
  } else {
    ask(std::move(request));
  }
}

void stdio_session::ask(kept_message request) {
  const std::string id(request.seen.id.in(request.text.view()));
  const std::shared_ptr<stdio_request> call = oldest_listener();
  const std::uint64_t number = ++questions_asked_;
  questions_.emplace(id, open_question{number, call});
  asked_request question{std::move(request), [&on = on_, weak = weak_from_this(), id, number](std::string response) {
                           asio::post(on.io, [weak, id, number, response = std::move(response)] {
                             if (const auto self = weak.lock()) self->answer(id, number, response);
                           });
                         }};
  if (call) {
    call->asked(std::move(question));
  } else {
    owner_.asked(std::move(question));
  }
}

void stdio_session::answer(const std::string& id, std::uint64_t number, std::string_view response) {
  const auto found = questions_.find(id);
  // One that was taken back wants no answer, and another may have its id by now.
  if (found == questions_.end() || found->second.number != number) return;
  questions_.erase(found);
  post(protocol::write_line(parts{response}));
}

void stdio_session::withdraw(std::string_view id) {
  const auto found = questions_.find(id);
  if (found == questions_.end()) return end_stream(id);
  const std::shared_ptr<stdio_request> call = found->second.call.lock();
  questions_.erase(found);
  if (call) {
    call->withdrawn(id);
  } else {
    owner_.withdrawn(id);
  }
}

// A modern child's way to end a stream that we asked for (MCP 2026-07-28, basic/transports stdio).
void stdio_session::end_stream(std::string_view id) {
  const auto ours = our_id(id);
  const auto found = ours ? waiting_.find(*ours) : waiting_.end();
  if (found != waiting_.end() && found->second.request->is_stream()) {
    fail(*ours, port::fault::lost, "the child ended the stream");
  }
}

// A notification does not say which call it belongs to. With one call under way there is no doubt.
stdio_request* stdio_session::only_call() const {
  stdio_request* found = nullptr;
  for (const auto& [id, entry] : waiting_) {
    if (!entry.begun || !entry.request->is_call()) continue;
    if (found != nullptr) return nullptr;
    found = entry.request.get();
  }
  return found;
}

// Nor does a question. All calls are the same client's, so that any will do which stays for long enough; and a child
// that works on one call after the other means the oldest.
std::shared_ptr<stdio_request> stdio_session::oldest_listener() const {
  std::shared_ptr<stdio_request> found;
  std::uint64_t oldest = std::numeric_limits<std::uint64_t>::max();
  for (const auto& [id, entry] : waiting_) {
    if (!entry.begun || !entry.request->has_listener() || id > oldest) continue;
    found = entry.request;
    oldest = id;
  }
  return found;
}

}  // namespace switchgear::upstream
