#include "base/buffer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace switchgear {
namespace {

TEST(buffer, keeps_its_bytes_when_it_grows) {
  buffer bytes;
  bytes.append("abc");
  bytes.append(std::string(100'000, 'x'));
  EXPECT_EQ(bytes.size(), 100'003u);
  EXPECT_EQ(bytes.view().substr(0, 4), "abcx");
}

TEST(buffer, has_readable_bytes_behind_its_capacity) {
  buffer bytes;
  bytes.append("abc");
  bytes.resize(bytes.capacity());
  volatile char last = bytes.data()[bytes.capacity() + buffer::padding - 1];
  EXPECT_EQ(last, 0);
}

TEST(buffer, drops_its_front) {
  buffer bytes;
  bytes.append("headbody");
  bytes.drop_front(4);
  EXPECT_EQ(bytes.view(), "body");
}

TEST(buffer_pool, gives_the_same_memory_again) {
  buffer_pool pool(1024);
  buffer first = pool.take();
  const char* memory = first.data();
  first = {};
  EXPECT_EQ(pool.take().data(), memory);
}

TEST(buffer_pool, takes_memory_back_from_a_moved_buffer_once) {
  buffer_pool pool(1024);
  buffer first = pool.take();
  const char* memory = first.data();
  {
    buffer second = std::move(first);
    EXPECT_EQ(first.data(), nullptr);
    EXPECT_EQ(second.data(), memory);
  }
  buffer third = pool.take();
  buffer fourth = pool.take();
  EXPECT_EQ(third.data(), memory);
  EXPECT_NE(fourth.data(), memory);
}

TEST(buffer_pool, frees_what_grew_beyond_what_it_keeps) {
  buffer_pool pool(1024, 8, 4096);
  buffer grown = pool.take();
  grown.reserve(100'000);
  grown = {};
  EXPECT_EQ(pool.take().capacity(), 1024u);
}

TEST(buffer_pool, does_not_keep_more_large_buffers_than_eight_megabytes) {
  buffer_pool pool(1024, 64);
  std::vector<buffer> burst;
  for (int i = 0; i < 16; ++i) {
    burst.push_back(pool.take());
    burst.back().reserve(2 * 1024 * 1024);
  }
  burst.clear();
  std::size_t kept = 0;
  for (int i = 0; i < 16; ++i) {
    burst.push_back(pool.take());
    kept += burst.back().capacity() > 1024 ? 1 : 0;
  }
  EXPECT_EQ(kept, 4u);
}

}  // namespace
}  // namespace switchgear
