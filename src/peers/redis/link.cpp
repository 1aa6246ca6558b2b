#include "peers/redis/link.hpp"

#include "async/worker.hpp"
#include "peers/redis/connection.hpp"
#include "peers/redis/tls.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>
#include <optional>
#include <utility>

namespace switchgear::peers::redis {

namespace asio = boost::asio;

namespace {

constexpr std::size_t longest_password = 4096;

/// The password of the moment; nothing when its file cannot be read.
std::optional<std::string> password_of(const port::redis_settings& settings) {
  if (settings.password_file.empty()) return settings.password;
  std::ifstream file(settings.password_file, std::ios::binary);
  std::string read(longest_password, '\0');
  if (!file.read(read.data(), static_cast<std::streamsize>(read.size())) && !file.eof()) return std::nullopt;
  read.resize(static_cast<std::size_t>(file.gcount()));
  while (!read.empty() && (read.back() == '\n' || read.back() == '\r')) read.pop_back();
  return read;
}

std::vector<command> greeting(const port::redis_settings& settings, const std::string& password) {
  std::vector<command> all;
  if (!settings.user.empty()) {
    all.push_back({"AUTH", settings.user, password});
  } else if (!password.empty()) {
    all.push_back({"AUTH", password});
  }
  if (settings.database != 0) all.push_back({"SELECT", std::to_string(settings.database)});
  // Some answer is needed: only it shows that the node takes commands from us.
  all.push_back({"PING"});
  return all;
}

}  // namespace

std::string place_of(const port::redis_settings::host& where) {
  return where.name + ":" + std::to_string(where.port);
}

class link::batch {
 public:
  batch(asio::io_context& io, std::size_t size, std::shared_ptr<connection> over)
      : responses(size), left(size), complete(io), via(std::move(over)) {}

  void answered(response with) {
    responses[responses.size() - left] = std::move(with);
    settle(1);
  }
  void lose() { settle(left); }

  std::vector<response> responses;
  std::size_t left;
  asio::steady_timer complete;
  const std::shared_ptr<connection> via;

 private:
  void settle(std::size_t how_many) {
    left -= how_many;
    if (left == 0) complete.cancel();
  }
};

/// What belongs to one connection and ends with it.
struct link::session {
  std::shared_ptr<connection> line;
  std::deque<std::shared_ptr<batch>> asked;  // those without all their answers, in order
  std::function<void(const response&)> heard;
  bool greeted = false;
};

link::link(asio::io_context& io) : io_(io) {}
link::~link() {
  ended_ = nullptr;
  close();
}

bool link::usable() const {
  return session_ && session_->greeted;
}

void link::close() {
  const auto ending = std::exchange(session_, nullptr);
  if (!ending) return;
  ending->line->close();
  for (const auto& each : ending->asked) each->lose();
  if (ending->greeted && ended_) asio::post(io_, ended_);
}

void link::take(response said) {
  const auto current = session_;  // whoever hears this may close the link
  if (current->heard) {
    current->heard(said);
    return;
  }
  auto& asked = current->asked;
  if (asked.empty()) {
    // From here on no answer could be trusted to belong to its command.
    close();
    return;
  }
  const auto front = asked.front();
  if (front->left == 1) asked.pop_front();
  front->answered(std::move(said));
}

asio::awaitable<std::string> link::open(port::redis_settings::host where, const port::redis_settings& settings) {
  close();
  ended_why_.clear();
  const time_point until = async::worker::now() + open_limit;
  std::string why;
  // Made anew for each connection, as certificates and the list of trusted ones may have been exchanged.
  auto tls = settings.tls ? make_tls(settings, why) : nullptr;
  if (!why.empty()) co_return why;
  const auto mine = std::make_shared<session>();
  mine->line = std::make_shared<connection>(io_);
  session_ = mine;
  why = co_await mine->line->connect(where.name, where.port, std::move(tls), until);
  if (why.empty() && session_ != mine) why = "given up";
  if (why.empty()) {
    mine->line->read([this](response said) { take(std::move(said)); },
                     [this](std::string reason) {
                       ended_why_ = std::move(reason);
                       close();
                     });
    why = co_await greet(settings, until);
    if (why.empty() && session_ != mine) why = "given up";
  }
  if (why.empty()) {
    mine->greeted = true;
    co_return why;
  }
  if (session_ == mine) close();
  co_return place_of(where) + ": " + why;
}

asio::awaitable<std::string> link::greet(const port::redis_settings& settings, time_point until) {
  const auto password = password_of(settings);
  if (!password) co_return "cannot read " + settings.password_file;
  const auto said = co_await answers(send(greeting(settings, *password)), until);
  for (const response& each : said) {
    if (each.kind == response::kind::error) co_return reason_of(each);
    if (each.kind == response::kind::lost) {
      co_return ended_why_.empty() ? std::string("no answer in time") : ended_why_;
    }
  }
  co_return std::string();
}

std::shared_ptr<link::batch> link::send(const std::vector<command>& commands) {
  auto sent = std::make_shared<batch>(io_, commands.size(), session_ ? session_->line : nullptr);
  if (commands.empty()) return sent;
  if (session_) {
    session_->asked.push_back(sent);
    session_->line->write(commands);
  } else {
    sent->lose();
  }
  return sent;
}

asio::awaitable<std::vector<response>> link::answers(std::shared_ptr<batch> sent, time_point until) {
  if (sent->left > 0) {
    error_code ignored;
    sent->complete.expires_at(until);
    co_await sent->complete.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  if (sent->left > 0 && session_ && session_->line == sent->via) close();
  co_return std::move(sent->responses);
}

asio::awaitable<std::vector<response>> link::ask(std::vector<command> commands, duration limit) {
  const auto sent = send(commands);
  co_return co_await answers(sent, async::worker::now() + limit);
}

void link::hear(std::function<void(const response&)> told) {
  if (session_) session_->heard = std::move(told);
}

void link::tell(const command& words) {
  if (session_) session_->line->write({words});
}

}  // namespace switchgear::peers::redis
