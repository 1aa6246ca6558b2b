#include "http/errc.hpp"

#include <string>

namespace switchgear::http {

namespace {
struct category final : boost::system::error_category {
  const char* name() const noexcept override { return "http"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::malformed_head:
        return "malformed HTTP head";
      case errc::head_too_large:
        return "HTTP head too large";
      case errc::duplicate_field:
        return "HTTP field repeated";
      case errc::bad_framing:
        return "bad Content-Length or Transfer-Encoding";
      case errc::bad_chunk:
        return "bad chunk";
      case errc::unsupported_version:
        return "unsupported HTTP version";
      case errc::bad_encoding:
        return "a body that is not compressed as its head says";
      case errc::too_much:
        return "a compressed body above the limit";
    }
    return "unknown";
  }
};
}  // namespace

error_code make_error_code(errc reason) {
  static const category instance;
  return {static_cast<int>(reason), instance};
}

}  // namespace switchgear::http
