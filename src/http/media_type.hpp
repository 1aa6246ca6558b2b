// Small texts inside HTTP fields: media types, Accept, tokens. Source: RFC 9110 sections 5.6, 8.3, 12.5.1.
#pragma once

#include <string_view>

namespace switchgear::http {

/// Equal but for the case of ASCII letters.
bool same_text(std::string_view left, std::string_view right);

/// `list` is comma-separated tokens; true if one of them is `token`.
bool has_token(std::string_view list, std::string_view token);

/// True if `content_type` names `essence` ("type/subtype", lower case), whatever parameters follow.
bool is_media_type(std::string_view content_type, std::string_view essence);

/// True if an Accept value covers `essence`: itself, type/* or */*, with a weight above 0.
bool accept_covers(std::string_view accept, std::string_view essence);

}  // namespace switchgear::http
