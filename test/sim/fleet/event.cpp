#include "sim/fleet/event.hpp"

#include <cstdio>

namespace switchgear::sim::fleet {
namespace {

std::string milliseconds(micros length) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f ms", static_cast<double>(length.count()) / 1000);
  return text;
}

std::string gateway(unsigned number) {
  return std::string("gateway ") + static_cast<char>('a' + number);
}

struct teller {
  std::string operator()(const call& it) const {
    std::string how = it.cancelled                          ? "cancelled"
                      : it.connect                          ? "no connection"
                      : it.how == breaker::verdict::failure ? "fails"
                      : it.how == breaker::verdict::success ? "succeeds"
                                                            : "says nothing";
    return gateway(it.gateway) + ": a call, " + how + " after " + milliseconds(it.took);
  }
  std::string operator()(const flush& it) const {
    std::string text = gateway(it.gateway) + ": exchange";
    text += it.there ? "" : ", request lost";
    text += it.there && !it.back ? ", answers lost" : "";
    if (it.there && it.back) text += ", " + milliseconds(*it.there) + " there and " + milliseconds(*it.back) + " back";
    if (it.there && !it.back) text += ", request " + milliseconds(*it.there) + " under way";
    if (it.again) text += ", request repeated " + milliseconds(*it.again) + " later";
    if (it.cut != flush::whole) text += ", cut after " + std::to_string(it.cut) + " answers";
    return text;
  }
  std::string operator()(const order& it) const {
    return gateway(it.gateway) + ": operator says " + std::string(name(it.what)) + " to the " +
           std::string(name(it.scope)) + "'s breaker" +
           (it.hold > micros::zero() ? " for " + milliseconds(it.hold) : std::string());
  }
  std::string operator()(const crash& it) const { return gateway(it.gateway) + ": dies, another one takes its place"; }
  std::string operator()(const step& it) const { return "Redis: clock set by " + milliseconds(it.by); }
  std::string operator()(const remember&) const { return "Redis: the replica is up to date"; }
  std::string operator()(const failover&) const { return "Redis: the replica takes over"; }
  std::string operator()(const forget& it) const {
    return std::string("Redis: ") + (it.state_only ? "the state" : "all keys") + " of the " +
           std::string(name(it.scope)) + "'s breaker gone";
  }
};

}  // namespace

std::string describe(const event& which) {
  char at[32];
  std::snprintf(at, sizeof at, "%10.3f ms  ", static_cast<double>(which.at.count()) / 1000);
  return at + std::visit(teller(), which.what);
}

}  // namespace switchgear::sim::fleet
