#include "peers/redis/link.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <fstream>
#include <hiredict/async.h>
#include <hiredict/hiredict.h>
#include <hiredict/hiredict_ssl.h>
#include <iterator>
#include <utility>

namespace switchgear::peers::redis {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

namespace {

response taken(const redictReply& from) {
  response made;
  switch (from.type) {
    case REDICT_REPLY_ERROR:
      made.kind = response::kind::error;
      made.text.assign(from.str, from.len);
      break;
    case REDICT_REPLY_STRING:
    case REDICT_REPLY_STATUS:
      made.kind = response::kind::text;
      made.text.assign(from.str, from.len);
      break;
    case REDICT_REPLY_INTEGER:
      made.kind = response::kind::number;
      made.number = from.integer;
      break;
    case REDICT_REPLY_ARRAY:
      made.kind = response::kind::list;
      for (std::size_t i = 0; i < from.elements; ++i) made.items.push_back(taken(*from.element[i]));
      break;
    default:
      made.kind = response::kind::nil;
  }
  return made;
}

/// The password of the moment. A file that cannot be read is an empty password, which the node will name.
std::string password_of(const port::redis_settings& settings) {
  if (settings.password_file.empty()) return settings.password;
  std::ifstream file(settings.password_file, std::ios::binary);
  std::string read(std::istreambuf_iterator<char>(file), {});
  while (!read.empty() && (read.back() == '\n' || read.back() == '\r')) read.pop_back();
  return read;
}

std::vector<command> greeting(const port::redis_settings& settings) {
  std::vector<command> all;
  const std::string password = password_of(settings);
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

class link::batch {
 public:
  batch(asio::io_context& io, std::size_t size) : responses(size), left(size), complete(io) {}

  void answered(std::size_t which, const redictReply* with) {
    if (with != nullptr) responses[which] = taken(*with);
    if (--left == 0) complete.cancel();
  }

  std::vector<response> responses;
  std::size_t left;
  asio::steady_timer complete;
};

/// The client library's context on an Asio descriptor. The library owns the socket; we own the waiting for it.
class link::connection : public std::enable_shared_from_this<connection> {
 public:
  connection(asio::io_context& io, int socket) : io_(io), descriptor_(io, socket) {}
  ~connection() {
    ended_ = nullptr;
    close();
  }

  bool start(int socket) {
    redictOptions options{};
    options.type = REDICT_CONN_USERFD;
    options.endpoint.fd = socket;
    context_ = redictAsyncConnectWithOptions(&options);
    if (context_ == nullptr || context_->err != 0) return false;
    context_->c.flags |= REDICT_CONNECTED;  // else it would connect a second time, to an address it was not told
    context_->data = this;
    context_->ev.data = this;
    context_->ev.addRead = [](void* self) { static_cast<connection*>(self)->want_read(true); };
    context_->ev.delRead = [](void* self) { static_cast<connection*>(self)->want_read(false); };
    context_->ev.addWrite = [](void* self) { static_cast<connection*>(self)->want_write(true); };
    context_->ev.delWrite = [](void* self) { static_cast<connection*>(self)->want_write(false); };
    context_->ev.cleanup = [](void* self) { static_cast<connection*>(self)->let_go(); };
    want_read(true);
    return true;
  }

  bool secure(asio::ssl::context& tls, const std::string& host) {
    SSL* const ssl = SSL_new(tls.native_handle());
    if (ssl == nullptr) return false;
    error_code not_an_address;
    asio::ip::make_address(host, not_an_address);
    if (not_an_address) {
      SSL_set_tlsext_host_name(ssl, host.c_str());
      SSL_set1_host(ssl, host.c_str());
    } else {
      X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str());
    }
    ERR_clear_error();
    ssl_ = ssl;
    if (redictInitiateSSL(&context_->c, ssl) == REDICT_OK) return true;  // the library owns ssl from here on
    last_error_ = reason();
    ssl_ = nullptr;
    SSL_free(ssl);
    return false;
  }

  void close() {
    if (context_ != nullptr) redictAsyncFree(context_);
  }
  bool open() const {
    return context_ != nullptr && (context_->c.flags & (REDICT_DISCONNECTING | REDICT_FREEING)) == 0;
  }
  const std::string& last_error() const { return last_error_; }

  void send(const command& words, std::shared_ptr<batch> of, std::size_t which) {
    struct slot {
      std::shared_ptr<batch> of;
      std::size_t which;
    };
    const auto told = [](redictAsyncContext*, void* reply, void* data) {
      const std::unique_ptr<slot> mine(static_cast<slot*>(data));
      mine->of->answered(mine->which, static_cast<redictReply*>(reply));
    };
    auto mine = std::make_unique<slot>(slot{of, which});
    if (open() && write(words, told, mine.get())) {
      static_cast<void>(mine.release());  // comes back in `told`, which is called in any case
    } else {
      of->answered(which, nullptr);
    }
  }

  void listen(const std::string& pattern, std::function<void(std::string_view)> hear) {
    hear_ = std::move(hear);
    const auto told = [](redictAsyncContext* from, void* raw, void*) {
      const auto* reply = static_cast<redictReply*>(raw);
      auto* self = static_cast<connection*>(from->data);
      if (reply == nullptr || reply->type != REDICT_REPLY_ARRAY || reply->elements != 4) return;
      const redictReply& text = *reply->element[3];
      if (text.str != nullptr) self->hear_({text.str, text.len});
    };
    if (open()) write({"PSUBSCRIBE", pattern}, told, nullptr);
  }

  void on_end(std::function<void()> told) { ended_ = std::move(told); }

 private:
  bool write(const command& words, redictCallbackFn* told, void* data) {
    std::vector<const char*> texts;
    std::vector<std::size_t> lengths;
    for (const std::string& word : words) {
      texts.push_back(word.data());
      lengths.push_back(word.size());
    }
    return redictAsyncCommandArgv(context_, told, data, static_cast<int>(words.size()), texts.data(), lengths.data()) ==
           REDICT_OK;
  }

  void want_read(bool wanted) {
    reads_ = wanted;
    if (!wanted || reading_) return;
    reading_ = true;
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_read, [self = weak_from_this()](error_code failed) {
      if (const auto alive = self.lock(); alive && !failed) alive->readable();
    });
  }
  void want_write(bool wanted) {
    writes_ = wanted;
    if (!wanted || writing_) return;
    writing_ = true;
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_write, [self = weak_from_this()](error_code failed) {
      if (const auto alive = self.lock(); alive && !failed) alive->writable();
    });
  }
  // The library may free its context in here, which let_go() tells us.
  void readable() {
    reading_ = false;
    if (context_ != nullptr && reads_) redictAsyncHandleRead(context_);
    if (context_ != nullptr && reads_) want_read(true);
  }
  void writable() {
    writing_ = false;
    if (context_ != nullptr && writes_) redictAsyncHandleWrite(context_);
    if (context_ != nullptr && writes_) want_write(true);
  }

