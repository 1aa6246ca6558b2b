#include "observe/log.hpp"

#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace switchgear::observe {

namespace {

constexpr std::size_t queued_lines = 8192;
constexpr std::size_t longest_value = 300;

spdlog::level::level_enum to_spdlog(level how) {
  switch (how) {
    case level::debug:
      return spdlog::level::debug;
    case level::info:
      return spdlog::level::info;
    case level::warning:
      return spdlog::level::warn;
    case level::error:
      return spdlog::level::err;
    case level::off:
      break;
  }
  return spdlog::level::off;
}

std::shared_ptr<spdlog::logger> logger_on(std::shared_ptr<spdlog::details::thread_pool> thread,
                                          std::shared_ptr<spdlog::sinks::sink> sink, level least) {
  // Made by hand, not through spdlog's registry: two gateways in one process (tests, demo) keep apart.
  auto made = std::make_shared<spdlog::async_logger>("switchgear", std::move(sink), std::move(thread),
                                                     spdlog::async_overflow_policy::overrun_oldest);
  made->set_level(to_spdlog(least));
  made->flush_on(spdlog::level::debug);
  made->set_formatter(
      std::make_unique<spdlog::pattern_formatter>("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc));
  return made;
}

bool is_plain(std::string_view value) {
  return !value.empty() && std::all_of(value.begin(), value.end(), [](unsigned char c) {
    return c > ' ' && c != '"' && c != '\\' && c != '=' && c != 0x7f;
  });
}

void append_quoted(std::string& line, std::string_view value) {
  constexpr char hex[] = "0123456789abcdef";
  line += '"';
  for (unsigned char c : value) {
    if (c == '"' || c == '\\') {
      line += '\\';
      line += static_cast<char>(c);
    } else if (c == '\n') {
      line += "\\n";
    } else if (c < ' ' || c == 0x7f) {
      line += "\\x";
      line += hex[c >> 4];
      line += hex[c & 15];
    } else {
      line += static_cast<char>(c);
    }
  }
  line += '"';
}

/// At most longest_value bytes, not ending inside a UTF-8 character.
std::string_view cut(std::string_view value) {
  if (value.size() <= longest_value) return value;
  std::size_t end = longest_value;
  while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xc0) == 0x80) --end;
  return value.substr(0, end);
}

}  // namespace

std::string event_line(std::string_view name, std::initializer_list<field> fields) {
  std::string line(name);
  for (const field& each : fields) {
    line += ' ';
    line += each.key;
    line += '=';
    const std::string_view value = cut(each.value);
    const bool whole = value.size() == each.value.size();
    if (whole && is_plain(value)) {
      line += value;
    } else {
      append_quoted(line, whole ? std::string(value) : std::string(value) + "...");
    }
  }
  return line;
}

log::log(level least)
    : thread_(std::make_shared<spdlog::details::thread_pool>(queued_lines, 1)),
      logger_(logger_on(thread_, std::make_shared<spdlog::sinks::stderr_sink_mt>(), least)) {}

log::log(level least, const std::string& path)
    : thread_(std::make_shared<spdlog::details::thread_pool>(queued_lines, 1)),
      logger_(logger_on(thread_, std::make_shared<spdlog::sinks::basic_file_sink_mt>(path), least)) {}

log::~log() = default;

void log::event(level how, std::string_view name, std::initializer_list<field> fields) {
  if (!enabled(how)) return;
  logger_->log(to_spdlog(how), spdlog::string_view_t(event_line(name, fields)));
}

bool log::enabled(level how) const {
  return how != level::off && logger_->should_log(to_spdlog(how));
}

std::uint64_t log::dropped() const {
  return thread_->overrun_counter();
}

}  // namespace switchgear::observe
