#include "app/demo_setup.hpp"

#include "app/demo_story.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>

namespace switchgear::app {

using boost::asio::ip::tcp;

std::string demo_configuration(const demo_places& places) {
  const auto deadline = std::chrono::duration_cast<std::chrono::milliseconds>(demo_deadline).count();
  return "listen: " + places.listen + "\nadmin: " + places.admin +
         "\nthreads: 1\nlog: off\nupstreams:\n  weather: {url: \"" + places.weather_url + "\"}\n  backup: {url: \"" +
         places.backup_url +
         "\"}\n"
         "breaker: {error_rate: 15%, p99: 300ms, window: 10s, minimum_calls: 20, cooldown: 2s, growth: 1,\n"
         "          probe_share: 25%, probes_needed: 5, probe_failures_allowed: 1, probe_timeout: 1s, ramp: 2s}\n"
         "tools:\n"
         "  \"*\": {deadline: " +
         std::to_string(deadline) +
         "ms}\n"
         "  weather__now:\n"
         "    fallback:\n"
         "      - cache: {max_age: 3s}\n"
         "      - tool: {name: backup__forecast, arguments: {city: \"{{city}}\"}}\n"
         "      - static: {text: \"No weather report can be had right now; say so to the user.\"}\n";
}

result<std::uint16_t> free_port(std::uint16_t wanted) {
  boost::asio::io_context io;
  error_code failed;
  for (const std::uint16_t port : {wanted, std::uint16_t{0}}) {
    tcp::acceptor acceptor(io);
    failed = {};
    acceptor.open(tcp::v4(), failed);
    // Reuse, as the gateway does: a port whose last connections linger from an earlier run is free all the same.
    if (!failed) acceptor.set_option(tcp::acceptor::reuse_address(true), failed);
    if (!failed) acceptor.bind(tcp::endpoint(boost::asio::ip::address_v4::loopback(), port), failed);
    if (!failed) acceptor.listen(1, failed);
    if (!failed) return acceptor.local_endpoint(failed).port();
  }
  return failed;
}

}  // namespace switchgear::app
