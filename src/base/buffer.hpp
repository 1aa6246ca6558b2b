// Memory for one message, borrowed from a pool of its thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace switchgear {

class buffer_pool;

/// A growing run of bytes that a JSON parser may read a little past the end of: `padding` bytes after size() are
/// always allocated. Move-only; an empty one owns nothing. Not thread-safe. When it was taken from a pool,
/// destruction gives the memory back, so it must be destroyed on the pool's thread and before the pool.
class buffer {
 public:
  static constexpr std::size_t padding = 64;  // what simdjson may read past the end

  buffer() = default;
  buffer(buffer&& other) noexcept;
  buffer& operator=(buffer&& other) noexcept;
  ~buffer();

  char* data() { return memory_.get(); }
  const char* data() const { return memory_.get(); }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }  // bytes that size() may reach without moving the data
  bool empty() const { return size_ == 0; }
  std::string_view view() const { return {memory_.get(), size_}; }

  /// Makes room for `bytes` in all. Views into the buffer are void afterwards if it had to grow.
  void reserve(std::size_t bytes);
  /// Says that the first `bytes` hold data. `bytes` must not exceed capacity().
  void resize(std::size_t bytes) { size_ = bytes; }
  void append(std::string_view bytes);
  /// Removes the first `bytes`, moving the rest to the front.
  void drop_front(std::size_t bytes);
  void clear() { size_ = 0; }

 private:
  friend class buffer_pool;
  void give_back() noexcept;

  std::unique_ptr<char[]> memory_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  buffer_pool* pool_ = nullptr;
};

/// Keeps the buffers of one thread for reuse, so that an idle connection holds none and a busy one allocates none.
/// Not thread-safe. Buffers that grew beyond `largest_kept` are freed instead of kept, and no more than `most_kept`
/// stay.
class buffer_pool {
 public:
  explicit buffer_pool(std::size_t initial = 4 * 1024, std::size_t most_kept = 256,
                       std::size_t largest_kept = 2 * 1024 * 1024)
      : initial_(initial), most_kept_(most_kept), largest_kept_(largest_kept) {}

  buffer take();

 private:
  friend class buffer;
  struct block {
    std::unique_ptr<char[]> memory;
    std::size_t capacity;
  };
  std::size_t initial_;
  std::size_t most_kept_;
  std::size_t largest_kept_;
  std::size_t large_kept_bytes_ = 0;
  std::vector<block> free_;
};

}  // namespace switchgear
