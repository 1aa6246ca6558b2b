// How much of a limit each principal holds.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace switchgear::call {

/// Any thread. Knows those alone who hold something now, so its size is bounded by that of the limit.
class principal_shares {
  struct hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>()(text); }
  };
  using table = std::unordered_map<std::string, unsigned, hash, std::equal_to<>>;

 public:
  /// One call's part. Goes back by itself. Move-only.
  class part {
   public:
    part() = default;
    part(part&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)), who_(other.who_) {}
    part& operator=(part&& other) noexcept {
      if (this != &other) {
        give_back();
        owner_ = std::exchange(other.owner_, nullptr);
        who_ = other.who_;
      }
      return *this;
    }
    ~part() { give_back(); }

   private:
    friend class principal_shares;
    part(principal_shares& owner, table::value_type& who) : owner_(&owner), who_(&who) {}
    void give_back() noexcept {
      if (owner_ != nullptr) std::exchange(owner_, nullptr)->release(*who_);
    }

    principal_shares* owner_ = nullptr;
    table::value_type* who_ = nullptr;  // a node of the table, which stays where it is
  };

  /// True, and one more part is held; false when `principal` holds `most` of them.
  bool take(std::string_view principal, unsigned most, part& into) {
    const std::lock_guard lock(guard_);
    auto found = held_.find(principal);
    if (found == held_.end()) found = held_.emplace(principal, 0).first;
    if (found->second >= most) return false;
    ++found->second;
    into = part(*this, *found);
    return true;
  }

 private:
  void release(table::value_type& who) noexcept {
    const std::lock_guard lock(guard_);
    if (--who.second == 0) held_.erase(held_.find(who.first));
  }

  std::mutex guard_;
  table held_;
};

}  // namespace switchgear::call