  // The library knows the socket's errors alone; why a handshake failed, TLS knows.
  std::string reason() const {
    if (ssl_ != nullptr && !SSL_is_init_finished(ssl_)) {
      if (const long fault = SSL_get_verify_result(ssl_); fault != X509_V_OK) {
        return std::string("the certificate is not accepted: ") + X509_verify_cert_error_string(fault);
      }
      const char* const words = ERR_reason_error_string(ERR_peek_last_error());
      return std::string("TLS handshake failed") + (words != nullptr ? std::string(": ") + words : std::string());
    }
    return context_->c.errstr;
  }

  void let_go() {
    if (last_error_.empty() && context_->c.err != 0) last_error_ = reason();
    context_ = nullptr;
    descriptor_.release();  // the library closes it
    if (ended_) asio::post(io_, std::exchange(ended_, nullptr));
  }

  asio::io_context& io_;
  asio::posix::stream_descriptor descriptor_;
  redictAsyncContext* context_ = nullptr;
  SSL* ssl_ = nullptr;  // the library's, alive as long as context_
  std::function<void(std::string_view)> hear_;
  std::function<void()> ended_;
  std::string last_error_;
  bool reads_ = false, reading_ = false;
  bool writes_ = false, writing_ = false;
};

link::link(asio::io_context& io) : io_(io) {}
link::~link() = default;

