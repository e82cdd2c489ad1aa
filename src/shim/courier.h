#pragma once

#include "shim/protocol.h"

namespace baton::shim {

/// Runs a program, which takes stdin, stdout and stderr over, until nothing of its tree is left,
/// the limit has passed, SIGTERM came, or the other end of kLifeFd is closed, which is when the
/// daemon is gone. Whatever is left then is ended. `signals` is a signalfd for SIGTERM and SIGCHLD.
ShimExit deliver(int signals, const char* limit_ms, char** argv);

}  // namespace baton::shim
