#include "listen/errc.hpp"

#include <string>

namespace switchgear::listen {

namespace {
struct category final : boost::system::error_category {
  const char* name() const noexcept override { return "listen"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::bad_address:
        return "not an address of this machine";
      case errc::address_in_use:
        return "address already in use";
      case errc::cannot_listen:
        return "cannot listen";
      case errc::closed:
        return "closed by the client";
      case errc::timed_out:
        return "the client was too slow";
      case errc::too_large:
        return "body over the limit";
    }
    return "unknown";
  }
};
}  // namespace

error_code make_error_code(errc reason) {
  static const category instance;
  return {static_cast<int>(reason), instance};
}

}  // namespace switchgear::listen
