#include "breaker/binomial.hpp"

#include <cmath>
#include <map>
#include <mutex>
#include <utility>

namespace switchgear::breaker {
namespace {

// z with P(Normal > z) = alpha, by bisection: it is done once a table, and has no coefficients to get wrong.
double normal_quantile(double alpha) {
  double low = -10, high = 40;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) / 2 > alpha ? low : high) = middle;
  }
  return high;
}

}  // namespace

double binomial_tail(std::uint64_t n, std::uint64_t k, double p) {
  if (k == 0) return 1;
  if (k > n) return 0;
  // log C(n, k) as a sum: lgamma writes a global sign, which is a data race.
  double log_term = static_cast<double>(k) * std::log(p) + static_cast<double>(n - k) * std::log1p(-p);
  for (std::uint64_t i = 1; i <= k; ++i)
    log_term += std::log(static_cast<double>(n - k + i)) - std::log(static_cast<double>(i));
  double term = std::exp(log_term), sum = 0;
  for (std::uint64_t i = k; i <= n; ++i) {
    sum += term;
    if (term < sum * 1e-18) break;
    term *= static_cast<double>(n - i) / static_cast<double>(i + 1) * p / (1 - p);
  }
  return sum < 1 ? sum : 1;
}

binomial_limit::binomial_limit(double p, double alpha) : p_(p), z_(normal_quantile(alpha)) {
  skew_ = (z_ * z_ - 1) / 6 * (1 - 2 * p);

  // Walks along the border: tail = P(Bin(n, p) >= k) and edge = P(Bin(n, p) = k - 1) for the smallest good k.
  // One more call makes tail grow by p * edge; when it passes alpha, k moves up by one. Only values of alpha's own
  // size are added and subtracted, so rounding stays harmless.
  double tail = 0, edge = 1;
  std::uint64_t k = 1;
  exact_[0] = 1;
  for (std::uint64_t n = 1; n <= exact_up_to; ++n) {
    tail += p * edge;
    edge *= static_cast<double>(n) * (1 - p) / static_cast<double>(n + 1 - k);
    while (tail > alpha && k <= n) {
      edge *= static_cast<double>(n - k + 1) / static_cast<double>(k) * p / (1 - p);
      tail -= edge;
      ++k;
    }
    exact_[n] = static_cast<std::uint16_t>(k);
  }
}

std::shared_ptr<const binomial_limit> binomial_limit::shared(double p, double alpha) {
  static std::mutex guard;
  static std::map<std::pair<double, double>, std::weak_ptr<const binomial_limit>> known;
  const std::lock_guard lock(guard);
  auto& slot = known[{p, alpha}];
  auto table = slot.lock();
  if (!table) {
    std::erase_if(known, [&](const auto& entry) { return &entry.second != &slot && entry.second.expired(); });
    slot = table = std::make_shared<const binomial_limit>(p, alpha);
  }
  return table;
}

std::uint64_t binomial_limit::approximate(std::uint64_t n) const noexcept {
  const double mean = static_cast<double>(n) * p_;
  const double k = std::ceil(mean + z_ * std::sqrt(mean * (1 - p_)) + skew_ + 0.5);
  return k > static_cast<double>(n) ? n + 1 : static_cast<std::uint64_t>(k);
}

share_test::share_test(double limit, std::optional<double> certainty, std::uint64_t minimum, plain comparison)
    : certain_(certainty ? binomial_limit::shared(limit, 1 - *certainty) : nullptr),
      limit_(limit),
      minimum_(minimum),
      comparison_(comparison) {}

std::uint64_t share_test::trips_at(std::uint64_t n) const noexcept {
  if (n < minimum_ || n == 0) return 0;
  if (certain_) return (*certain_)(n);
  // The slack keeps 15 % of 20 at 3, whatever the product rounds to.
  const double border = static_cast<double>(n) * limit_;
  return comparison_ == plain::reached ? static_cast<std::uint64_t>(std::ceil(border - 1e-9))
                                       : static_cast<std::uint64_t>(std::floor(border + 1e-9)) + 1;
}

}  // namespace switchgear::breaker
