// An mcp.json as desktop clients write it.
#include "config/mcp_json.hpp"

#include "config/upstream_keys.hpp"
#include "reading.hpp"

#include <gtest/gtest.h>

namespace switchgear::config {
namespace {

using test::joined;
using test::lines;
using test::read;
using list = std::vector<std::string>;

TEST(an_mcp_json, gives_stdio_and_http_upstreams_in_its_order) {
  const reading made = read(R"({
	"mcpServers": {
		"files": {"command": "npx", "args": ["-y", "server-filesystem", "/data"], "env": {"LOG": "1"}, "cwd": "/tmp"},
		"search": {"type": "http", "url": "https://h.example/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}
	}
})",
                            {{"TOKEN", "secret"}});
  ASSERT_TRUE(made.gateway) << joined(lines(made.errors));
  EXPECT_EQ(joined(lines(made.warnings)), "");
  ASSERT_EQ(made.gateway->upstreams.size(), 2u);
  const auto& files = made.gateway->upstreams[0].link;
  EXPECT_EQ(files.alias, "files");
  EXPECT_TRUE(files.is_stdio);
  EXPECT_EQ(files.stdio.command, (list{"npx", "-y", "server-filesystem", "/data"}));
  EXPECT_EQ(files.stdio.environment.at("LOG"), "1");
  EXPECT_EQ(files.stdio.directory, "/tmp");
  const auto& search = made.gateway->upstreams[1].link;
  EXPECT_FALSE(search.is_stdio);
  EXPECT_EQ(search.http.url, "https://h.example/mcp");
  EXPECT_EQ(search.http.headers[0].second, "Bearer secret");
}

TEST(an_mcp_json, may_name_the_url_as_any_client_does) {
  for (const char* entry :
       {R"("url": "http://h/")", R"("serverUrl": "http://h/")", R"("httpUrl": "http://h/")",
        R"("type": "streamable-http", "url": "http://h/")", R"("transport": "http", "url": "http://h/")",
        R"("type": "streamableHttp", "url": "http://h/")"}) {
    const reading made = read("{\"mcpServers\": {\"s\": {" + std::string(entry) + "}}}");
    ASSERT_TRUE(made.gateway) << entry << joined(lines(made.errors));
    EXPECT_EQ(made.gateway->upstreams[0].link.http.url, "http://h/");
  }
}

TEST(an_mcp_json, leaves_out_what_is_disabled_there) {
  const reading made = read(
      R"({"mcpServers": {"a": {"command": "x", "disabled": true}, "b": {"command": "y", "disabled": false}, "c": {"type": "sse", "url": "http://h", "enabled": false}}})");
  ASSERT_TRUE(made.gateway) << joined(lines(made.errors));
  ASSERT_EQ(made.gateway->upstreams.size(), 1u);
  EXPECT_EQ(made.gateway->upstreams[0].link.alias, "b");
}

TEST(an_mcp_json, may_hold_what_only_a_client_has_use_for) {
  const reading made = read(
      R"({"inputs": [], "mcpServers": {"a": {"command": "x", "autoApprove": ["t"], "timeout": 60, "alwaysAllow": [], "foo": 1}}})");
  ASSERT_TRUE(made.gateway) << joined(lines(made.errors));
  EXPECT_EQ(made.warnings.size(), 5u) << joined(lines(made.warnings));
}

TEST(an_mcp_json, with_a_transport_that_is_not_spoken_is_an_error) {
  const auto said = [](const std::string& entry) {
    return joined(lines(read("{\"mcpServers\": {\"s\": {" + entry + "}}}").errors));
  };
  EXPECT_NE(said(R"("type": "sse", "url": "http://h/sse")")
                .find("mcpServers.s.type: the HTTP+SSE transport of 2024 is not supported"),
            std::string::npos);
  EXPECT_NE(said(R"("type": "websocket", "url": "http://h/")").find("is not known; write http or stdio"),
            std::string::npos);
  EXPECT_NE(said(R"("type": "stdio", "url": "http://h/")").find("does not go with a URL"), std::string::npos);
  EXPECT_NE(said(R"("type": "http", "command": "x")").find("does not go with a command"), std::string::npos);
  EXPECT_NE(said(R"("url": "http://h/", "serverUrl": "http://i/")").find("stands beside `url`"), std::string::npos);
  EXPECT_NE(said(R"("args": ["x"])").find("has neither `url` nor `command`"), std::string::npos);
  EXPECT_NE(said(R"("command": ["x"])").find("a single value is needed"), std::string::npos);
  EXPECT_NE(said(R"("url": "http://h/", "headers": {"A": "x\r\ny"})").find("line end"), std::string::npos);
}

TEST(an_mcp_json, is_refused_with_a_place_when_it_is_no_json) {
  for (const char* wrong :
       {"{\"mcpServers\": {\"a\": {\"command\": \"x\"}", "{\"mcpServers\": []}", "{\"mcpServers\": {\"a\": 5}}"}) {
    const reading made = read(wrong);
    ASSERT_FALSE(made.errors.empty()) << wrong;
    EXPECT_GT(made.errors[0].line, 0) << wrong;
  }
}

TEST(an_alias_for_any_name, is_valid_and_readable) {
  EXPECT_EQ(alias_for("GitHub"), "github");
  EXPECT_EQ(alias_for("My Server (prod)"), "my-server-prod");
  EXPECT_EQ(alias_for("io.github.user/weather"), "io-github-user-weather");
  EXPECT_EQ(alias_for("7zip"), "server-7zip");
  EXPECT_EQ(alias_for("\xE5\xA4\xA9\xE6\xB0\x97"), "server");
  EXPECT_EQ(alias_for(""), "server");
  EXPECT_EQ(alias_for("a__b_"), "a_b");
  for (const char* name :
       {"GitHub", "", "---", "___", "9", "A very long name that goes on and on and on", "a__b", "\x01"}) {
    EXPECT_EQ(alias_fault(alias_for(name)), "") << name;
  }
}

TEST(aliases_that_would_be_equal, get_numbers_and_a_valid_name_keeps_itself) {
  const reading made = read(
      R"({"mcpServers": {"My Server": {"command": "a"}, "my.server": {"command": "b"}, "my-server": {"command": "c"}}})");
  ASSERT_TRUE(made.gateway);
  ASSERT_EQ(made.gateway->upstreams.size(), 3u);
  EXPECT_EQ(made.gateway->upstreams[0].link.alias, "my-server-2");
  EXPECT_EQ(made.gateway->upstreams[1].link.alias, "my-server-3");
  EXPECT_EQ(made.gateway->upstreams[2].link.alias, "my-server");
  EXPECT_NE(joined(lines(made.warnings)).find("is named `my-server-2` here"), std::string::npos);
}

}  // namespace
}  // namespace switchgear::config
