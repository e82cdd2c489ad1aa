#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace baton {

/// What a caller can tell errors apart by. Add one only when somebody branches on it.
enum class Errc {
  parse,        ///< not JSON, YAML, UTF-8 ... at all
  schema,       ///< well-formed, but not what it has to be; also a bad schema
  not_found,    ///< no such file, flow, run, schema
  not_regular,  ///< a link, a FIFO, a device, a directory, or outside the root
  too_large,    ///< above a size, depth or step limit
  changed,      ///< the file is no longer what the caller assumed; read again, decide again
  busy,         ///< not at present: a lock is held, descriptors or memory have run out
  locked,       ///< a command is at work on the root, and will have ended soon
  away,         ///< the root is not there, so nobody knows what is in it
  served,       ///< another process serves the root
  no_space,     ///< disk or inodes full, quota
  denied,       ///< not permitted
  usage,        ///< wrong arguments
  config,       ///< wrong configuration
  io,           ///< anything else the system refuses
};

/// `message` is a clause for people: no capital, no full stop, names the value that is wrong.
/// `where` is `path` or `path#/json/pointer`; empty when there is no place.
struct Error {
  Errc code = Errc::io;
  std::string message;
  std::string where;

  bool operator==(const Error&) const = default;
};

/// The result of everything that can fail by the state of the world. The caller must look.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

inline tl::unexpected<Error> fail(Errc code, std::string message, std::string where = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(where)});
}

/// Passes the error of another result on, whatever its type was.
template <class T>
tl::unexpected<Error> pass_on(Result<T>& result) {
  return tl::unexpected<Error>(std::move(result.error()));
}

/// `where: message`, or just the message.
inline std::string describe(const Error& error) {
  return error.where.empty() ? error.message : error.where + ": " + error.message;
}

}  // namespace baton
