#pragma once

#include "core/dialect.h"

namespace baton::ccw_loop {

/// `create`: a new loop, which waits for its start. The flow's name is its id.
/// Whether `start` and `create` know what they were given; Errc::usage names what they do not.
Result<void> check_request(const Request& request);

Result<std::vector<Update>> create(const Request& request, const View& view);

/// An id for a new loop: the time in UTC and eight digits made of the seed.
std::string fresh_id(Time wall, std::string_view seed);

}  // namespace baton::ccw_loop
