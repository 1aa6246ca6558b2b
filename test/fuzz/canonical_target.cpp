#include "protocol/canonical.hpp"
#include "targets.hpp"

#include <boost/json/parse.hpp>

namespace switchgear::fuzz {

void canonical(std::string_view input) {
  const auto form = protocol::canonical(input);
  if (!form) return;
  const auto again = protocol::canonical(*form);
  must(again && *again == *form, "a canonical form is its own");

  boost::json::parse_options options;
  options.max_depth = 200;
  boost::system::error_code fault, form_fault;
  const boost::json::value value = boost::json::parse(input, fault, {}, options);
  // 0e99999999 is zero to us, who keep the text, and no number to Boost.JSON, which multiplies.
  if (fault || input.find_first_of("eE") != std::string_view::npos) return;
  const boost::json::value form_value = boost::json::parse(*form, form_fault, {}, options);
  must(!form_fault && form_value == value, "the form means the same");
}

}  // namespace switchgear::fuzz
