#include "protocol/schema.hpp"

#include "protocol/errc.hpp"
#include "protocol/schema_rules.hpp"

#include <boost/json/parse.hpp>

#include <exception>
#include <utility>

namespace switchgear::protocol {

schema::schema(std::unique_ptr<const rule_set> rules) : rules_(std::move(rules)) {}
schema::~schema() = default;

result<std::shared_ptr<const schema>> schema::compile(std::string_view text, std::string* why) {
  std::string reason;
  auto rules = read_rules(text, reason);
  if (!rules) {
    if (why != nullptr) *why = std::move(reason);
    return rules.error();
  }
  return std::shared_ptr<const schema>(new schema(std::make_unique<const rule_set>(std::move(*rules))));
}

bool schema::accepts(std::string_view json, std::string* why) const {
  std::string reason;
  boost::json::parse_options options;
  options.max_depth = deepest_value;
  boost::system::error_code fault;
  const boost::json::value value = boost::json::parse(json, fault, {}, options);
  bool good = !fault;
  if (fault) {
    reason = "it cannot be read: " + fault.message();
  } else {
    good = fits(*rules_, value, reason);
  }
  if (!good && why != nullptr) *why = std::move(reason);
  return good;
}

}  // namespace switchgear::protocol
