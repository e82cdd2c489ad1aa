// SPDX-License-Identifier: Apache-2.0
#pragma once

// The `Disk` port on real files: reads, writes, appends and locks files below one root. Every path
// is opened below the root's folder without following links (safe_open.h). A replaced file is never
// lost (exchange.h). Also here: files of our own outside a root.

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/catalog.h"
#include "core/ports.h"
#include "io/files/fd.h"
#include "io/files/root.h"

namespace baton {

/// The files below a root. Errors beyond those of the port: Errc::busy (no descriptors or memory,
/// or another process keeps a file locked; try again later), no_space, denied.
std::unique_ptr<Disk> real_disk(std::shared_ptr<RootFolder> root);
/// The same with its own RootFolder, which does not notice when the root is replaced: for short
/// commands.
Result<std::unique_ptr<Disk>> real_disk(const std::string& root);

/// Removes temporary files (`temporary_name`) that a crash left behind, if they are older than
/// `age` and not locked. Looks into these folders as deep as their patterns go. Returns the number
/// of removed files.
std::size_t remove_leftovers(const RootFolder& root, const std::vector<PatternFolder>& folders,
                             std::chrono::seconds age = std::chrono::seconds(60));

/// Opens a regular file outside any root for reading. Errc::not_found, not_regular, denied, busy,
/// io.
Result<Fd> open_file(const std::string& path);
/// Reads a file outside any root. Errc::not_found, not_regular, too_large, denied, busy, io.
Result<std::string> read_file(const std::string& path, std::size_t max_bytes);

/// Replaces or creates a file outside any root, atomically and durably. Only baton may write this
/// file. Its folder must exist. After an error the old file is unchanged.
Result<void> write_file_durably(const std::string& path, std::string_view bytes, unsigned mode);

}  // namespace baton
