#pragma once

#include <memory>

#include "app/deliberation.h"
#include "app/engine.h"
#include "app/intake.h"
#include "app/judge.h"
#include "app/library.h"
#include "app/planning.h"
#include "app/recovery.h"
#include "app/setup.h"
#include "base/result.h"
#include "core/catalog.h"

namespace baton {

/// The parts of an engine that depend on the configuration; replaced together. They refer to each
/// other, so it stays where it was made.
struct Works {
  /// Errc::config: a schema cannot be used (unless the setup bears such).
  static Result<std::unique_ptr<Works>> make(const Ports& ports, Setup setup);

  Works(const Ports& ports, Setup given);
  Works(const Works&) = delete;
  Works& operator=(const Works&) = delete;
  Works(Works&&) = delete;
  Works& operator=(Works&&) = delete;
  ~Works() = default;

  Setup setup;
  Catalog catalog;
  Schemas schemas;
  Library library;
  Intake intake;
  Deliberation deliberation;
  Planning planning;
  Recovery recovery;
};

}  // namespace baton
