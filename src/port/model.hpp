// Seam: a language model that answers in a tool's place.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "port/upstream.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <string_view>

namespace switchgear::port {

struct model_reply {
  port::fault fault = port::fault::none;  ///< none: there is a text
  std::string text;                       ///< what the model says, in UTF-8
  std::string detail;                     ///< for people, when it says nothing
};

class model {
 public:
  /// Ends by `interrupt`'s deadline at the latest. Runs on `on`'s thread, may be called on any worker; `prompt` lives
  /// until it has ended.
  virtual boost::asio::awaitable<model_reply> answer(async::worker& on, std::string_view prompt,
                                                     async::interrupt& interrupt) = 0;

  /// What its breaker is called by.
  virtual std::string_view name() const = 0;

 protected:
  ~model() = default;
};

}  // namespace switchgear::port
