#include "app/status.hpp"

#include "app/admin_get.hpp"
#include "app/arguments.hpp"

#include <ostream>

namespace switchgear::app {

int status(const std::string& admin, std::ostream& out, std::ostream& problems, duration limit) {
  const auto at = config::parse_endpoint(admin);
  if (!at) {
    problems << "switchgear status: \"" << admin << "\" is not an address; write IP:PORT, as in 127.0.0.1:9090\n";
    return exit_failed;
  }
  const auto complain = [&](const std::string& why) {
    problems << "switchgear status: " << why << '\n';
    return exit_failed;
  };
  const auto circuits = admin_get(*at, "/api/circuits", limit);
  if (const auto* fault = std::get_if<admin_fault>(&circuits)) return complain(fault->why);
  const auto readiness = admin_get(*at, "/readyz", limit);
  if (const auto* fault = std::get_if<admin_fault>(&readiness)) return complain(fault->why);

  // A gateway that is not ready yet says so with 503 and the same body.
  const auto& listed = std::get<admin_answer>(circuits);
  const auto& ready = std::get<admin_answer>(readiness);
  const std::string where = config::format_endpoint(*at);
  if (listed.status != 200 || (ready.status != 200 && ready.status != 503)) {
    return complain(where + " answers with HTTP status " +
                    std::to_string(listed.status != 200 ? listed.status : ready.status) +
                    "; is that a gateway's admin address?");
  }
  const auto table = status_table(listed.body, ready.body);
  if (!table) return complain("what listens on " + where + " does not answer as a gateway does");
  out << *table;
  return exit_ok;
}

}  // namespace switchgear::app
