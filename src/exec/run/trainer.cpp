/// @file The loop over steps, with what happens before, between and after them.
#include "exec/run/trainer.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <limits>
#include <memory>
#include <thread>

#include "base/error.hpp"
#include "exec/blend/blend.hpp"
#include "exec/checkpoint/checkpoint.hpp"
#include "exec/kernels/gemm.hpp"
#include "exec/run/collection.hpp"
#include "exec/run/core_probe.hpp"
#include "exec/run/interpreter.hpp"
#include "exec/run/run_checks.hpp"
#include "exec/state/optimizer.hpp"
#include "exec/transport/agreement.hpp"

namespace auspex::exec {
namespace {

using Clock = std::chrono::steady_clock;

/// One rank's run: everything that lives from the first to the last step.
template <class P>
class TrainingRank {
 public:
    TrainingRank(const RunInputs& run, const RunOptions& options, Communicator& communicator,
                 const std::function<void(const StepReport&)>& on_step,
                 const std::function<void(const std::string&)>& on_note)
        : run_(run),
          options_(options),
          communicator_(communicator),
          on_step_(on_step),
          on_note_(on_note),
          data_(open_training_data(options.data)) {
        check_run(run, options, *data_);
        rank_ = make_rank(run, communicator, arena_, optimizer_, &routing_);
    }

    RunReport train() {
        check_shards();
        initialise_rank(rank_);
        restore();
        prepare_routing();
        arena_.reset_peaks();
        probe();
        for (int step = report_.first_step; step < options_.steps; ++step) {
            run_one(step);
            save_after(step + 1);
        }
        export_all();
        collect();
        return std::move(report_);
    }

 private:
    [[nodiscard]] bool is_first() const { return rank_.coordinates.rank == 0; }
    [[nodiscard]] bool strikes(InjectedFault::Kind kind, int step) const {
        return options_.fault && options_.fault->kind == kind && options_.fault->rank == rank_.coordinates.rank &&
               options_.fault->step == step;
    }
    void note(const std::string& text) {
        if (is_first()) {
            report_.notes.push_back(text);
            on_note_(text);
        }
    }

    /// The newest checkpoint, or weights from a file, or the weights as drawn.
    void restore() {
        if (!options_.checkpoint_folder.empty()) {
            std::vector<std::string> notes;
            const CheckpointInfo found = newest_checkpoint(communicator_, options_.checkpoint_folder, run_, notes);
            for (const std::string& text : notes) {
                note(text);
            }
            if (!found.folder.empty() && !options_.resume) {
                throw InputError("--checkpoint " + options_.checkpoint_folder,
                                 "found a checkpoint after step " + std::to_string(found.step) +
                                     "; expected --resume to go on from it, or another folder");
            }
            if (!found.folder.empty() && found.step > options_.steps) {
                throw InputError("--steps", "found " + std::to_string(options_.steps) + ", but " + found.folder +
                                                " is after " + std::to_string(found.step) +
                                                " steps; expected at least as many");
            }
            if (!found.folder.empty()) {
                go_on_from(found);
                return;
            }
            if (options_.resume) {
                note("no checkpoint in " + options_.checkpoint_folder + ": beginning at step 0");
            }
        }
        if (!options_.weights.empty()) {
            read_model(rank_, options_.weights);
        }
    }

    void go_on_from(const CheckpointInfo& found) {
        read_checkpoint(rank_, found);
        source_ = found.folder;
        report_.first_step = found.step;
        first_row_ = found.manifest.sequences;
        note("going on from " + found.folder + ", after " + std::to_string(found.step) + " steps");
        const std::string different =
            changes(found.manifest.settings, training_settings(run_, data_->content_digest()));
        if (!different.empty()) {
            note("settings differ from those of " + found.folder + ": " + different);
        }
    }

