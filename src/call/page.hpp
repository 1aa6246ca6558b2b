// What a plain HTTP endpoint answered, and what that means: the table of outcomes for answers that are no JSON-RPC.
#pragma once

#include "call/classify.hpp"
#include "port/web.hpp"

#include <boost/json/value.hpp>

#include <string>

namespace switchgear::call {

struct page {
  meaning what;          ///< `answered`: there is an answer that can stand in
  bool is_json = false;  ///< then `json` has it; else it is text
  boost::json::value json;
  std::string why;  ///< for people, when it is no answer
};

/// An answer is JSON of any kind or, unless `needs_json`, text of any sort but a web page or a stream: a login page
/// with a good status is no answer.
page read_page(const port::web_reply& got, bool needs_json);

}  // namespace switchgear::call
