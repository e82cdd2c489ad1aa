#pragma once

// The contract between `baton` (io/agents) and `baton-shim`: how the shim is called, which descriptors
// it inherits, and the files in a run directory. To be completed together with the shim.
