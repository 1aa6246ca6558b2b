// Random numbers that are the same on every machine for the same seed, and quick enough for 10^8 calls.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace switchgear::sim {

/// xoshiro256++ seeded by splitmix64 (both in the public domain by their authors).
class dice {
 public:
  explicit dice(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
      z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
      word = z ^ (z >> 31);
    }
  }

  std::uint64_t next() {
    const std::uint64_t out = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return out;
  }

  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }  // [0, 1)
  bool chance(double p) { return unit() < p; }
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  double exponential(double mean) { return -mean * std::log1p(-unit()); }

 private:
  std::uint64_t state_[4];
};

/// SWITCHGEAR_SEED from the environment, or a fixed one. Printed, so that a failure can be repeated.
inline std::uint64_t printed_seed(const char* what) {
  const char* given = std::getenv("SWITCHGEAR_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 0) : 20'261'129;
  std::printf("%s: SWITCHGEAR_SEED=%llu\n", what, static_cast<unsigned long long>(seed));
  return seed;
}

}  // namespace switchgear::sim
