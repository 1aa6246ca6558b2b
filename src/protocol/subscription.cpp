#include "protocol/subscription.hpp"

#include "protocol/text.hpp"

#include <boost/json.hpp>

namespace switchgear::protocol {

namespace {

constexpr std::string_view open_tag = R"("_meta":{"io.modelcontextprotocol/subscriptionId":)";

bool says_true(const boost::json::object& members, std::string_view name) {
  const boost::json::value* found = members.if_contains(name);
  return found != nullptr && found->is_bool() && found->get_bool();
}

std::string opening(std::string_view method) {
  return std::string(R"({"jsonrpc":"2.0","method":"notifications/)").append(method).append("\"");
}

}  // namespace

subscription_filter read_filter(std::string_view notifications) {
  subscription_filter made;
  boost::json::error_code error;
  const boost::json::value value = boost::json::parse(notifications, error);
  const boost::json::object* members = error ? nullptr : value.if_object();
  if (members == nullptr) return made;
  made.lists.tools = says_true(*members, "toolsListChanged");
  made.lists.prompts = says_true(*members, "promptsListChanged");
  made.lists.resources = says_true(*members, "resourcesListChanged");
  const boost::json::value* listed = members->if_contains("resourceSubscriptions");
  if (listed == nullptr || !listed->is_array()) return made;
  for (const boost::json::value& one : listed->get_array()) {
    if (made.uris.size() == most_watched) break;
    if (one.is_string()) made.uris.emplace_back(one.get_string());
  }
  return made;
}

std::string write_acknowledgement(std::string_view id, const subscription_filter& honoured) {
  std::string out = opening("subscriptions/acknowledged");
  out.append(R"(,"params":{)").append(open_tag).append(id).append(R"(},"notifications":{)");
  const std::size_t empty = out.size();
  if (honoured.lists.tools) out += R"("toolsListChanged":true,)";
  if (honoured.lists.prompts) out += R"("promptsListChanged":true,)";
  if (honoured.lists.resources) out += R"("resourcesListChanged":true,)";
  if (!honoured.uris.empty()) {
    out += R"("resourceSubscriptions":[)";
    for (const std::string& uri : honoured.uris) {
      append_quoted(out, uri);
      out += ',';
    }
    out.back() = ']';
    out += ',';
  }
  if (out.size() != empty) out.pop_back();
  return out.append("}}}");
}

std::string write_list_changed(std::string_view kind, std::string_view subscription) {
  std::string out = opening(std::string(kind).append("/list_changed"));
  if (!subscription.empty()) out.append(R"(,"params":{)").append(open_tag).append(subscription).append("}}");
  return out.append("}");
}

std::string write_resource_updated(std::string_view uri, std::string_view subscription) {
  std::string out = opening("resources/updated").append(R"(,"params":{)");
  if (!subscription.empty()) out.append(open_tag).append(subscription).append("},");
  out += R"("uri":)";
  append_quoted(out, uri);
  return out.append("}}");
}

}  // namespace switchgear::protocol
