#pragma once
/// @file The folder in which a run says how far it has come: its ranks write, its launcher reads. It outlives
/// relaunches.
#include <optional>
#include <string>
#include <vector>

#include "exec/run/trainer.hpp"

namespace auspex::launch {

/// Environment variable that tells ranks where the folder is; without it there is none.
inline constexpr const char* kRunFolderVariable = "AUSPEX_RUN_FOLDER";

/// What its name begins with.
inline constexpr const char* kRunFolderPrefix = "auspex-run-";

/// Where a rank is: its process, the step it has begun last (-1: none), and its host.
struct RankStatus {
    int process = 0;
    int step = -1;
    std::string host;
};

/// The name that this host gives itself.
[[nodiscard]] std::string own_host();

/// Loss or gradients that are not finite, and the ranks where that began; none: it cannot be told.
struct SoftFailureRecord {
    int step = 0;
    std::vector<int> ranks;
};

/// Why a supervised run was started again.
struct Restart {
    std::string reason;
    int rank = -1;  ///< the first of several; -1: not known
    int slot = -1;  ///< of that rank, left out from now on; -1: none
    int step = 0;   ///< that was not finished
    int from_step = 0;
    std::vector<int> slots;  ///< of the ranks from now on
};

/// DIR/rank-R: "PROCESS STEP HOST"; DIR/steps: a line a step; DIR/failure: "STEP RANK RANK …" of a soft failure;
/// DIR/restarts: one line each; DIR/done: there at the end; DIR/terminal: there if the user watches the steps on a
/// terminal; DIR/journal: when it did what (launch/train/run_journal.hpp).
class RunFolder {
 public:
    explicit RunFolder(std::string folder) : folder_(std::move(folder)) {}
    [[nodiscard]] const std::string& path() const { return folder_; }

    void write_status(int rank, const RankStatus& status) const;
    [[nodiscard]] std::optional<RankStatus> status(int rank) const;
    /// Before another launch.
    void forget_ranks(int ranks) const;

    void append_step(const exec::StepReport& report) const;
    /// Of all launches, by step; what was run again has the later numbers.
    [[nodiscard]] std::vector<exec::StepReport> steps() const;
    /// Grows with every finished step.
    [[nodiscard]] std::size_t progress() const;

    void write_soft_failure(int step, const std::vector<int>& ranks) const;
    /// The soft failure that ended the last launch, if one did; forgets it.
    [[nodiscard]] std::optional<SoftFailureRecord> take_soft_failure() const;

    void append_restart(const Restart& restart) const;
    [[nodiscard]] std::vector<Restart> restarts() const;

    /// When rank 0 has written everything that was asked for: what fails from then on takes nothing away.
    void mark_done() const;
    [[nodiscard]] bool is_done() const;

    void mark_terminal() const;
    [[nodiscard]] bool is_on_terminal() const;

 private:
    [[nodiscard]] std::string file(const std::string& name) const { return folder_ + "/" + name; }
    std::string folder_;
};

/// That of the run which saves its checkpoints there, as long as it goes on.
[[nodiscard]] std::optional<RunFolder> run_folder_in(const std::string& checkpoints);

}  // namespace auspex::launch
