#include "upstream/errc.hpp"

#include <string>

namespace switchgear::upstream {

namespace {
struct category final : boost::system::error_category {
  const char* name() const noexcept override { return "upstream"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::bad_url:
        return "not an http or https URL";
      case errc::resolve_failed:
        return "the host name has no address";
      case errc::connect_failed:
        return "cannot connect";
      case errc::connect_timed_out:
        return "no connection in time";
      case errc::tls_failed:
        return "TLS handshake failed";
      case errc::interrupted:
        return "interrupted";
      case errc::end_of_stream:
        return "connection closed by the upstream";
      case errc::broken:
        return "connection broken";
      case errc::bad_head:
        return "not an HTTP response";
      case errc::too_large:
        return "answer too large";
    }
    return "unknown";
  }
};
}  // namespace

error_code make_error_code(errc reason) {
  static const category instance;
  return {static_cast<int>(reason), instance};
}

}  // namespace switchgear::upstream
