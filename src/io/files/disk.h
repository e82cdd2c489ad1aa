#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/catalog.h"
#include "core/ports.h"
#include "io/files/root.h"

namespace baton {

/// The files below a root. Errors beyond those of the port: Errc::busy when descriptors or memory
/// have run out or somebody keeps a file locked (try again later), no_space, denied. A file that
/// others replace at the same time is never lost, see io/files/exchange.h.
std::unique_ptr<Disk> real_disk(std::shared_ptr<RootFolder> root);
/// With a root folder of its own, which never notices that it was replaced: for short commands.
Result<std::unique_ptr<Disk>> real_disk(const std::string& root);

/// Removes what a crash left behind: files named as `temporary_name` names them, not touched for a
/// while, locked by nobody. Looks into these folders as deep as their patterns go. Returns how
/// many.
std::size_t sweep_litter(const RootFolder& root, const std::vector<PatternFolder>& folders,
                         std::chrono::seconds age = std::chrono::seconds(60));

/// A file outside any root. Errc::not_found, not_regular, too_large, denied, busy, io.
Result<std::string> read_file(const std::string& path, std::size_t max_bytes);

/// Replaces or creates a file of our own outside any root, atomically and durably; nobody else
/// writes there. Its folder must exist. After an error the old one is as it was.
Result<void> write_file_durably(const std::string& path, std::string_view bytes, unsigned mode);

}  // namespace baton
