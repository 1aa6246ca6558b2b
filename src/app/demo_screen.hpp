// The demonstration while it runs, as text: a picture that is drawn in place, or a line a second.
#pragma once

#include "app/demo_view.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace switchgear::app {

/// The picture, line by line, each no wider than `width` columns apart from colour codes. Always the same number of
/// lines.
std::vector<std::string> demo_picture(const demo_view& view, bool colour, std::size_t width);

/// The same in one line, without colour.
std::string demo_line(const demo_view& view);

}  // namespace switchgear::app
