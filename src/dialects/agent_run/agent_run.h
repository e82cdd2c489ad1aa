#pragma once

namespace baton::agent_run {}  // namespace baton::agent_run
