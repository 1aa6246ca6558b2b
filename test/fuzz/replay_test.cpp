// Every input that once was interesting, through the decoder that it was made for.
#include "targets.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::fuzz {
namespace {

struct target {
  const char* name;
  void (*run)(std::string_view);
};

class corpus : public testing::TestWithParam<target> {};

TEST_P(corpus, is_decoded_without_a_broken_promise) {
  const std::filesystem::path folder = std::filesystem::path(SWITCHGEAR_CORPUS) / GetParam().name;
  std::size_t inputs = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(file.path().string());
    std::ifstream stream(file.path(), std::ios::binary);
    // On the heap and of the exact size, so that a sanitizer sees what reads on.
    const std::vector<char> bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    GetParam().run({bytes.data(), bytes.size()});
    ++inputs;
  }
  EXPECT_GT(inputs, 0u);
}

INSTANTIATE_TEST_SUITE_P(of, corpus,
                         testing::Values(target{"peek", peek}, target{"sse", sse}, target{"line_reader", line_reader},
                                         target{"tools_list", tools_list}, target{"canonical", canonical},
                                         target{"schema", schema}, target{"http_head", http_head},
                                         target{"chunks", chunks}, target{"redis", redis},
                                         target{"header_value", header_value}, target{"letters", letters},
                                         target{"batch", batch}, target{"mirrored", mirrored}, target{"sealed", sealed},
                                         target{"uri_template", uri_template}, target{"definitions", definitions}),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace switchgear::fuzz
