// Steps after which the engine gives up: some milliseconds. Its own default is a hundred times that.
#define BOOST_REGEX_MAX_STATE_COUNT 1000000

#include "protocol/pattern.hpp"

#include <boost/regex.hpp>

#include <exception>
#include <utility>

namespace switchgear::protocol {

struct pattern::engine {
  boost::regex expression;
};

std::optional<pattern> pattern::compile(const std::string& expression) {
  constexpr std::size_t longest = 4096;
  if (expression.size() > longest) return std::nullopt;
  try {
    pattern made;
    made.engine_ = std::make_shared<const engine>(engine{boost::regex(expression, boost::regex::ECMAScript)});
    return made;
  } catch (const std::exception&) {  // boost::regex_error, or out of its limits
    return std::nullopt;
  }
}

pattern::outcome pattern::search(std::string_view text) const {
  constexpr std::size_t longest = std::size_t{256} * 1024;
  if (text.size() > longest) return outcome::too_hard;
  try {
    const bool found = boost::regex_search(text.data(), text.data() + text.size(), engine_->expression);
    return found ? outcome::found : outcome::absent;
  } catch (const std::exception&) {  // too many steps
    return outcome::too_hard;
  }
}

}  // namespace switchgear::protocol
