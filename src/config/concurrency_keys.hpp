// The keys of `concurrency`, of a tool and of an upstream.
#pragma once

#include "config/gateway.hpp"
#include "config/schema.hpp"

#include <functional>

namespace switchgear::config {

const keys<cascade::concurrency_policy>& concurrency_keys();

/// `concurrency`: the mapping, or a limit alone. `member` gives the policy in a Target& and in a const Target&.
template <class Target, class Member>
key<Target> concurrency_key(Member member, std::string meaning);

/// Reads either form.
std::vector<change<cascade::concurrency_policy>> read_concurrency(const field& from);

/// Checks a policy that `at`, the field of `concurrency`, has a part in.
void check_concurrency(const field& at, const cascade::concurrency_policy& made);

/// Checks the limits of tools against those of their servers; `at` is the field of `tools`.
void check_concurrency_of_servers(const field& at, const gateway& made);

template <class Target, class Member>
key<Target> concurrency_key(Member member, std::string meaning) {
  key<Target> made = section_key<Target>("concurrency", concurrency_keys(), member, std::move(meaning));
  made.kind = "count, `adaptive` or mapping";
  made.read = [member](const field& from) -> change<Target> {
    return [member, changes = read_concurrency(from)](Target& target) {
      for (const auto& apply : changes) apply(member(target));
    };
  };
  return made;
}

}  // namespace switchgear::config
