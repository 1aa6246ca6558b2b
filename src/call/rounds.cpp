#include "call/rounds.hpp"

#include "base/buffer.hpp"
#include "protocol/scan.hpp"
#include "protocol/text.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchgear::call {

namespace {

constexpr unsigned most_rounds = 10;
constexpr std::size_t most_questions = 32;  // in one round

struct question_text {
  std::string key;  // raw
  buffer text;      // a JSON-RPC request
};

/// The requests in `inputRequests`, each under its key as the id. Empty if they are none.
std::vector<question_text> read_questions(std::string_view input_requests) {
  std::vector<question_text> all;
  protocol::token_index index;
  protocol::scanner in(input_requests, index);
  for (bool more = in.open('{'); more; more = in.another('}')) {
    std::string_view key, value;
    if (!in.key(key) || !in.skip(value) || !value.starts_with('{') || all.size() == most_questions) return {};
    question_text& made = all.emplace_back(question_text{std::string(key), {}});
    for (const std::string_view piece : {std::string_view(R"({"jsonrpc":"2.0","id":)"), key, std::string_view(",")}) {
      made.text.append(piece);
    }
    made.text.append(value.substr(1));
  }
  return in.finish() ? std::move(all) : std::vector<question_text>{};
}

void give_up(attempt& done, std::string why) {
  done.reply.has_message = false;
  done.reply.detail = std::move(why);
  done.what = {{}, {}, cascade::ending::failed, cascade::reason::upstream_error};
}

/// Asks the client everything; the object of its answers, or empty with `why`.
boost::asio::awaitable<std::string> collect(relay& client, attempt_context& given, std::string_view input_requests,
                                            std::string& why) {
  std::vector<question_text> questions = read_questions(input_requests);
  std::string answers = "{";
  for (question_text& question : questions) {
    protocol::scratch space;
    const auto asked = protocol::peek(question.text.view(), space);
    if (!asked || asked->kind != protocol::kind::request) {
      why = "it asks for input in a form that is no request";
      co_return std::string();
    }
    const std::string answer = co_await client.ask(question.text.view(), *asked, given.whole);
    protocol::scratch answer_space;
    const auto seen = protocol::peek(answer, answer_space);
    if (!seen || !seen->result) {
      why = "it asks the client for " + std::string(asked->method) + ", and there is no answer";
      if (seen && seen->error) why.append(": ").append(protocol::head(seen->error_message, 200));
      co_return std::string();
    }
    if (answers.size() > 1) answers += ',';
    answers.append(question.key).append(":").append(seen->result.in(answer));
  }
  co_return answers + "}";
}

}  // namespace

bool asks_for_input(const port::reply& reply) {
  return reply.has_message && reply.message.result_type.in(reply.body.view()) == R"("input_required")";
}

bool continues(const port::incoming_call& call) {
  return call.seen->input_responses || call.seen->request_state;
}

boost::asio::awaitable<void> try_in_rounds(attempt_context& given, relay* client, attempt& done) {
  co_await try_tool(given, done);
  // What the next round carries; its owner is this frame, since the reply that it came with goes away.
  std::string answers, state;
  for (unsigned round = 0; asks_for_input(done.reply) && given.outgoing.client.era == protocol::era::legacy; ++round) {
    if (client == nullptr || round == most_rounds) {
      give_up(done, client == nullptr ? "it asks the client for input, which cannot be asked"
                                      : "it does not stop asking the client for input");
      co_return;
    }
    std::string why;
    const std::string_view body = done.reply.body.view();
    const std::string_view asked = done.reply.message.input_requests.in(body);
    answers = asked.empty() ? "{}" : co_await collect(*client, given, asked, why);
    if (answers.empty()) {
      give_up(done, std::move(why));
      co_return;
    }
    state = done.reply.message.request_state.in(body);
    given.outgoing.input_responses = answers;
    given.outgoing.request_state = state;
    given.started = async::worker::now();
    given.may_wait = false;
    done = {};
    co_await try_tool(given, done);
  }
}

}  // namespace switchgear::call
