#include "peers/redis/tls.hpp"

#include "base/result.hpp"

#include <exception>

namespace switchgear::peers::redis {

namespace ssl = boost::asio::ssl;

namespace {

std::string read_files(ssl::context& into, const port::redis_settings& settings) {
  error_code failed;
  const auto refused = [&](const std::string& file) { return file + ": " + failed.message(); };
  if (settings.ca.empty()) {
    into.set_default_verify_paths(failed);
    if (failed) return refused("the system's certificates");
  } else {
    into.load_verify_file(settings.ca, failed);
    if (failed) return refused(settings.ca);
  }
  if (settings.cert.empty()) return std::string();
  into.use_certificate_chain_file(settings.cert, failed);
  if (failed) return refused(settings.cert);
  const std::string& key = settings.key.empty() ? settings.cert : settings.key;
  into.use_private_key_file(key, ssl::context::pem, failed);
  if (failed) return refused(key);
  return std::string();
}

}  // namespace

std::shared_ptr<ssl::context> make_tls(const port::redis_settings& settings, std::string& why) {
  try {
    auto made = std::make_shared<ssl::context>(ssl::context::tls_client);
    made->set_options(ssl::context::default_workarounds | ssl::context::no_sslv3 | ssl::context::no_tlsv1 |
                      ssl::context::no_tlsv1_1);
    made->set_verify_mode(ssl::verify_peer);
    why = read_files(*made, settings);
    return why.empty() ? made : nullptr;
  } catch (const std::exception& no_context) {
    why = no_context.what();
    return nullptr;
  }
}

}  // namespace switchgear::peers::redis
