// The pipes of one child: messages out, messages in, and who waits for which.
#pragma once

#include "async/worker.hpp"
#include "protocol/abilities.hpp"
#include "protocol/line_reader.hpp"
#include "upstream/child_errors.hpp"
#include "upstream/child_process.hpp"
#include "upstream/stdio_line.hpp"
#include "upstream/stdio_request.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace switchgear::upstream {

/// From the start of a child to its end; knows nothing of what the messages are for. Control worker only. Memory is
/// bounded: by `max_message` for what comes in, by most_queued_* for what the child is slow to read.
class stdio_session : public std::enable_shared_from_this<stdio_session> {
 public:
  static constexpr std::size_t most_queued_bytes = 16 * 1024 * 1024;
  static constexpr std::size_t most_queued_lines = 4096;
  static constexpr std::size_t most_questions = 64;  // of the child, under way at once

  /// What a session tells its owner, who outlives it.
  class events {
   public:
    virtual void list_changed() = 0;                        ///< of any kind
    virtual void notified(kept_message message) = 0;        ///< belongs to no call
    virtual void asked(asked_request question) = 0;         ///< belongs to no call
    virtual void withdrawn(std::string_view question) = 0;  ///< one of those; its id, raw
    virtual void late_answer() = 0;                         ///< for a request that was forgotten
    virtual void noise(std::string_view line) = 0;
    virtual void error_line(std::string_view line) = 0;  ///< on stderr, printable, rate-limited
    virtual void session_changed() = 0;                  ///< usable() or finished() did

   protected:
    ~events() = default;
  };

  /// The child may ask what `abilities` allow; anything else is refused here, but for `ping`, which is answered here.
  stdio_session(async::worker& on, child_process child, std::size_t max_message,
                const protocol::client_abilities& abilities, events& owner);

  /// Moves bytes until the child has ended and its last words are read; then whoever still waits has failed. Once.
  boost::asio::awaitable<void> run();

  /// Sends `line` (with its line end) and lets `request` wait for the response with `id`.
  void send(std::uint64_t id, std::string line, std::shared_ptr<stdio_request> request);
  /// Sends a message that has no answer; dropped when the child does not read.
  void post(std::string line);
  /// `id` is no longer waited for. True if it was.
  bool forget(std::uint64_t id);
  /// Ends every wait: as lost what was sent, as not_ready what was not.
  void fail_all(std::string_view why);

  void close_input();
  void signal_group(int number) { child_.signal_group(number); }

  /// False once the child closed its stdin or stdout or has ended: no request can succeed any more.
  bool usable() const { return usable_; }
  /// run() is over: the child has been reaped.
  bool finished() const { return finished_; }
  int pid() const { return child_.pid(); }
  /// Why it is unusable, with the child's own last words; one line.
  std::string reason() const;

 private:
  struct queued_line {
    std::string text;
    std::uint64_t id = 0;  // 0: nobody waits
  };

  boost::asio::awaitable<void> write_input();
  boost::asio::awaitable<void> read_output();
  boost::asio::awaitable<void> read_errors();
  boost::asio::awaitable<void> watch();

  void enqueue(queued_line line);
  void read_piece(std::string_view piece);
  void read_line(std::string_view line);
  void read_response(kept_message message);
  void read_notification(kept_message message);
  void read_progress(kept_message notification);
  void read_request(kept_message request);
  void ask(kept_message request);
  void answer(const std::string& id, std::uint64_t number, std::string_view response);
  void withdraw(std::string_view id);
  void end_stream(std::string_view id);
  stdio_request* only_call() const;
  std::shared_ptr<stdio_request> oldest_listener() const;
  void over_limit_line_ended(std::optional<std::uint64_t> owner);
  void fail(std::uint64_t id, port::fault why, std::string_view detail);
  void mark_unusable(std::string_view why);

  struct waiting {
    std::shared_ptr<stdio_request> request;
    bool begun = false;
  };
  struct open_question {
    std::uint64_t number;               // ours: the child may use an id twice
    std::weak_ptr<stdio_request> call;  // none: the owner is asked
  };

  async::worker& on_;
  child_process child_;
  const protocol::client_abilities abilities_;
  events& owner_;
  const std::size_t max_message_;
  protocol::line_reader lines_;
  stdio_line_ends line_ends_;
  protocol::scratch scratch_;
  child_errors errors_;

  std::unordered_map<std::uint64_t, waiting> waiting_;
  std::map<std::string, open_question, std::less<>> questions_;  // by id, raw
  std::uint64_t questions_asked_ = 0;
  std::deque<queued_line> queue_;
  std::size_t queued_bytes_ = 0;
  boost::asio::steady_timer queue_changed_;  // never expires: cancelling it is the event
  boost::asio::steady_timer output_ended_;   // expires when nobody waits for the last output any longer
  bool input_open_ = true;
  bool output_open_ = true;
  bool usable_ = true;
  bool finished_ = false;
  std::uint64_t newest_id_ = 0;
  std::string why_unusable_;
  std::optional<child_end> end_;
};

}  // namespace switchgear::upstream
