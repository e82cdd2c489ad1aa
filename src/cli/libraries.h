// SPDX-License-Identifier: Apache-2.0
#pragma once

// The commit that was built, and the libraries inside the two programs with their versions. A
// security update of a library that is linked statically mends nothing before baton is built again,
// so `baton --version --json` says what is inside. scripts/libraries.cmake writes the source when
// baton is built.

#include <span>
#include <string_view>

namespace baton {

struct Library {
  std::string_view name;
  std::string_view version;  ///< of the package, as Debian writes it; `unknown` without dpkg
  std::string_view package;
  std::string_view linked;   ///< `header`, `static` or `shared`
  std::string_view program;  ///< `baton` or `baton-shim`
};
std::span<const Library> libraries();

/// Of the sources; empty if they were built outside of a git checkout.
std::string_view commit();

}  // namespace baton
