#include "base/embedded.h"

#include <algorithm>

namespace baton {

const std::string_view* embedded_file(std::string_view path) {
  const auto files = embedded_files();
  const auto found =
      std::lower_bound(files.begin(), files.end(), path,
                       [](const EmbeddedFile& file, std::string_view p) { return file.path < p; });
  return found != files.end() && found->path == path ? &found->bytes : nullptr;
}

}  // namespace baton
