#include "app/demo_summary.hpp"

#include <chrono>
#include <cstdio>

namespace switchgear::app {

std::string length_text(duration length) {
  const double ms = std::chrono::duration<double, std::milli>(length).count();
  char text[32];
  if (ms < 1000) {
    std::snprintf(text, sizeof text, "%.0f ms", ms);
  } else {
    std::snprintf(text, sizeof text, "%.1f s", ms / 1000);
  }
  return text;
}

std::string demo_summary(const demo_story& story) {
  constexpr const char* heading =
      "phase        calls  primary  cache   tool  static  errors  no answer   slowest   opened after   closed after\n";
  std::string text = heading;
  const auto count = [](const phase_result& in, const char* who) -> unsigned long long {
    const auto found = in.answered_by.find(who);
    return found == in.answered_by.end() ? 0 : found->second;
  };
  const auto maybe = [](const std::optional<duration>& of) { return of ? length_text(*of) : std::string("-"); };
  for (std::size_t i = 0; i < demo_phases().size(); ++i) {
    const phase& act = demo_phases()[i];
    const phase_result& seen = story.phases()[i];
    const bool recovers = i > 0 && demo_phases()[i - 1].sick();
    char row[256];
    std::snprintf(row, sizeof row, "%-11.*s %6llu %8llu %6llu %6llu %7llu %7llu %10llu %9s %14s %14s\n",
                  static_cast<int>(act.title.size()), act.title.data(), static_cast<unsigned long long>(seen.calls),
                  count(seen, "primary"), count(seen, "cache"), count(seen, "tool"), count(seen, "static"),
                  static_cast<unsigned long long>(seen.errors), static_cast<unsigned long long>(seen.unanswered),
                  length_text(seen.slowest).c_str(), act.sick() ? maybe(seen.tripped).c_str() : "",
                  recovers ? maybe(seen.recovered).c_str() : "");
    text += row;
  }
  return text;
}

std::string demo_paste(std::uint16_t mcp_port, std::uint16_t admin_port) {
  const std::string mcp = "http://127.0.0.1:" + std::to_string(mcp_port) + "/mcp";
  const std::string admin = "http://127.0.0.1:" + std::to_string(admin_port);
  std::string text = "The gateway stays up at " + mcp + ", its console at " + admin + "/ (Ctrl-C ends it).\n";
  text += "\nClaude Code\n  claude mcp add --transport http switchgear " + mcp + "\n";
  text +=
      "\nLangGraph (pip install langchain-mcp-adapters)\n"
      "  from langchain_mcp_adapters.client import MultiServerMCPClient\n"
      "  client = MultiServerMCPClient({\"switchgear\": {\"transport\": \"streamable_http\", \"url\": \"" +
      mcp + "\"}})\n  tools = await client.get_tools()\n";
  const std::string post =
      "curl -s " + mcp + " -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream'";
  text +=
      "\ncurl\n  S=$(" + post +
      " -o /dev/null -D - \\\n"
      "    -d '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\","
      "\"capabilities\":{},\"clientInfo\":{\"name\":\"curl\",\"version\":\"1\"}}}' \\\n"
      "    | tr -d '\\r' | sed -n 's/^mcp-session-id: //Ip')\n  " +
      post +
      " -H \"Mcp-Session-Id: $S\" \\\n"
      "    -d '{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"weather__now\","
      "\"arguments\":{\"city\":\"Oslo\"}}}'\n";
  text += "  curl -s " + admin + "/api/circuits\n";
  return text;
}

}  // namespace switchgear::app
