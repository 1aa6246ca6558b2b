#include "base/buffer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace switchgear {

namespace {
// Buffers of more than this count against large_kept_bytes_: a burst of huge answers must not pin its memory for ever.
constexpr std::size_t large = 256 * 1024;
constexpr std::size_t most_large_bytes = 8 * 1024 * 1024;
}  // namespace

buffer::buffer(buffer&& other) noexcept
    : memory_(std::move(other.memory_)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)),
      pool_(std::exchange(other.pool_, nullptr)) {}

buffer& buffer::operator=(buffer&& other) noexcept {
  if (this != &other) {
    give_back();
    memory_ = std::move(other.memory_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    pool_ = std::exchange(other.pool_, nullptr);
  }
  return *this;
}

buffer::~buffer() {
  give_back();
}

void buffer::give_back() noexcept {
  if (!memory_ || pool_ == nullptr) return;
  buffer_pool& pool = *pool_;
  if (capacity_ > pool.largest_kept_ || pool.free_.size() >= pool.most_kept_) return;
  if (capacity_ > large) {
    if (pool.large_kept_bytes_ + capacity_ > most_large_bytes) return;
    pool.large_kept_bytes_ += capacity_;
  }
  pool.free_.push_back({std::move(memory_), capacity_});
}

void buffer::reserve(std::size_t bytes) {
  if (bytes <= capacity_ && memory_) return;
  std::size_t wanted = std::max(bytes, capacity_ * 2);
  std::unique_ptr<char[]> bigger(new char[wanted + padding]);
  if (size_ != 0) std::memcpy(bigger.get(), memory_.get(), size_);
  std::memset(bigger.get() + wanted, 0, padding);
  memory_ = std::move(bigger);
  capacity_ = wanted;
}

void buffer::append(std::string_view bytes) {
  if (bytes.empty()) return;
  reserve(size_ + bytes.size());
  std::memcpy(memory_.get() + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
}

void buffer::drop_front(std::size_t bytes) {
  if (bytes == 0) return;
  std::memmove(memory_.get(), memory_.get() + bytes, size_ - bytes);
  size_ -= bytes;
}

buffer buffer_pool::take() {
  buffer fresh;
  fresh.pool_ = this;
  if (free_.empty()) {
    fresh.reserve(initial_);
    return fresh;
  }
  fresh.memory_ = std::move(free_.back().memory);
  fresh.capacity_ = free_.back().capacity;
  free_.pop_back();
  if (fresh.capacity_ > large) large_kept_bytes_ -= fresh.capacity_;
  return fresh;
}

}  // namespace switchgear
