// Values that are JSON, and templates of JSON and of text (cascade/template.hpp).
#pragma once

#include "config/schema.hpp"

#include <string>

namespace switchgear::config {

/// A mapping of the document, kept as the text of a JSON object.
kind<std::string> a_json_object();

/// The same with placeholders in its texts; one that is wrong is reported where it stands.
kind<std::string> a_json_template();

/// A text, perhaps of several lines, with placeholders.
kind<std::string> a_text_template();

}  // namespace switchgear::config
