#include "protocol/canonical.hpp"

#include "protocol/errc.hpp"
#include "protocol/scan.hpp"
#include "protocol/text.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace switchgear::protocol {

namespace {

constexpr unsigned deepest = 128;

class writer {
 public:
  explicit writer(std::string_view json) : in_(json, index_) {}

  result<std::string> write() {
    std::string out;
    if (value(out, 0) && in_.finish()) return out;
    return in_.ok() ? why_ : in_.why();
  }

 private:
  struct member {
    std::string name, value;
  };

  // Recursive, within `deepest`.
  bool value(std::string& out, unsigned depth) {
    const char first = in_.next();
    if ((first == '{' || first == '[') && depth == deepest) return refuse(errc::too_deep);
    if (first == '{') return object(out, depth + 1);
    if (first == '[') return array(out, depth + 1);
    std::string_view raw;
    if (!in_.skip(raw)) return false;
    if (first == '"') return string(out, raw);
    out.append(raw);
    return true;
  }

  bool array(std::string& out, unsigned depth) {
    out += '[';
    for (bool more = in_.open('['); more; more = in_.another(']')) {
      if (out.back() != '[') out += ',';
      if (!value(out, depth)) return false;
    }
    out += ']';
    return in_.ok();
  }

  bool object(std::string& out, unsigned depth) {
    std::vector<member> members;
    for (bool more = in_.open('{'); more; more = in_.another('}')) {
      std::string_view name;
      member& last = members.emplace_back();
      if (!in_.key(name) || !string(last.name, name) || !value(last.value, depth)) return false;
    }
    if (!in_.ok()) return false;
    std::sort(members.begin(), members.end(), [](const member& a, const member& b) { return a.name < b.name; });
    const auto twin = std::adjacent_find(members.begin(), members.end(),
                                         [](const member& a, const member& b) { return a.name == b.name; });
    if (twin != members.end()) return refuse(errc::duplicate_member);
    char before = '{';
    for (const member& each : members) {
      out.append(1, before).append(each.name).append(1, ':').append(each.value);
      before = ',';
    }
    if (members.empty()) out += '{';
    out += '}';
    return true;
  }

  bool string(std::string& out, std::string_view raw) {
    std::string_view text;
    if (!text_of(raw, space_, text)) return refuse(errc::not_json);
    // U+FFFD may stand for an unpaired surrogate, of which there are many: then only the same escapes are the same.
    const bool unsure = text.data() == space_.data() && text.find("\xef\xbf\xbd") != std::string_view::npos;
    if (unsure) {
      out.append(raw);
    } else {
      append_quoted(out, text);
    }
    return true;
  }

  bool refuse(errc why) {
    why_ = why;
    return false;
  }

  token_index index_;
  scanner in_;
  std::string space_;
  errc why_ = errc::not_json;
};

}  // namespace

result<std::string> canonical(std::string_view json) {
  return writer(json).write();
}

digest digest_of(std::initializer_list<std::string_view> fields) {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  bool good = context != nullptr && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  for (std::string_view field : fields) {
    const std::uint64_t size = field.size();
    good = good && EVP_DigestUpdate(context.get(), &size, sizeof size) == 1 &&
           EVP_DigestUpdate(context.get(), field.data(), field.size()) == 1;
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> whole{};
  // Two different inputs under one key would hand out somebody else's answer, so there is no digest rather than a bad
  // one.
  if (!good || EVP_DigestFinal_ex(context.get(), whole.data(), nullptr) != 1) throw std::bad_alloc();
  digest key;
  std::copy_n(whole.begin(), key.bytes.size(), key.bytes.begin());
  return key;
}

}  // namespace switchgear::protocol
