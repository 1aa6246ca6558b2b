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
        return "the template is not a JSON object, or it is nested too deep";
      case errc::bad_placeholder:
        return "a placeholder is not of the form {{name}}";
      case errc::bad_pointer:
        return "a placeholder is no JSON Pointer; in one, ~ is written ~0, and / within a name ~1";
      case errc::misplaced_placeholder:
        return "a placeholder may stand in the path and the query of a URL, not in its scheme, host or port";
      case errc::bad_arguments:
        return "the call's arguments are not a JSON object";
      case errc::unknown_argument:
        return "the template names an argument that the call does not have";
      case errc::unusable_argument:
        return "an argument is empty, . or .. where a part of a path is needed, or too long";
      case errc::bad_result:
        return "the answer is not a JSON object";
      case errc::unmapped:
        return "the answer does not have what the template takes of it";
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
