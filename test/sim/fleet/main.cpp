// `sim_fleet --print-library` prints the library that the product loads into Redis; anything else is for GoogleTest.
#include "peers/redis/exchange.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <iostream>

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--print-library") == 0) {
    std::cout << switchgear::peers::redis::library_source;
    return 0;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