    /// Rank 0 compares the data's checksums where that takes seconds.
    void check_shards() {
        constexpr std::int64_t kMaxBytes = std::int64_t{1} << 30;
        if (data_->bytes() > kMaxBytes) {
            note("the checksums of " + options_.data +
                 " are not compared: it has more than 1 GiB, and auspex data show does it");
            return;
        }
        agree_on_input(communicator_, is_first() ? problem_of([&] { data_->check_digests(); }) : "");
    }

    void prepare_routing() {
        routing_ = routing_of(run_, report_.first_step, options_.steps);
        if (!options_.record_routing.empty()) {
            record_ = empty_routing_record(run_, report_.first_step, options_.steps);
            routing_.record = rank_.coordinates.etp == 0 ? &record_ : nullptr;
        }
    }

    /// Rows that the whole run has trained on before a step.
    [[nodiscard]] std::int64_t rows_before(int step) const {
        return first_row_ + std::int64_t{step - report_.first_step} * run_.layout.global_batch;
    }

    /// Sequence i of micro-batch m of data-parallel rank d: row rows_before(step) + (d * micro_batches + m) *
    /// micro_batch_size + i.
    void load_tokens(int step) {
        const models::Plan& plan = run_.plan;
        std::int64_t row =
            rows_before(step) + std::int64_t{rank_.coordinates.data} * plan.micro_batches * plan.micro_batch_size;
        rank_.tokens.resize(static_cast<std::size_t>(plan.micro_batches));
        for (MicroBatchTokens& tokens : rank_.tokens) {
            tokens.clear();
            for (int i = 0; i < plan.micro_batch_size; ++i) {
                data_->append_sequence(row++, tokens);
            }
        }
    }

    void run_one(int step) {
        rank_.step = step;
        load_tokens(step);
        if (options_.on_begin_step) {
            options_.on_begin_step(step);
        }
        strike_before(step);
        const bool is_traced = options_.wants_trace && step == options_.steps - 1;
        if (is_traced) {
            timeline_ = empty_rank_timeline(rank_.coordinates.rank);
        }
        communicator_.barrier(models::GroupKind::kWorld);  // what a rank does between steps is not the next step's time
        const Clock::time_point begin = Clock::now();
        run_step(rank_, is_traced ? &timeline_ : nullptr, begin);
        const double own_time_s = std::chrono::duration<double>(Clock::now() - begin).count();
        const double probe_before_s = probe_s_;
        probe();
        report_step(own_time_s, std::max(probe_before_s, probe_s_));
    }

    void probe() {
        if (options_.probes_cores) {
            communicator_.barrier(models::GroupKind::kWorld);  // others may still need this rank's core for their step
            probe_s_ = core_probe_.seconds();
        }
    }

    void strike_before(int step) {
        if (strikes(InjectedFault::Kind::kKill, step)) {
            std::raise(SIGKILL);
        }
        if (strikes(InjectedFault::Kind::kHang, step)) {
            pause();
        }
        rank_.after_operation = nullptr;
        if (strikes(InjectedFault::Kind::kNan, step)) {
            rank_.after_operation = [this, struck = false](const schedule::Operation& op) mutable {
                if (!struck && op.kind == schedule::OpKind::kAttentionOutput && op.phase == schedule::Phase::kForward) {
                    rank_.running.x[0] = stored<typename P::Value>(std::numeric_limits<float>::quiet_NaN());
                    struck = true;
                }
            };
        }
    }

    void report_step(double own_time_s, double own_probe_s) {
        StepReport report;
        std::array<double, 2> slowest{own_time_s, own_probe_s};
        communicator_.all_reduce(models::GroupKind::kWorld, slowest.data(), slowest.size(), ElementType::kDouble,
                                 ReduceOp::kMax);
        report.step = rank_.step;
        report.cross_entropy = rank_.total_loss.cross_entropy;
        report.auxiliary = rank_.total_loss.auxiliary;
        report.z = rank_.total_loss.z;
        report.loss = report.cross_entropy + report.auxiliary + report.z;
        report.gradient_norm = rank_.gradient_norm;
        report.learning_rate = models::learning_rate_at(run_.training, rank_.step, run_.last_step);
        report.step_time_s = slowest[0];
        report.probe_s = slowest[1];
        report.tokens_per_s = rank_.tokens_of_batch() / report.step_time_s;
        if (is_first()) {
            report_.steps.push_back(report);
            on_step_(report);
        }
    }

