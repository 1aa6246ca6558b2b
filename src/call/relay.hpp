// What an upstream says about a request before its response, on its way to the client.
#pragma once

#include "async/worker.hpp"
#include "port/call_handler.hpp"
#include "port/client.hpp"

#include <string_view>

namespace switchgear::call {

/// Lives as long as the request. Progress goes on under the client's own token, or not at all if it gave none; log
/// messages as far as the client wants them; everything else as it is. Questions go to clients that declared that they
/// answer them; while a client thinks, the request's clock stands still, for at most `patience` a question.
class relay final : public port::client_side {
 public:
  struct facts {
    async::worker& on;
    port::event_sink* sink;  ///< null: the client takes no events
    const port::client& who;
    std::string_view token;   ///< the client's progress token, raw; empty: none
    async::interrupt& whole;  ///< of the request
    duration patience;
  };

  explicit relay(const facts& known) : known_(known) {}

  void take(std::string_view text, const protocol::message& seen) override;
  boost::asio::awaitable<void> flush() override;
  boost::asio::awaitable<std::string> ask(std::string_view text, const protocol::message& seen,
                                          async::interrupt& until) override;
  void let_go() override {
    if (known_.sink != nullptr) known_.sink->let_go();
  }

  /// The client has been asked something: from then on no other upstream may answer in the place of this one.
  bool asked() const { return asked_; }

 private:
  bool wants(std::string_view text, const protocol::message& log) const;

  const facts known_;
  bool asked_ = false;
};

}  // namespace switchgear::call
