// A test's own thread as an event loop: it runs until something holds, or fails at a limit.
#pragma once

#include "base/time.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>

namespace switchgear::test {

inline bool run_until(boost::asio::io_context& io, const std::function<bool()>& holds,
                      duration limit = std::chrono::seconds(5)) {
  const time_point end = std::chrono::steady_clock::now() + limit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    io.restart();
    io.run_one_for(std::chrono::milliseconds(20));
  }
  return true;
}

/// What the coroutine returns.
template <class T>
T run(boost::asio::io_context& io, boost::asio::awaitable<T> task) {
  std::optional<T> made;
  boost::asio::co_spawn(io, std::move(task), [&](std::exception_ptr failed, T value) {
    if (failed) std::rethrow_exception(failed);
    made = std::move(value);
  });
  if (!run_until(io, [&] { return made.has_value(); })) throw std::runtime_error("the coroutine did not end");
  return *std::move(made);
}

}  // namespace switchgear::test
