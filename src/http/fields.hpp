// Any field of a head, for those who want one that the gateway as a whole does not know.
#pragma once

#include "base/result.hpp"

#include <optional>
#include <string_view>

namespace switchgear::http {

/// The value of a field, without the blanks around it; the name in any case. Nothing if it is absent, or there twice:
/// its readers could disagree on which one counts. `head` is a whole head that read_request_head or
/// read_response_head has accepted.
std::optional<std::string_view> field(std::string_view head, std::string_view name);

/// The same for a field whose repetition is a fault: no data() when it is absent. Errors: errc::duplicate_field.
result<std::string_view> single_field(std::string_view head, std::string_view name);

}  // namespace switchgear::http
