// What another process has used, from /proc.
#pragma once

#include <cstdint>

namespace switchgear::bench {

/// Nanoseconds that all threads of `pid` have run.
std::uint64_t cpu_ns(int pid);

/// Bytes of resident memory of `pid`.
std::uint64_t resident_bytes(int pid);

}  // namespace switchgear::bench
