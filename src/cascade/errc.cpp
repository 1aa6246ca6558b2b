#include "cascade/errc.hpp"

#include <string>

namespace switchgear::cascade {
namespace {

class category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "cascade"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::bad_template:
        return "the arguments template is not a JSON object, or it is nested too deep";
      case errc::bad_placeholder:
        return "a placeholder of the arguments template is not of the form {{name}}";
      case errc::bad_arguments:
        return "the call's arguments are not a JSON object";
      case errc::unknown_argument:
        return "the arguments template names an argument that the call does not have";
      case errc::bad_result:
        return "the answer is not a JSON object";
    }
    return "unknown";
  }
};

}  // namespace

boost::system::error_code make_error_code(errc reason) {
  static const category instance;
  return {static_cast<int>(reason), instance};
}

}  // namespace switchgear::cascade
