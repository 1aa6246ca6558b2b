#include "load/load.hpp"

#include "load/answers.hpp"
#include "load/process.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <utility>

namespace switchgear::bench {

namespace asio = boost::asio;
using clock = std::chrono::steady_clock;

namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

clock::duration seconds(double count) {
  return std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(count));
}

// What all connections of one run share.
struct run_state {
  run_state(asio::io_context& io, order o) : what(std::move(o)), all_done(io, clock::time_point::max()) {}

  order what;
  target to;
  clock::time_point begin, end;  // of what is measured
  figures counted;
  std::vector<float> latencies_us;
  unsigned running = 0;
  asio::steady_timer all_done;  // never expires: cancelled by the connection that ends last

  void note(const client::response& got, clock::time_point due) {
    const clock::time_point now = clock::now();
    if (now < begin || now >= end) return;
    ++(got.ok ? counted.calls : counted.failed);
    counted.is_error += got.is_error;
    latencies_us.push_back(std::chrono::duration<float, std::micro>(now - due).count());
  }
};

asio::awaitable<void> call_again_and_again(std::shared_ptr<run_state> run, unsigned number) {
  client connection(co_await client::connect(run->to.port));
  const std::string request = http_request(run->to, call_request(run->what.tool, number + 1));
  while (clock::now() < run->end) {
    const clock::time_point sent = clock::now();
    const auto got = co_await connection.exchange(request);
    run->note(got, sent);
    if (got.status == 0) co_return;
  }
}

asio::awaitable<void> call_when_due(std::shared_ptr<run_state> run, unsigned number) {
  client connection(co_await client::connect(run->to.port));
  const std::string request = http_request(run->to, call_request(run->what.tool, number + 1));
  asio::steady_timer timer(co_await asio::this_coro::executor);
  const auto gap = seconds(run->what.connections / run->what.rate);
  clock::time_point due = run->begin - seconds(run->what.warm_up) + seconds(number / run->what.rate);
  for (; due < run->end; due += gap) {
    timer.expires_at(due);
    co_await timer.async_wait(as_result);
    const auto got = co_await connection.exchange(request);
    run->note(got, due);
    if (got.status == 0) co_return;
  }
}

template <class Connection>
asio::awaitable<figures> measure(asio::io_context& io, order what, Connection connection) {
  auto run = std::make_shared<run_state>(io, std::move(what));
  run->to.port = run->what.port;
  co_await open_session(run->to);
  run->begin = clock::now() + seconds(run->what.warm_up);
  run->end = run->begin + seconds(run->what.seconds);
  run->latencies_us.reserve(1 << 20);
  run->running = run->what.connections;
  for (unsigned number = 0; number < run->what.connections; ++number) {
    asio::co_spawn(io, connection(run, number), [run](std::exception_ptr error) {
      if (error) std::rethrow_exception(error);
      if (--run->running == 0) run->all_done.cancel();
    });
  }
  const int pid = run->what.cpu_of;
  asio::steady_timer timer(io, run->begin);
  co_await timer.async_wait(as_result);
  const std::uint64_t cpu_before = pid != 0 ? cpu_ns(pid) : 0;
  timer.expires_at(run->end);
  co_await timer.async_wait(as_result);
  const std::uint64_t cpu = pid != 0 ? cpu_ns(pid) - cpu_before : 0;
  if (run->running != 0) co_await run->all_done.async_wait(as_result);

  figures out = run->counted;
  out.seconds = run->what.seconds;
  const std::uint64_t answered = out.calls + out.failed;
  if (answered != 0) out.cpu_us_per_call = static_cast<double>(cpu) / 1000 / static_cast<double>(answered);
  auto& sorted = run->latencies_us;
  std::ranges::sort(sorted);
  const auto at = [&](double share) {
    return sorted.empty() ? 0 : sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  };
  out.p50_us = at(0.5);
  out.p90_us = at(0.9);
  out.p99_us = at(0.99);
  out.max_us = at(1);
  co_return out;
}

asio::awaitable<bool> connect_and_call(const target& to, const std::string& request,
                                       std::vector<std::unique_ptr<client>>& kept) {
  kept.push_back(std::make_unique<client>(co_await client::connect(to.port)));
  co_return (co_await kept.back()->exchange(request)).ok;
}

}  // namespace

std::string figures::json() const {
  char text[512];
  std::snprintf(text, sizeof text,
                R"({"calls":%llu,"is_error":%llu,"failed":%llu,"seconds":%.3f,"cpu_us_per_call":%.3f,"p50_us":%.1f,)"
                R"("p90_us":%.1f,"p99_us":%.1f,"max_us":%.1f,"connected":%llu,"bytes_per_connection":%.0f})",
                static_cast<unsigned long long>(calls), static_cast<unsigned long long>(is_error),
                static_cast<unsigned long long>(failed), seconds, cpu_us_per_call, p50_us, p90_us, p99_us, max_us,
                static_cast<unsigned long long>(connected), bytes_per_connection);
  return text;
}

asio::awaitable<figures> closed_loop(asio::io_context& io, order what) {
  return measure(io, std::move(what), call_again_and_again);
}

asio::awaitable<figures> open_loop(asio::io_context& io, order what) {
  return measure(io, std::move(what), call_when_due);
}

asio::awaitable<figures> idle_connections(asio::io_context& io, order what) {
  target to{what.port, {}};
  co_await open_session(to);
  const std::string request = http_request(to, call_request(what.tool, 1));
  std::vector<std::unique_ptr<client>> kept;
  figures out;
  // What the first calls make the process load or grow once is not memory of a connection.
  for (int warm = 0; warm < 100; ++warm) {
    if (!co_await connect_and_call(to, request, kept)) ++out.failed;
  }
  const std::uint64_t before = resident_bytes(what.cpu_of);
  for (unsigned number = 0; number < what.connections; ++number) {
    if (!co_await connect_and_call(to, request, kept)) ++out.failed;
  }
  asio::steady_timer settled(io, seconds(1));
  co_await settled.async_wait(as_result);
  const std::uint64_t after = resident_bytes(what.cpu_of);
  out.connected = what.connections;
  out.calls = what.connections;
  out.bytes_per_connection = (static_cast<double>(after) - static_cast<double>(before)) / what.connections;
  co_return out;
}

}  // namespace switchgear::bench
