#pragma once
/// @file How the program's memory comes from the system.

namespace auspex::cli {

/// A prediction takes milliseconds, and memory that comes page by page takes as long again: each first touch is a
/// fault. From here on memory that is freed stays with the program, and the first 32 MiB come as huge pages where the
/// system has them (Linux, glibc); elsewhere nothing changes. Call it first.
void keep_heap();

}  // namespace auspex::cli
