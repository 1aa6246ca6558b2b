// One request from its arrival to its answer: permit, call, classify, record, and for tools the cascade when it fails.
#pragma once

#include "call/directory.hpp"
#include "call/idempotency.hpp"
#include "call/states.hpp"
#include "cascade/answer_cache.hpp"
#include "port/breakers.hpp"
#include "port/call_handler.hpp"
#include "port/recorder.hpp"

#include <cstdint>
#include <memory>
#include <random>
#include <utility>

namespace switchgear::call {

/// One per worker, used on that worker's thread alone; what it is given outlives it and is shared by all workers.
class service final : public port::call_handler {
 public:
  service(std::shared_ptr<const directory> known, port::breakers& breakers, port::recorder& recorder,
          cascade::answer_cache& answers, const states& sealed, std::uint64_t seed)
      : directory_(std::move(known)),
        breakers_(breakers),
        recorder_(recorder),
        answers_(answers),
        states_(sealed),
        random_(static_cast<std::minstd_rand::result_type>(seed)) {}

  /// From now on calls go by `known`; calls that run keep what they began with. On the worker's thread.
  void use(std::shared_ptr<const directory> known) { directory_ = std::move(known); }

  /// Of a tools/call the answer is the primary's own bytes with the client's id, or a marked stand-in, or an isError
  /// result that says what is wrong (all of them HTTP 200). An unknown tool is JSON-RPC error -32602. Of any other
  /// request it is the server's own, or a JSON-RPC error: one of our codes, or the one for what nobody knows.
  boost::asio::awaitable<void> call(async::worker& on, const port::incoming_call& call, async::interrupt& interrupt,
                                    port::event_sink* client, port::answer& out) override;

 private:
  boost::asio::awaitable<void> call_tool(async::worker& on, const port::incoming_call& call,
                                         async::interrupt& interrupt, port::event_sink* client, port::answer& out);
  boost::asio::awaitable<void> run(async::worker& on, const port::incoming_call& call, const destination& where,
                                   async::interrupt& interrupt, port::event_sink* client, port::answer& out);

  std::shared_ptr<const directory> directory_;
  port::breakers& breakers_;
  port::recorder& recorder_;
  cascade::answer_cache& answers_;
  const states& states_;
  std::minstd_rand random_;
  key_maker keys_;
};

}  // namespace switchgear::call
