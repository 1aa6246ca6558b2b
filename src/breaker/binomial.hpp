// How many of n calls are too many, by an exact binomial test. Source: the probability itself; no distribution library.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

namespace switchgear::breaker {

/// P(Binomial(n, p) >= k), summed exactly from the top of the tail. O(n - k); for tables and tests.
double binomial_tail(std::uint64_t n, std::uint64_t k, double p);

/// The smallest k with P(Binomial(n, p) >= k) <= alpha: so many of n say that the true share is over p, and are wrong
/// at most once in 1/alpha times. Immutable; no allocation after it is built.
class binomial_limit {
 public:
  static constexpr std::uint64_t exact_up_to = 4096;

  /// p and alpha in (0, 1).
  binomial_limit(double p, double alpha);

  /// The one that other scopes with the same p and alpha use. Thread-safe.
  static std::shared_ptr<const binomial_limit> shared(double p, double alpha);

  /// n + 1 when no k of n is enough. Exact up to `exact_up_to`, above it within one of exact.
  std::uint64_t operator()(std::uint64_t n) const noexcept { return n <= exact_up_to ? exact_[n] : approximate(n); }

  /// z with P(Normal > z) = alpha, of the approximation.
  double z() const noexcept { return z_; }

  /// The normal approximation with continuity and skewness corrections, at any n.
  std::uint64_t approximate(std::uint64_t n) const noexcept;

 private:
  std::array<std::uint16_t, exact_up_to + 1> exact_;
  double p_;
  double z_;     // P(Normal > z) = alpha
  double skew_;  // what the skewness of the binomial adds, in calls
};

/// A limit on a share, as the settings state it: by the binomial test at a certainty, or by plain comparison.
class share_test {
 public:
  enum class plain : std::uint8_t { reached, passed };  // what trips when there is no certainty

  share_test(double limit, std::optional<double> certainty, std::uint64_t minimum, plain comparison);

  /// The count of n that trips; 0 when so few are not judged.
  std::uint64_t trips_at(std::uint64_t n) const noexcept;
  bool trips(std::uint64_t n, std::uint64_t count) const noexcept {
    const std::uint64_t least = trips_at(n);
    return least != 0 && count >= least;
  }

 private:
  std::shared_ptr<const binomial_limit> certain_;
  double limit_;
  std::uint64_t minimum_;
  plain comparison_;
};

}  // namespace switchgear::breaker
