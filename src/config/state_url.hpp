// The value of `state`: `memory`, or the URL of a Redis.
#pragma once

#include "port/shared_state.hpp"

#include <boost/system/result.hpp>

#include <string>
#include <string_view>

namespace switchgear::config {

/// `redis://[[user]:password@]host[:port][/database]`, `rediss://` for TLS, `redis+sentinel://host[:port],.../name`,
/// `redis+cluster://host[:port],...`; the last two also with `rediss+`. Percent escapes count in user and password.
/// The error is a sentence that names what would be right, and never the password.
boost::system::result<port::redis_settings, std::string> parse_redis_url(std::string_view url);

/// The value as it may be shown: a password in it is masked.
std::string shown_state(const std::string& state);

}  // namespace switchgear::config
