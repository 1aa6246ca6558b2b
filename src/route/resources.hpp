// All resources and resource templates of all upstreams, and which upstream a URI means.
#pragma once

#include "protocol/definitions_list.hpp"
#include "protocol/uri_template.hpp"
#include "route/table.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::route {

/// What one upstream that has resources listed, now or before it went down; perhaps nothing. `index` is the caller's.
struct upstream_resources {
  std::string_view alias;
  std::uint32_t index = 0;
  std::span<const protocol::definition> resources, templates;
};

/// A URI at its upstream. The view is of the URI that was asked for, or of the table.
struct resource_place {
  std::uint32_t upstream = 0;
  std::string_view uri;  ///< as the upstream knows it
};

/// A URI stays what it is: clients and servers make URIs out of URIs, which no renaming would follow. Only where two
/// upstreams list the same one must the later alias' be told apart: it is exported with `switchgear://ALIAS/` in front,
/// and so are templates. Nothing is encoded, so that a template's expansion is right as well, and any URI can be asked
/// of a chosen upstream in this way, whether it is listed or not.
class resources {
 public:
  resources() = default;
  /// The result is the same whatever the order of `upstreams` and of what they list.
  explicit resources(std::span<const upstream_resources> upstreams);

  /// Which upstream a URI means: the one that lists it; else the one whose alias is in front of it; else the one whose
  /// template it fits, the template with most literal characters first; else the only one that has resources.
  std::optional<resource_place> find(std::string_view uri) const;

  /// The same for what completion/complete refers to: a template as it is exported, or a URI.
  std::optional<resource_place> find_reference(std::string_view uri_or_template) const;

  /// How clients know a URI of this upstream: the inverse of find().
  std::string exported(std::uint32_t upstream, std::string_view uri) const;

  /// JSON arrays of all definitions, sorted by URI.
  std::string_view definitions() const { return resources_.definitions(); }
  std::string_view template_definitions() const { return templates_.definitions(); }

  /// The upstreams that have resources.
  struct owner {
    std::string alias;
    std::uint32_t index = 0;
  };
  const std::vector<owner>& owners() const { return owners_; }

  /// What was left out, renamed or cannot be matched, one line each.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  /// A template that URIs are tried with.
  struct matcher {
    protocol::uri_template compiled;
    const item* listed = nullptr;
  };

  std::optional<resource_place> named(std::string_view uri) const;
  void compile_templates();

  std::vector<owner> owners_;
  table<item> resources_, templates_;
  std::vector<matcher> matchers_;  // in the order in which they are tried
  std::vector<std::string> problems_;
};

}  // namespace switchgear::route
