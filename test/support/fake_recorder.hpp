// Keeps what it is told.
#pragma once

#include "port/recorder.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace switchgear::test {

class fake_recorder final : public port::recorder {
 public:
  std::vector<port::call_record> calls;
  std::vector<port::refusal> refusals;

  std::uint32_t tool_slot(std::string_view) override { return next_slot_++; }
  void call_finished(unsigned, const port::call_record& record) noexcept override { calls.push_back(record); }
  void refused(unsigned, port::refusal why) noexcept override { refusals.push_back(why); }
  void connections(unsigned, int) noexcept override {}
  void transition(const port::transition_record&) override {}
  void upstream_changed(std::string_view, bool, std::string_view) override {}

 private:
  std::uint32_t next_slot_ = 0;
};

}  // namespace switchgear::test