bool link::usable() const {
  return connection_ && connection_->open();
}

void link::close() {
  if (const auto ending = std::exchange(connection_, nullptr)) ending->close();
}

asio::awaitable<std::string> link::open(port::redis_settings::host where, const port::redis_settings& settings,
                                        asio::ssl::context* tls, duration limit) {
  close();
  const std::string place = where.name + ":" + std::to_string(where.port);
  // Owned by whoever is still at work when the time is up.
  struct attempt {
    explicit attempt(asio::io_context& io) : resolver(io), socket(io), clock(io) {}
    tcp::resolver resolver;
    tcp::socket socket;
    asio::steady_timer clock;
  };
  const auto trying = std::make_shared<attempt>(io_);
  trying->clock.expires_after(limit);
  trying->clock.async_wait([late = std::weak_ptr(trying)](error_code stopped) {
    const auto it = late.lock();
    if (stopped || !it) return;
    it->resolver.cancel();
    error_code ignored;
    it->socket.close(ignored);
  });
  error_code failed;
  const auto found = co_await trying->resolver.async_resolve(where.name, std::to_string(where.port),
                                                             asio::redirect_error(asio::use_awaitable, failed));
  if (failed) co_return place + ": " + failed.message();
  co_await asio::async_connect(trying->socket, found, asio::redirect_error(asio::use_awaitable, failed));
  if (failed) co_return place + ": " + failed.message();
  trying->socket.set_option(tcp::no_delay(true), failed);
  trying->clock.cancel();
  trying->socket.non_blocking(true, failed);
  const int socket = trying->socket.release();

  const auto made = std::make_shared<connection>(io_, socket);
  if (!made->start(socket)) co_return place + ": no memory for a connection";
  if (tls != nullptr && !made->secure(*tls, where.name)) co_return place + ": " + made->last_error();
  connection_ = made;
  for (const response& each : co_await ask(greeting(settings), limit)) {
    if (each.kind == response::kind::error) {
      made->close();
      co_return place + ": " + each.text;
    }
    if (each.kind == response::kind::lost) {
      made->close();
      co_return place + ": " + (made->last_error().empty() ? "no answer in time" : made->last_error());
    }
  }
  if (ended_) made->on_end(ended_);
  co_return std::string();
}

std::shared_ptr<link::batch> link::send(const std::vector<command>& commands) {
  auto sent = std::make_shared<batch>(io_, commands.size());
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (connection_) {
      connection_->send(commands[i], sent, i);
    } else {
      sent->answered(i, nullptr);
    }
  }
  return sent;
}

asio::awaitable<std::vector<response>> link::answers(std::shared_ptr<batch> sent, time_point until) {
  const auto asked = connection_;
  if (sent->left > 0) {
    error_code ignored;
    sent->complete.expires_at(until);
    co_await sent->complete.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  if (sent->left > 0 && asked) asked->close();
  co_return std::move(sent->responses);
}

asio::awaitable<std::vector<response>> link::ask(std::vector<command> commands, duration limit) {
  const auto sent = send(commands);
  co_return co_await answers(sent, std::chrono::steady_clock::now() + limit);
}

void link::listen(const std::string& pattern, std::function<void(std::string_view)> hear) {
  if (connection_) connection_->listen(pattern, std::move(hear));
}

}  // namespace switchgear::peers::redis
