#include "peers/redis/slot.hpp"

namespace switchgear::peers::redis {

unsigned slot_of(std::string_view key) {
  if (const auto open = key.find('{'); open != std::string_view::npos) {
    const auto close = key.find('}', open + 1);
    if (close != std::string_view::npos && close != open + 1) key = key.substr(open + 1, close - open - 1);
  }
  unsigned crc = 0;
  for (const char each : key) {
    crc ^= static_cast<unsigned>(static_cast<unsigned char>(each)) << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000) != 0 ? crc << 1 ^ 0x1021 : crc << 1;
    crc &= 0xffff;
  }
  return crc % 16384;
}

}  // namespace switchgear::peers::redis
