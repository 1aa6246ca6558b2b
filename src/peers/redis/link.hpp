// One connection to a Redis node. The client library stays behind it.
#pragma once

#include "base/result.hpp"
#include "base/time.hpp"
#include "peers/redis/exchange.hpp"
#include "port/shared_state.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::peers::redis {

/// What a node answered to one command.
struct response {
  enum class kind : std::uint8_t {
    lost,    ///< nothing: the connection broke or time was up; the command may have been carried out
    nil,     ///< nothing to tell
    text,    ///< `text`
    number,  ///< `number`
    list,    ///< `items`
    error,   ///< `text` says why the node did not do it
  };
  response::kind kind = kind::lost;
  std::string text;
  std::int64_t number = 0;
  std::vector<response> items;
};

/// Control thread. Each command has a time limit; one that is not answered in time closes the connection, since what
/// comes after it could not be told apart any more.
class link {
 public:
  explicit link(boost::asio::io_context& io);
  ~link();
  link(const link&) = delete;
  link& operator=(const link&) = delete;

  /// Connects, greets and identifies itself. Empty, or why not, without any secret. `tls`: null = plain.
  boost::asio::awaitable<std::string> open(port::redis_settings::host where, const port::redis_settings& settings,
                                           boost::asio::ssl::context* tls, duration limit);
  bool usable() const;
  void close();

  /// Commands on their way, all at once.
  class batch;
  std::shared_ptr<batch> send(const std::vector<command>& commands);
  /// The answers, one a command; what is missing at `until` is lost.
  boost::asio::awaitable<std::vector<response>> answers(std::shared_ptr<batch> sent, time_point until);
  boost::asio::awaitable<std::vector<response>> ask(std::vector<command> commands, duration limit);

  /// Hears every channel that fits `pattern`. After this the link takes no other command.
  void listen(const std::string& pattern, std::function<void(std::string_view)> hear);
  /// Called when the connection ends, from the control thread's loop.
  void on_end(std::function<void()> told) { ended_ = std::move(told); }

 private:
  class connection;
  boost::asio::io_context& io_;
  std::shared_ptr<connection> connection_;
  std::function<void()> ended_;
};

}  // namespace switchgear::peers::redis
