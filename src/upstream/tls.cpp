#include "upstream/tls.hpp"

namespace switchgear::upstream {

namespace {
// Not the application data of SSL_CTX: that slot is Asio's own.
int own_slot() {
  static const int slot = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return slot;
}
}  // namespace

tls_context::tls_context(const std::string& ca_file) : context_(boost::asio::ssl::context::tls_client) {
  context_.set_options(boost::asio::ssl::context::default_workarounds | boost::asio::ssl::context::no_sslv2 |
                       boost::asio::ssl::context::no_sslv3 | boost::asio::ssl::context::no_tlsv1 |
                       boost::asio::ssl::context::no_tlsv1_1);
  context_.set_verify_mode(boost::asio::ssl::verify_peer);
  if (ca_file.empty()) {
    context_.set_default_verify_paths();
  } else {
    context_.load_verify_file(ca_file);
  }
  SSL_CTX* native = context_.native_handle();
  SSL_CTX_set_ex_data(native, own_slot(), this);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(native, &tls_context::keep_session);
}

int tls_context::keep_session(SSL* connection, SSL_SESSION* session) {
  auto* self = static_cast<tls_context*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(connection), own_slot()));
  const std::lock_guard lock(self->mutex_);
  self->newest_.reset(session);
  return 1;  // the reference is ours now
}

void tls_context::resume(SSL* connection) {
  const std::lock_guard lock(mutex_);
  if (newest_) SSL_set_session(connection, newest_.get());
}

}  // namespace switchgear::upstream
