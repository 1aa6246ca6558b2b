// What libFuzzer calls. SWITCHGEAR_FUZZ_TARGET is one of the functions in targets.hpp.
#include "targets.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  switchgear::fuzz::SWITCHGEAR_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
