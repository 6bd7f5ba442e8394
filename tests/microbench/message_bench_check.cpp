/// @file Run by mpirun on 4 ranks: the benches measure what their header says, once each. Exit code 0 if so.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>
#include <string>

#include "../exec/transport/communicator_cases.hpp"
#include "exec/mpi/mpi_communicator.hpp"
#include "exec/run/process_binding.hpp"
#include "exec/system/cores.hpp"
#include "microbench/context_switch_bench.hpp"
#include "microbench/message_bench.hpp"
#include "microbench/sharing_bench.hpp"
#include "models/core_speed.hpp"

namespace auspex::microbench {
namespace {

/// What tells a measurement from the others.
std::string key_of(const models::Measurement& m) {
    return m.kind + " " + m.name + " " + m.where + " " + std::to_string(m.rows) + " " + std::to_string(m.columns) +
           " " + std::to_string(m.active) + " " + std::to_string(m.ranks) + " " + std::to_string(m.bytes);
}

/// Takes what rank 0 is told, and finds fault with it.
class Observer {
 public:
    explicit Observer(bool is_shown) : is_shown_(is_shown) {}

    [[nodiscard]] BenchSetup bench(exec::Communicator& world) {
        BenchSetup bench{
            .communicator = world,
            .make_communicator = [](const models::Layout& layout) { return exec::make_mpi_communicator(layout); },
            .node_of_rank = {0, 0, 1, 1},
            .sizes = {},
            .skip = [this](const models::Measurement& m) { return is_skipped(m); },
            .report = [this](const models::Measurement& m) { take(m); }};
        bench.budget_s = 0.1;
        return bench;
    }
    [[nodiscard]] bool has(const std::string& kind, const std::string& name, const std::string& where) const {
        return std::any_of(all_.begin(), all_.end(), [&](const models::Measurement& m) {
            return m.kind == kind && m.name == name && m.where == where;
        });
    }
    [[nodiscard]] bool has_no_faults() const { return !has_fault_; }
    [[nodiscard]] bool have_all_probes() const {
        return !all_.empty() && std::all_of(all_.begin(), all_.end(),
                                            [](const models::Measurement& m) { return models::probe_beside_s(m) > 0; });
    }
    /// Turns where one rank runs kernels and where all of its core do, passes between them; sets of two sizes at least.
    [[nodiscard]] bool has_turns() const {
        std::set<double> sizes;
        for (const models::Measurement& m : all_) {
            sizes.insert(m.name == "turn" && m.active == m.ranks ? m.bytes : 0);
        }
        const auto alone = [](const models::Measurement& m) { return m.name == "turn" && m.active == 1; };
        return sizes.size() > 2 && has("host", "pass", "") && std::any_of(all_.begin(), all_.end(), alone);
    }

 private:
    /// A few sizes of everything are enough here.
    static bool is_skipped(const models::Measurement& m) {
        constexpr double kSmall = 32, kLarge = 32 * 1024, kCopy = 1024 * 1024, kTurn = 1.5e6;
        if (m.kind == "kernel") {
            return m.name != "gemm_forward";
        }
        if (m.name == "turn" || m.name == "pass") {
            return m.bytes > kTurn;
        }
        return m.name == "copy" ? m.bytes != kCopy : m.name != "slice" && m.bytes != kSmall && m.bytes != kLarge;
    }
    void take(const models::Measurement& m) {
        if (is_shown_) {
            std::cout << key_of(m) << ": " << m.seconds * 1e6 << " us, spread " << m.spread << ", count " << m.count
                      << "\n";
        }
        const bool is_new = keys_.insert(key_of(m)).second;
        if (!is_new || is_skipped(m) || !(m.seconds > 0) || m.seconds > 10 || m.spread < 0 || m.count < 3) {
            std::cerr << "found fault with " << key_of(m) << "\n";
            has_fault_ = true;
        }
        all_.push_back(m);
    }

    bool is_shown_;
    std::vector<models::Measurement> all_;
    std::set<std::string> keys_;
    bool has_fault_ = false;
};

/// On rank 0: all kinds of measurements are there. `shares_cores`: some ranks are bound to the same core; `one_core`:
/// all are, and the messages of a node are between ranks of that core.
bool has_all(const Observer& observer, bool shares_cores, bool one_core) {
    bool fine = observer.has_no_faults();
    for (const std::string where : {one_core ? "shared" : "near", "far"}) {
        for (const std::string name : {"ping_pong", "send", "stream"}) {
            fine = fine && observer.has("message", name, where);
        }
    }
    for (const std::string name : {"all_reduce", "reduce_scatter", "all_gather", "all_to_all"}) {
        fine = fine && observer.has("collective", name, "");
    }
    fine = fine && observer.has("kernel", "gemm_forward", "cache") && observer.has("host", "copy", "");
    return fine && (!shares_cores || (observer.has("host", "slice", "") && observer.has_turns()));
}

/// Every row has the probe beside it, whether cores count as slowed (for no probe is as short as that) or not.
bool has_probes(exec::Communicator& world) {
    bool fine = true;
    for (const double undisturbed_probe_s : {1e3, 1e-12}) {
        Observer observer(false);
        BenchSetup bench = observer.bench(world);
        bench.undisturbed_probe_s = undisturbed_probe_s;
        run_message_bench(bench);
        fine = fine && (world.world_rank() != 0 || observer.have_all_probes());
    }
    return fine;
}

}  // namespace
}  // namespace auspex::microbench

int main(int argc, char** argv) {
    using namespace auspex;
    using namespace auspex::microbench;
    const exec::MpiSession session(&argc, &argv);
    const std::size_t cores = exec::allowed_cores().size();
    const auto core = exec::bind_to_core(exec::local_rank_of(session.rank()));
    bool fine = !core || exec::allowed_cores() == std::vector<int>{*core};
    const auto world = exec::make_mpi_communicator(testing_exec::grid(1, session.size(), 1, 1));
    Observer observer(argc > 1);
    const microbench::BenchSetup bench = observer.bench(*world);
    microbench::run_message_bench(bench);
    microbench::run_sharing_bench(bench);
    microbench::run_context_switch_bench(bench);
    fine = has_probes(*world) && fine;
    fine = fine && (session.rank() != 0 || has_all(observer, core && cores < 4, core && cores == 1));
    if (!fine) {
        std::cerr << "rank " << session.rank() << " did not measure what it should\n";
        exec::MpiSession::abort(EXIT_FAILURE);
    }
    return EXIT_SUCCESS;
}
