#include "config/template_values.hpp"

#include "cascade/placeholder.hpp"
#include "cascade/template.hpp"
#include "config/kinds.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <cmath>
#include <optional>
#include <string_view>

namespace switchgear::config {
namespace {

namespace json = boost::json;

bool looks_like_number(std::string_view text) {
  return !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9')) &&
         text.find_first_not_of("0123456789+-.eE") == text.npos;
}

using text_check = error_code (*)(std::string_view);

/// A value of the document as JSON: what stands in quotes is a text, the rest is what JSON would see in it.
std::optional<json::value> to_json(const field& from, text_check check) {
  switch (from.at().what) {
    case node::kind::null:
      return json::value(nullptr);
    case node::kind::scalar: {
      auto text = from.text();
      if (!text) return std::nullopt;
      if (check != nullptr) {
        if (const error_code wrong = check(*text)) {
          from.fail(wrong.message());
          return std::nullopt;
        }
      }
      if (from.at().quoted) return json::value(*text);
      if (*text == "true" || *text == "false") return json::value(*text == "true");
      if (!looks_like_number(*text)) return json::value(*text);
      boost::system::error_code error;
      json::value number = json::parse(*text, error);
      if (error) return json::value(*text);
      if (number.is_double() && !std::isfinite(number.get_double())) {
        from.fail("is a number that is too large; write it in quotes to mean a text");
        return std::nullopt;
      }
      return number;
    }
    case node::kind::list: {
      const auto items = from.items();
      if (!items) return std::nullopt;
      json::array all;
      for (const field& item : *items) {
        auto value = to_json(item, check);
        if (!value) return std::nullopt;
        all.push_back(*std::move(value));
      }
      return json::value(std::move(all));
    }
    case node::kind::map: {
      const auto members = from.members();
      if (!members) return std::nullopt;
      json::object all;
      for (const field::member& member : *members) {
        auto value = to_json(member.value, check);
        if (!value) return std::nullopt;
        all[member.name] = *std::move(value);
      }
      return json::value(std::move(all));
    }
  }
  return std::nullopt;
}

kind<std::string> an_object(text_check check) {
  kind<std::string> made{"mapping", "", {}, {}};
  made.read = [check](const field& from) -> std::optional<std::string> {
    if (from.at().what != node::kind::map) {
      from.fail("a mapping is needed, as in {key: value}");
      return std::nullopt;
    }
    const auto value = to_json(from, check);
    if (!value) return std::nullopt;
    return json::serialize(*value);
  };
  made.write = [](const std::string& text) { return text; };  // JSON is YAML
  return made;
}

}  // namespace

kind<std::string> a_json_object() {
  return an_object(nullptr);
}

kind<std::string> a_json_template() {
  kind<std::string> made = an_object(&cascade::check_placeholders);
  made.read = [read = made.read](const field& from) -> std::optional<std::string> {
    auto text = read(from);
    if (!text) return std::nullopt;
    if (const auto compiled = cascade::json_template::compile(*text); !compiled) {
      from.fail(compiled.error().message());
      return std::nullopt;
    }
    return text;
  };
  return made;
}

kind<std::string> a_text_template() {
  kind<std::string> made = a_long_text();
  made.read = [read = made.read](const field& from) -> std::optional<std::string> {
    auto text = read(from);
    if (!text) return std::nullopt;
    if (const error_code wrong = cascade::check_placeholders(*text)) {
      from.fail(wrong.message());
      return std::nullopt;
    }
    return text;
  };
  return made;
}

}  // namespace switchgear::config
