#include "load/process.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace switchgear::bench {

namespace {

std::filesystem::path folder_of(int pid) {
  return "/proc/" + std::to_string(pid);
}

}  // namespace

std::uint64_t cpu_ns(int pid) {
  std::uint64_t sum = 0;
  for (const auto& thread : std::filesystem::directory_iterator(folder_of(pid) / "task")) {
    std::uint64_t ran = 0;
    std::ifstream(thread.path() / "schedstat") >> ran;
    sum += ran;
  }
  return sum;
}

std::uint64_t resident_bytes(int pid) {
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  std::ifstream(folder_of(pid) / "statm") >> size >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace switchgear::bench
