// One tools/call from its arrival to its answer: permit, call, classify, record, and the cascade when it fails.
#pragma once

#include "call/directory.hpp"
#include "cascade/answer_cache.hpp"
#include "port/breakers.hpp"
#include "port/call_handler.hpp"
#include "port/recorder.hpp"

#include <memory>

namespace switchgear::call {

/// One per worker, used on that worker's thread alone; what it is given outlives it and is shared by all workers.
class service final : public port::call_handler {
 public:
  service(std::shared_ptr<const directory> known, port::breakers& breakers, port::recorder& recorder,
          cascade::answer_cache& answers)
      : directory_(std::move(known)), breakers_(breakers), recorder_(recorder), answers_(answers) {}

  /// From now on calls go by `known`; calls that run keep what they began with. On the worker's thread.
  void use(std::shared_ptr<const directory> known) { directory_ = std::move(known); }

  /// The answer is the primary's own bytes with the client's id, or a marked stand-in, or an isError result that says
  /// what is wrong (all of them HTTP 200). An unknown tool is JSON-RPC error -32602.
  boost::asio::awaitable<void> call(async::worker& on, const port::incoming_call& call, async::interrupt& interrupt,
                                    port::event_sink* client, port::answer& out) override;

 private:
  friend class course;

  std::shared_ptr<const directory> directory_;
  port::breakers& breakers_;
  port::recorder& recorder_;
  cascade::answer_cache& answers_;
};

}  // namespace switchgear::call
