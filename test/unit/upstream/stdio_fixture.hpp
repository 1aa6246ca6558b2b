// A stdio upstream with a control worker and a data worker on threads of their own, for tests that start real children.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "port/settings.hpp"
#include "upstream/observer.hpp"
#include "upstream/stdio_upstream.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace switchgear::test {

/// Waits until `condition` holds; false when it does not within `limit`.
bool until(const std::function<bool()>& condition, duration limit = std::chrono::seconds(10));

/// The command line of test/support/stdio_server.py in the given modes.
std::vector<std::string> small_server(std::vector<std::string> modes = {});

class recording_observer final : public upstream::observer {
 public:
  void listed(unsigned, upstream::listing tools) override;
  void state_changed(unsigned, const port::upstream_status& status) override;
  void remark(unsigned, std::string_view line) override;
  void notified(unsigned, std::string_view text, const protocol::message& seen) override;
  boost::asio::awaitable<std::string> asked(unsigned, std::string_view text, const protocol::message& seen,
                                            async::interrupt& until) override;

  std::vector<upstream::listing> lists() const;
  std::vector<port::upstream_status> states() const;
  std::vector<std::string> remarks() const;
  std::vector<std::string> notifications() const;
  std::vector<std::string> questions() const;
  bool remarked(std::string_view part) const;

 private:
  mutable std::mutex mutex_;
  std::vector<upstream::listing> lists_;
  std::vector<port::upstream_status> states_;
  std::vector<std::string> remarks_;
  std::vector<std::string> notifications_;
  std::vector<std::string> questions_;
};

/// What a call brought, as text.
struct called {
  port::fault fault = port::fault::none;
  bool sent = false;
  std::string body;
  std::string text;  ///< of the first content block; empty in other answers
  std::string detail;
  std::vector<std::string> heard;  ///< before the response
  protocol::era era = protocol::era::legacy;
  duration took{};
};

class stdio_fixture : public ::testing::Test {
 public:
  stdio_fixture();
  ~stdio_fixture() override;

  /// To be set before start().
  port::upstream_settings settings;
  port::session_role role;
  /// Who calls.
  port::client client;
  bool has_listener = true;

  void start();
  /// start(), and wait until it serves.
  void start_ready();
  /// Stops as the gateway does at its end; the time it took.
  duration stop();

  /// A tools/call with the client's id "client-7" and progress token "client-token".
  std::future<called> call_soon(std::string tool, std::string arguments = "{}",
                                duration deadline = std::chrono::seconds(10));
  called call(std::string tool, std::string arguments = "{}", duration deadline = std::chrono::seconds(10));
  std::future<called> call_text(std::string request, std::string tool, duration deadline);

  /// Interrupts the call in flight of this tool, as a client's cancel does.
  void cancel_call(std::string tool);

  /// Tells the upstream which resources are wanted.
  void watch(std::set<std::string> uris);
  /// The lines that the child got, as it read them.
  std::vector<std::string> received();
  /// Whether the child gets a line with all these parts, soon.
  bool receives(std::vector<std::string> parts);

  upstream::stdio_upstream& upstream() { return *upstream_; }
  recording_observer observed;

 private:
  boost::asio::awaitable<void> make_call(std::string request, std::string tool, duration deadline,
                                         std::shared_ptr<std::promise<called>> done);

  async::worker data_{0};
  async::worker control_{1};
  std::unique_ptr<upstream::stdio_upstream> upstream_;
  std::thread data_thread_;
  std::thread control_thread_;
  std::map<std::string, async::interrupt*> in_flight_;  // by tool; the data thread's alone
  bool stopped_ = false;
};

}  // namespace switchgear::test
