// What all lists of MCP have in common: pages with one array and a cursor. Private to this folder.
#pragma once

#include "protocol/errc.hpp"
#include "protocol/message.hpp"
#include "protocol/scan.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace switchgear::protocol {

/// Reads a list method's result (not the whole response) and hands each element of its array `member` to `take`, raw,
/// in order. `next_cursor` becomes the raw token of the cursor; empty: this was the last page.
errc read_list_page(std::string_view result, std::string_view member, std::string& next_cursor,
                    const std::function<void(std::string_view element)>& take);

/// The next member's name, unescaped.
bool key_of(scanner& in, std::string& space, std::string_view& key);

/// Where `part` lies in `text`, of which it is a part.
span span_of(std::string_view part, std::string_view text);

/// "`what` 3 (its name) is left out: `why`", for an element that cannot be used.
std::string left_out(std::string_view what, std::size_t position, std::string_view name, std::string_view why);

/// `definition` with the string `token` in it replaced by one that says `name`; all other bytes as they were.
std::string with_name(std::string_view definition, span token, std::string_view name);

}  // namespace switchgear::protocol
