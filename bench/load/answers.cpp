#include "load/answers.hpp"

#include <array>

namespace switchgear::bench {

namespace {

struct named {
  std::string_view name;
  tool which;
};
constexpr std::array<named, 7> tools{{{"small", tool::small},
                                      {"medium", tool::medium},
                                      {"large", tool::large},
                                      {"huge", tool::huge},
                                      {"stream", tool::stream},
                                      {"flood", tool::flood},
                                      {"broken", tool::broken}}};

std::string text_result(std::size_t size) {
  constexpr std::string_view start = R"(,"result":{"content":[{"type":"text","text":")";
  constexpr std::string_view end = R"("}],"isError":false}})";
  const std::size_t framing = response_start.size() + 1 + start.size() + end.size();
  return std::string(start) + std::string(size - framing, 'x') + std::string(end);
}

std::string_view value_after(std::string_view text, std::string_view key, std::string_view ends) {
  const std::size_t found = text.find(key);
  if (found == std::string_view::npos) return {};
  text.remove_prefix(found + key.size());
  return text.substr(0, text.find_first_of(ends));
}

}  // namespace

tool tool_named(std::string_view name) {
  for (const named& entry : tools) {
    if (entry.name == name) return entry.which;
  }
  return tool::none;
}

std::string call_request(std::string_view name, unsigned id) {
  const std::string number = std::to_string(id);
  return R"({"jsonrpc":"2.0","id":)" + number + R"(,"method":"tools/call","params":{"name":")" + std::string(name) +
         R"(","_meta":{"progressToken":)" + number +
         R"(},"arguments":{"query":"the weather in the mountains tomorrow afternoon, in metric units",)"
         R"("limit":10,"language":"en","filters":["recent","reliable"],"page":1,"safe":true}}})";
}

std::string initialize_request() {
  return R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
         R"("capabilities":{},"clientInfo":{"name":"bench_load","version":"1"}}})";
}

request_view look_at(std::string_view body) {
  return {value_after(body, R"("method":")", "\""), value_after(body, R"("id":)", ",}"),
          value_after(body, R"("name":")", "\""), value_after(body, R"("progressToken":)", ",}")};
}

std::string_view call_end(tool which) {
  static const std::string small = text_result(small_size);
  static const std::string medium = text_result(medium_size);
  static const std::string large = text_result(large_size);
  static const std::string huge = text_result(huge_size);
  switch (which) {
    case tool::medium:
      return medium;
    case tool::large:
      return large;
    case tool::huge:
      return huge;
    default:
      return small;
  }
}

std::string_view initialize_end() {
  return R"(,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
         R"("serverInfo":{"name":"bench","version":"1"}}})";
}

std::string_view tools_list_end() {
  static const std::string text = [] {
    std::string list;
    for (const named& entry : tools) {
      list += list.empty() ? "" : ",";
      list += R"({"name":")" + std::string(entry.name) + R"(","inputSchema":{"type":"object"}})";
    }
    return R"(,"result":{"tools":[)" + list + "]}}";
  }();
  return text;
}

std::string progress_event(std::string_view token, int step) {
  return R"(data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + std::string(token) +
         R"(,"progress":)" + std::to_string(step) + R"(,"total":1000}})" + "\n\n";
}

}  // namespace switchgear::bench
