#include "protocol/errc.hpp"

#include <string>

namespace switchgear::protocol {

namespace {

const char* sentence(errc reason) {
  switch (reason) {
    case errc::not_json:
      return "not one complete JSON value";
    case errc::not_object:
      return "not a JSON object";
    case errc::batch:
      return "batches are not served";
    case errc::bad_version:
      return "jsonrpc must be \"2.0\"";
    case errc::bad_id:
      return "id must be a string or an integer";
    case errc::bad_method:
      return "method must be a string";
    case errc::bad_params:
      return "params must be an object";
    case errc::no_kind:
      return "one of method, result and error is needed";
    case errc::mixed_kinds:
      return "only one of method, result and error may be there";
    case errc::missing_id:
      return "a response needs an id";
    case errc::bad_error:
      return "error must be an object with an integer code";
    case errc::duplicate_member:
      return "a member is there twice";
    case errc::too_deep:
      return "nested too deep";
    case errc::too_large:
      return "too large";
    case errc::bad_list:
      return "not the list that was asked for";
    case errc::bad_schema:
      return "not a usable JSON Schema";
    case errc::bad_state:
      return "requestState is not one that was given for this request";
    case errc::bad_template:
      return "not a usable URI template";
    case errc::expired:
      return "requestState has expired";
  }
  return "unknown";
}

class protocol_category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "switchgear.protocol"; }
  std::string message(int value) const override { return sentence(static_cast<errc>(value)); }
};

}  // namespace

const boost::system::error_category& category() noexcept {
  static const protocol_category only;
  return only;
}

}  // namespace switchgear::protocol
