// TLS towards one upstream: whom we trust, and the session that a new connection may resume.
#pragma once

#include "base/result.hpp"

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <mutex>
#include <string>

namespace switchgear::upstream {

/// Shared by all workers; thread-safe. Verifies the chain against the system's bundle (or `ca_file`); the host name is
/// checked per connection. SSL_CERT_FILE and SSL_CERT_DIR are honoured as OpenSSL does.
class tls_context {
 public:
  /// `ca_file` empty: the system's bundle. Throws boost::system::system_error if the file cannot be read: start-up.
  explicit tls_context(const std::string& ca_file);
  tls_context(const tls_context&) = delete;
  tls_context& operator=(const tls_context&) = delete;

  boost::asio::ssl::context& context() { return context_; }

  /// Makes `connection` (an SSL*) try to resume the newest session that this upstream gave us.
  void resume(SSL* connection);

 private:
  static int keep_session(SSL* connection, SSL_SESSION* session);

  struct session_free {
    void operator()(SSL_SESSION* session) const { SSL_SESSION_free(session); }
  };

  boost::asio::ssl::context context_;
  std::mutex mutex_;  // a new connection is rare beside a call
  std::unique_ptr<SSL_SESSION, session_free> newest_;
};

}  // namespace switchgear::upstream
