#include "peers/redis/mail.hpp"

#include <array>

namespace switchgear::peers::redis {

namespace {

// Another version has other letters here, and is not understood by this one.
constexpr std::string_view mark = "sgm1";
constexpr std::size_t head_size = mark.size() + 1 + mail::name_size;

constexpr std::array<char, 3> letters = {'t', 'e', 'n'};  // in the order of the subjects

}  // namespace

std::string written(const mail& of) {
  std::string bytes;
  bytes.reserve(head_size + of.text.size());
  bytes += mark;
  bytes += letters[static_cast<std::size_t>(of.subject)];
  bytes += of.from;
  bytes += of.text;
  return bytes;
}

std::optional<mail> read_mail(std::string_view bytes) {
  if (bytes.size() < head_size || bytes.size() - head_size > mail::longest || !bytes.starts_with(mark)) {
    return std::nullopt;
  }
  const std::size_t subject = std::string_view(letters.data(), letters.size()).find(bytes[mark.size()]);
  if (subject == std::string_view::npos) return std::nullopt;
  return mail{static_cast<enum mail::subject>(subject), bytes.substr(mark.size() + 1, mail::name_size),
              bytes.substr(head_size)};
}

}  // namespace switchgear::peers::redis
