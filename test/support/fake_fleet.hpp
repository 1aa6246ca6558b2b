// A fleet of replicas in one process: what one tells, the others hear on their control threads.
#pragma once

#include "port/fleet.hpp"

#include <boost/asio/post.hpp>

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::test {

class fake_fleet;

/// What the replicas share.
struct fleet_memory {
  std::mutex mutex;
  std::map<std::string, bool, std::less<>> sessions;  // alive, or forgotten
  std::vector<fake_fleet*> members;
  bool away = false;  ///< nobody answers, nothing arrives
  bool slow = false;  ///< notes of living sessions are under way all the time
};

class fake_fleet final : public port::fleet {
 public:
  fake_fleet(fleet_memory& shared, async::worker& control) : shared_(shared), control_(control) {
    shared_.members.push_back(this);
  }

  void on_key(std::function<void(std::string_view)> hear) override { hear(std::string(32, 'k')); }
  void on_forgotten(std::function<void(std::string_view)> hear) override { forgotten_ = std::move(hear); }
  void on_told(std::function<void(std::string_view)> hear) override { told_ = std::move(hear); }

  void keep(std::string_view session, duration) override {
    const std::lock_guard lock(shared_.mutex);
    if (!shared_.away && !shared_.slow) shared_.sessions.emplace(session, true);
  }
  void forget(std::string_view session) override {
    const std::lock_guard lock(shared_.mutex);
    if (shared_.away) return;
    shared_.sessions[std::string(session)] = false;
    for (fake_fleet* other : shared_.members) {
      if (other == this) continue;
      boost::asio::post(other->control_.io, [other, id = std::string(session)] { other->forgotten_(id); });
    }
  }
  boost::asio::awaitable<port::presence> look(async::worker&, std::string session) override {
    const std::lock_guard lock(shared_.mutex);
    const auto found = shared_.sessions.find(session);
    if (shared_.away) co_return port::presence::not_known;
    if (found == shared_.sessions.end()) co_return port::presence::unnoted;
    co_return found->second ? port::presence::alive : port::presence::gone;
  }
  void tell(std::string message) override {
    const std::lock_guard lock(shared_.mutex);
    if (shared_.away) return;
    for (fake_fleet* other : shared_.members) {
      if (other == this) continue;
      boost::asio::post(other->control_.io, [other, message] { other->told_(message); });
    }
  }

 private:
  fleet_memory& shared_;
  async::worker& control_;
  std::function<void(std::string_view)> told_, forgotten_;
};

}  // namespace switchgear::test
