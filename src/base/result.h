// SPDX-License-Identifier: Apache-2.0
#pragma once

// Errors as values: every function that can fail because of the outside world returns a `Result`.
// Exceptions stay inside the sources that wrap a library which throws.

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace baton {

/// The kinds of errors. Add one only when code must distinguish it.
enum class Errc {
  parse,        ///< not JSON, YAML, UTF-8 ...
  schema,       ///< well-formed but not valid; also a bad schema
  not_found,    ///< no such file, flow, run, schema
  not_regular,  ///< a link, a FIFO, a device, a directory, or outside the root
  too_large,    ///< above a size, depth or step limit
  changed,      ///< the file is not as the caller assumed; read and decide again
  busy,         ///< try again later: a lock is held, or descriptors or memory have run out
  locked,       ///< a command works on the root and will end soon
  away,         ///< the root does not exist now, so its content is unknown
  served,       ///< another process serves the root
  no_space,     ///< disk or inodes full, quota
  denied,       ///< not permitted
  newer,        ///< a newer baton wrote it
  usage,        ///< wrong arguments
  config,       ///< wrong configuration
  io,           ///< any other failure of the system
};

/// `message` is a clause for people: no capital, no full stop; it names the wrong value. `where` is
/// `path` or `path#/json/pointer`, or empty.
struct Error {
  Errc code = Errc::io;
  std::string message;
  std::string where;

  bool operator==(const Error&) const = default;
};

/// The result of everything that can fail because of the outside world. The caller must check it.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

inline tl::unexpected<Error> fail(Errc code, std::string message, std::string where = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(where)});
}

/// Passes on the error of another result, whatever its type is.
template <class T>
tl::unexpected<Error> pass_on(Result<T>& result) {
  return tl::unexpected<Error>(std::move(result.error()));
}

/// `where: message`, or just the message.
inline std::string describe(const Error& error) {
  return error.where.empty() ? error.message : error.where + ": " + error.message;
}

}  // namespace baton
