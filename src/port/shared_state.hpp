// Where replicas keep the truth that they share, as plain values from the configuration.
#pragma once

#include "base/time.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace switchgear::port {

/// A Redis, of one of three shapes. Ranges are checked by the configuration.
struct redis_settings {
  enum class layout : std::uint8_t {
    single,    ///< one address; also a proxy in front of many nodes
    sentinel,  ///< `hosts` are sentinels, who know where `master` is
    cluster,   ///< `hosts` are some nodes, who know the others
  };
  struct host {
    std::string name;
    std::uint16_t port = 6379;
    bool operator==(const host&) const = default;
  };

  layout shape = layout::single;
  bool tls = false;
  std::vector<host> hosts;
  std::string master;     ///< sentinel: the name of the monitored Redis
  unsigned database = 0;  ///< single and sentinel

  std::string user;           ///< empty: the default user
  std::string password;       ///< empty: none, unless password_file is set
  std::string password_file;  ///< read again at each connection, so that a password can be exchanged
  std::string ca;             ///< TLS: file of trusted certificates; empty: the system's
  std::string cert, key;      ///< TLS: files of our own certificate; empty: none

  duration timeout = std::chrono::milliseconds(50);  ///< of one exchange; 5 ms..500 ms
  duration flush = std::chrono::milliseconds(100);   ///< how often counts are told; 20 ms..1 s
  std::string prefix = "cb1";                        ///< begins every key; fleets with different ones are apart
  std::uint32_t settings_version = 0;                ///< the thresholds of the highest one hold for all replicas
};

}  // namespace switchgear::port
