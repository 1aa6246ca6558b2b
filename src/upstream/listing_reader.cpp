#include "upstream/listing_reader.hpp"

#include "protocol/errors.hpp"
#include "upstream/printable.hpp"

#include <utility>

namespace switchgear::upstream {

const std::array<listing_reader::kind, 4> listing_reader::kinds{
    {{"tools/list", &listing::tools, nullptr},
     {"prompts/list", &listing::prompts, &protocol::server_abilities::prompts},
     {"resources/list", &listing::resources, &protocol::server_abilities::resources},
     {"resources/templates/list", &listing::templates, &protocol::server_abilities::resources}}};

listing_reader::listing_reader(const server_hello& hello, protocol::era era) {
  listed_.era = era;
  listed_.capabilities = hello.capabilities;
  listed_.instructions = hello.instructions;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    asked_for_[i] = kinds[i].declared == nullptr || hello.abilities.*kinds[i].declared;
  }
}

std::string listing_reader::request(std::uint64_t id) const {
  return plain_request(id, listed_.era, method(), cursor_.empty() ? std::string() : R"("cursor":)" + cursor_);
}

bool listing_reader::take(const protocol::message& response, std::string_view text, std::string& why) {
  const std::string name(method());
  if (response.error) {
    if (cursor_.empty() && response.error_code == protocol::code::method_not_found) {
      next_kind();
      return true;
    }
    why = "it answered " + name + " with error " + std::to_string(response.error_code) + ": " +
          printable(response.error.in(text), 200);
    return false;
  }
  std::vector<std::string>& pages = listed_.*kinds[kind_].pages;
  pages.emplace_back(response.result.in(text));
  bytes_ += pages.back().size();
  if (++pages_ > most_pages || bytes_ > most_bytes) {
    why = name + " does not come to an end";
    return false;
  }
  const std::string_view next = response.next_cursor.in(text);
  if (!next.starts_with('"') || next == R"("")") {  // null and "" end a list, too
    next_kind();
    return true;
  }
  if (next == cursor_) {
    why = name + " gave the same cursor twice";
    return false;
  }
  cursor_ = next;
  return true;
}

void listing_reader::next_kind() {
  cursor_.clear();
  do {
    ++kind_;
  } while (kind_ < kinds.size() && !asked_for_[kind_]);
}

bool says_list_changed(std::string_view method) {
  return method == "notifications/tools/list_changed" || method == "notifications/prompts/list_changed" ||
         method == "notifications/resources/list_changed";
}

}  // namespace switchgear::upstream
