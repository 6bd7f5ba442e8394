#pragma once
/// @file A process under MPI.

namespace auspex::exec {

/// MPI from construction to destruction; one thread of the process calls it.
class MpiSession {
 public:
    MpiSession(int* argc, char*** argv);
    ~MpiSession();
    MpiSession(const MpiSession&) = delete;
    MpiSession& operator=(const MpiSession&) = delete;

    [[nodiscard]] int rank() const;
    [[nodiscard]] int size() const;
    /// Ends every rank of the job with this exit code.
    [[noreturn]] static void abort(int exit_code);
};

}  // namespace auspex::exec