    void save_after(int steps_done) {
        const std::string& folder = options_.checkpoint_folder;
        if (folder.empty()) {
            return;
        }
        const auto is_due = [&](int every) { return every > 0 && steps_done % every == 0; };
        if (is_due(options_.checkpoint_every) || steps_done == options_.steps) {
            if (strikes(InjectedFault::Kind::kKillInCheckpoint, steps_done - 1)) {
                constexpr std::chrono::milliseconds kOthersWrite{200};
                std::this_thread::sleep_for(kOthersWrite);
                std::raise(SIGKILL);
            }
            source_ = write_checkpoint(rank_, {folder, source_, steps_done, rows_before(steps_done),
                                               training_settings(run_, data_->content_digest())});
            if (options_.on_saved) {
                options_.on_saved(steps_done);
            }
        }
        if (is_due(options_.model_every)) {
            write_model(rank_, folder + "/model-" + std::to_string(steps_done) + ".safetensors");
        }
    }

    void export_all() {
        if (!options_.export_weights.empty()) {
            write_model(rank_, options_.export_weights);
        }
        if (!options_.export_gradients.empty()) {
            if (report_.first_step >= options_.steps) {
                throw InputError("--export-gradients", "found no step to run; expected at least one");
            }
            write_gradients(rank_, options_.export_gradients);
        }
        if (!options_.record_routing.empty()) {
            collect_routing(communicator_, run_, record_);
            if (is_first()) {
                write_routing_record(record_, options_.record_routing);
            }
        }
    }

    void collect() {
        RankReport own;
        own.rank = rank_.coordinates.rank;
        own.peaks = arena_.peaks(), own.at_peak = arena_.at_peak();
        own.peak_bytes = arena_.peak_bytes(), own.reserved_bytes = arena_.reserved_bytes();
        own.transport_bytes = communicator_.peak_transport_bytes();
        own.blas_bytes = gemm_scratch_bytes();
        own.counts = rank_.counts;
        report_.ranks = collect_reports(communicator_, own);
        if (options_.wants_trace) {
            report_.timeline = collect_timelines(communicator_, timeline_);
        }
        communicator_.barrier(models::GroupKind::kWorld);
    }

    const RunInputs& run_;
    const RunOptions& options_;
    Communicator& communicator_;
    const std::function<void(const StepReport&)>& on_step_;
    const std::function<void(const std::string&)>& on_note_;
    std::unique_ptr<TrainingData> data_;
    Arena arena_;
    OptimizerState<P> optimizer_;
    RoutingSource routing_;
    models::RoutingRecord record_;
    schedule::Timeline timeline_;
    Rank<P> rank_;
    CoreProbe core_probe_;
    double probe_s_ = 0;  ///< the last one of this rank
    RunReport report_;
    std::string source_;          ///< the checkpoint that the run began from, or wrote last
    std::int64_t first_row_ = 0;  ///< of the data, in the first step
};

}  // namespace

RunReport train(const RunInputs& run, const RunOptions& options, Communicator& communicator,
                const std::function<void(const StepReport&)>& on_step,
                const std::function<void(const std::string&)>& on_note) {
    const auto with = [&]<class P>(P) { return TrainingRank<P>(run, options, communicator, on_step, on_note).train(); };
    if (run.plan.precision == "fp32") {
        return with(Fp32());
    }
    constexpr double kBytesOfFp32 = 4;
    return run.plan.gradient_bytes == kBytesOfFp32 ? with(Bf16WithFp32Gradients()) : with(Bf16Precision());
}

}  // namespace auspex::exec
