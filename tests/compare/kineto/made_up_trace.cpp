/// @file Kineto's JSON of made-up steps.
#include "made_up_trace.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "../../schedule/plan_fixture.hpp"
#include "base/json.hpp"
#include "made_up_names.hpp"

namespace auspex::testing_traces {
namespace {

/// Microseconds since the epoch with nanoseconds behind the point, as PyTorch 2.2 has them.
std::string time_text(double seconds) {
    constexpr std::int64_t kEpoch = 1'711'000'000'000'000'000;  // nanoseconds
    const std::int64_t at = kEpoch + std::llround(seconds * 1e9);
    std::string decimals = std::to_string(at % 1000);
    decimals.insert(0, 3 - decimals.size(), '0');
    return std::to_string(at / 1000) + "." + decimals;
}

std::string length_text(double seconds) {
    const std::int64_t ns = std::llround(seconds * 1e9);
    std::string decimals = std::to_string(ns % 1000);
    decimals.insert(0, 3 - decimals.size(), '0');
    return std::to_string(ns / 1000) + "." + decimals;
}

class Writer {
 public:
    Writer(const models::Inputs& inputs, const predict::SimulatedStep& step, int rank, const Edits& edits)
        : step_(step), program_(step.program), edits_(edits), rank_(kineto::predicted_rank(inputs, step, rank)) {
        out_ = "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"";
        out_ += edits.is_xpu ? "Intel(R) Data Center GPU Max 1550" : "NVIDIA H100 80GB HBM3";
        out_ += "\", \"totalGlobalMem\": 85024112640, \"numSms\": 132}],\n";
        if (edits.has_job) {
            out_ += "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": " + std::to_string(rank) +
                    ", \"world_size\": " + std::to_string(step.layout.tiles) +
                    ", \"pg_count\": 2, \"pg_config\": [{\"pg_name\": \"0\", \"ranks\": []}]},\n";
        }
        out_ += "\"record_shapes\": 1, \"traceEvents\": [\n";
        out_ += R"({"ph": "M", "name": "process_name", "pid": 4242, "tid": 0, "ts": 0, "args": {"name": "python"}})";
        out_ +=
            ",\n"
            R"x({"name": "PyTorch Profiler (0)", "ph": "X", "cat": "Trace", "pid": "Spans", "tid": "x", "ts": 1, "dur": 1})x";
    }

    std::string write() && {
        for (int i = 0; i < edits_.steps; ++i) {
            write_step(i);
        }
        // The next one begins: what the host does behind the last kernel is known then.
        mark(edits_.steps, now_, now_ + 1e-3);
        kernel({"aten::embedding", "void at::native::vectorized_gather_kernel<16, long>", ""}, now_, 10e-6, {}, "7",
               now_ - 5e-6);
        return std::move(out_) + "\n], \"traceName\": \"made up\"}\n";
    }

 private:
    void add(const std::string& event) { out_ += ",\n{" + event + "}"; }

    void mark(int number, double begin, double end) {
        if (edits_.has_steps) {
            add("\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#" + std::to_string(number + 5) +
                "\", \"pid\": 4242, \"tid\": 4242, \"ts\": " + time_text(begin - 300e-6) +
                ", \"dur\": " + length_text(end - begin) + ", \"args\": {\"External id\": 1}");
        }
    }

    void write_step(int number) {
        const double begin = now_;
        shift_ = begin;
        const schedule::Role& role = program_.roles[static_cast<std::size_t>(rank_.stage)];
        plan_edits();
        std::size_t slot = 0;
        spans_ = 0;
        last_end_ = begin;
        for (std::size_t use = 0; use < role.order.size(); ++use) {
            for (const schedule::Operation& op : program_.operations_of(program_.blocks[role.order[use].block])) {
                if (op.comm == CommKind::kNone) {
                    write_compute(op, role.order[use].micro_batch, slot, use);
                } else if (op.comm == CommKind::kReceive) {
                    is_receiving_ = true;
                }
            }
        }
        write_messages();
        now_ = begin + to_seconds(rank_.step) + (shift_ - begin) + edits_.step_host_s;
        mark(number, begin, now_);
    }

    /// After how many kernels the device waits, or an unknown kernel runs.
    void plan_edits() {
        const std::size_t all = rank_.slots.size();
        next_gap_ = edits_.host_gaps > 0 ? all / static_cast<std::size_t>(edits_.host_gaps + 1) : all + 1;
        next_unknown_ =
            edits_.unknown_kernels > 0 ? all / static_cast<std::size_t>(edits_.unknown_kernels + 1) : all + 1;
        gaps_left_ = edits_.host_gaps;
        unknown_left_ = edits_.unknown_kernels;
        messages_shift_.clear();
    }

    const schedule::Span* span_of(const schedule::Operation& op, int micro_batch) {
        while (spans_ < rank_.spans.size() && rank_.spans[spans_].track != 0) {
            ++spans_;
        }
        if (spans_ >= rank_.spans.size()) {
            return nullptr;
        }
        const schedule::Span& span = rank_.spans[spans_];
        const bool is_it = span.name == schedule::operation_name_index(op.kind, op.phase) && span.layer == op.layer &&
                           span.micro_batch == micro_batch;
        spans_ += is_it ? 1 : 0;
        return is_it ? &span : nullptr;
    }

    double factor_of(const Slot& slot) const {
        return slot.type == models::KernelType::kGemm     ? edits_.products
               : slot.type == models::KernelType::kMemory ? edits_.memory
                                                          : 1;
    }

    void write_compute(const schedule::Operation& op, int micro_batch, std::size_t& slot, std::size_t use) {
        const schedule::Span* const span = span_of(op, micro_batch);
        const auto index = program_.index_of(op);
        const std::size_t first = slot;
        double kernels = 0, launches = 0;
        while (slot < rank_.slots.size() && rank_.slots[slot].use == use && rank_.slots[slot].operation == index) {
            kernels += rank_.slots[slot].kernel_s;
            launches += rank_.slots[slot].launch_s;
            ++slot;
        }
        if (span == nullptr || first == slot) {
            if (span != nullptr) {
                last_end_ = to_seconds(span->end) + shift_;
            }
            return;
        }
        double at = to_seconds(span->start) + shift_;
        if (is_receiving_) {
            write_receive(last_end_, at);
            is_receiving_ = false;
        }
        // Where kernels slow one another the span is longer than its parts.
        const double stretch = (to_seconds(span->end - span->start) - launches) / std::max(kernels, 1e-15);
        for (std::size_t j = first; j < slot; ++j) {
            at = write_slot(rank_.slots[j], at, stretch);
        }
        last_end_ = at;
    }

    double write_slot(const Slot& slot, double at, double stretch) {
        const int launches = std::max(1, static_cast<int>(std::lround(slot.launches)));
        for (int i = 0; i < launches; ++i) {
            double launched = at - 150e-6;
            if (gaps_left_ > 0 && --next_gap_ == 0) {
                --gaps_left_;
                next_gap_ = rank_.slots.size() / static_cast<std::size_t>(edits_.host_gaps + 1);
                at += edits_.host_gap_s;
                shift_ += edits_.host_gap_s;
                launched = at - 1e-9;
            }
            if (unknown_left_ > 0 && --next_unknown_ == 0) {
                --unknown_left_;
                next_unknown_ = rank_.slots.size() / static_cast<std::size_t>(edits_.unknown_kernels + 1);
                kernel({"my_extension::mystery", "void mystery_kernel<float>", ""}, at, edits_.unknown_s, {}, "7",
                       launched);
                at += edits_.unknown_s;
                shift_ += edits_.unknown_s;
            }
            at += slot.launch_s / launches;
            const double plain = slot.kernel_s * stretch / launches;
            const double length = plain * factor_of(slot);
            shift_ += length - plain;
            kernel_of(slot, at, length, launched);
            at += length;
        }
        messages_shift_.push_back({at - shift_, shift_});
        return at;
    }

    void kernel_of(const Slot& slot, double at, double length, double launched) {
        Names names = names_of(slot, edits_.is_xpu);
        std::string dims;
        if (edits_.has_shapes && slot.type == models::KernelType::kGemm) {
            const kineto::Product& p = slot.product;
            const auto n = [](double value) { return std::to_string(std::llround(value)); };
            // Weight gradients come out transposed, as PyTorch computes them.
            const bool is_weight = program_.operations[slot.operation].phase == schedule::Phase::kBackwardWeight;
            const double rows = is_weight && p.groups == 1 ? p.n : p.m,
                         columns = is_weight && p.groups == 1 ? p.m : p.n;
            dims = p.groups > 1 ? "[[" + n(p.groups) + "," + n(rows) + "," + n(p.k) + "],[" + n(p.groups) + "," +
                                      n(p.k) + "," + n(columns) + "]]"
                                : "[[" + n(rows) + "," + n(p.k) + "],[" + n(p.k) + "," + n(columns) + "]]";
            names.op = p.groups > 1 ? "aten::bmm" : names.op;
        }
        if (slot.pass == kineto::Pass::kOptimizer) {
            names.node.clear();
        } else if (slot.pass == kineto::Pass::kForward) {
            names.node.clear();
        }
        kernel(names, at, length, dims, "7", launched, slot.pass == kineto::Pass::kRecompute);
    }

    /// Host operation (inside a node of autograd where one is named), the runtime's call in it, the kernel, their
    /// arrow.
    void kernel(const Names& names, double at, double length, const std::string& dims, const std::string& stream,
                double launched, bool is_recorded = false, const std::string& facts = {}) {
        ++id_;
        const std::string id = std::to_string(id_);
        launched = std::max(launched, last_launch_ + 60e-9);
        last_launch_ = launched;
        const std::string thread = names.node.empty() ? "4242" : "4300";
        if (!names.node.empty()) {
            const std::string node = names.node.starts_with("torch::") ? names.node : names.node + "Backward0";
            host("autograd::engine::evaluate_function: " + node, launched - 50e-9, 58e-9, thread,
                 "\"Sequence number\": 7");
        }
        std::string arguments = "\"External id\": " + id;
        arguments += dims.empty()
                         ? ""
                         : ", \"Input Dims\": " + dims + ", \"Input type\": [\"c10::BFloat16\", \"c10::BFloat16\"]";
        arguments += is_recorded ? ", \"Sequence number\": " + id : "";
        host(names.op, launched - 40e-9, 45e-9, thread, arguments);
        if (edits_.has_launches) {
            add(std::string("\"ph\": \"X\", \"cat\": \"") + (edits_.is_xpu ? "xpu_runtime" : "cuda_runtime") +
                "\", \"name\": \"" + (edits_.is_xpu ? "urEnqueueKernelLaunch" : "cudaLaunchKernel") +
                "\", \"pid\": 4242, \"tid\": " + thread + ", \"ts\": " + time_text(launched - 20e-9) +
                ", \"dur\": 0.020, \"args\": {\"External id\": " + id + ", \"cbid\": 211, \"correlation\": " + id +
                "}");
        }
        add("\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" + names.kernel + "\", \"pid\": 0, \"tid\": " + stream +
            ", \"ts\": " + time_text(at) + ", \"dur\": " + length_text(length) + ", \"args\": {\"External id\": " + id +
            ", \"device\": 0, \"context\": 1, \"stream\": " + stream + ", \"correlation\": " + id +
            ", \"grid\": [132, 1, 1], \"block\": [384, 1, 1]" + facts + "}");
        add("\"ph\": \"s\", \"id\": " + id + ", \"pid\": 4242, \"tid\": " + thread +
            ", \"ts\": " + time_text(launched) + ", \"cat\": \"ac2g\", \"name\": \"ac2g\"");
    }

    void host(const std::string& name, double at, double length, const std::string& thread,
              const std::string& arguments) {
        add("\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"" + name + "\", \"pid\": 4242, \"tid\": " + thread +
            ", \"ts\": " + time_text(at) + ", \"dur\": " + length_text(length) + ", \"args\": {" + arguments + "}");
    }

    std::string facts_of(CommKind kind, double bytes, int group) const {
        if (!edits_.has_collective_facts) {
            return {};
        }
        const std::string elements = std::to_string(std::llround(bytes));
        const bool gathers = kind == CommKind::kAllGather, scatters = kind == CommKind::kReduceScatter;
        const std::string part = std::to_string(std::llround(bytes / group));
        return std::string(", \"Collective name\": \"") + collective_names(kind).fact +
               "\", \"In msg nelems\": " + (gathers ? part : elements) +
               ", \"Out msg nelems\": " + (scatters ? part : elements) + ", \"Group size\": " + std::to_string(group) +
               ", \"dtype\": \"Byte\", \"Process Group Name\": \"" + std::to_string(group) + "\"";
    }

    void write_receive(double from, double until) {
        if (until - from < 1e-9) {
            return;
        }
        double bytes = 0;
        for (const kineto::ExpectedMessage& message : rank_.messages) {
            bytes = message.comm == CommKind::kSend || message.comm == CommKind::kReceive
                        ? std::max(bytes, message.bytes)
                        : bytes;
        }
        kernel({"c10d::recv_", collective_names(CommKind::kReceive).kernel, ""}, from, until - from, {}, "33",
               from - 100e-6, false, facts_of(CommKind::kReceive, bytes, 2));
    }

    /// Of streams beside compute; moved as far as the compute before them was.
    void write_messages() {
        for (const kineto::ExpectedMessage& message : rank_.messages) {
            if (message.comm == CommKind::kReceive || message.seconds <= 0) {
                continue;
            }
            const auto after = std::upper_bound(messages_shift_.begin(), messages_shift_.end(),
                                                std::pair(message.start_s + 1e-9, 1e9));
            const double shift = after == messages_shift_.begin() ? now_ : (after - 1)->second;
            const auto factor = edits_.collectives.find(message.comm);
            const double length = message.seconds * (factor == edits_.collectives.end() ? 1 : factor->second);
            const CollectiveNames names = collective_names(message.comm);
            const std::string stream = std::to_string(20 + static_cast<int>(message.group));
            last_launch_ = -1;  // communication has a thread of its own here: its launches are in no order with others
            kernel({std::string("c10d::") + names.fact, names.kernel, ""}, message.start_s + shift, length, {}, stream,
                   message.start_s + shift - 120e-6, false, facts_of(message.comm, message.bytes, message.group_size));
        }
        last_launch_ = -1;
    }

    const predict::SimulatedStep& step_;
    const schedule::Program& program_;
    const Edits& edits_;
    kineto::PredictedRank rank_;
    std::string out_;
    double now_ = 1, shift_ = 0, last_end_ = 0, last_launch_ = -1;
    std::size_t spans_ = 0, next_gap_ = 0, next_unknown_ = 0;
    int gaps_left_ = 0, unknown_left_ = 0;
    long id_ = 10;
    std::vector<std::pair<double, double>> messages_shift_;
    bool is_receiving_ = false;
};

}  // namespace

std::string trace_text(const models::Inputs& inputs, const predict::SimulatedStep& step, int rank, const Edits& edits) {
    return Writer(inputs, step, rank, edits).write();
}

TraceFolder::TraceFolder() {
    static int count = 0;
    path_ = (std::filesystem::temp_directory_path() /
             ("auspex_traces_" + std::to_string(getpid()) + "_" + std::to_string(++count)))
                .string();
    std::filesystem::create_directories(path_);
}

TraceFolder::~TraceFolder() {
    std::error_code status;
    std::filesystem::remove_all(path_, status);
}

std::string TraceFolder::write(const std::string& name, const std::string& text) const {
    const std::string file = path_ + "/" + name;
    std::ofstream(file, std::ios::binary) << text;
    return file;
}

predict::SimulatedStep played(const models::Inputs& inputs, int tiles) {
    predict::PredictOptions options;
    options.tiles = tiles;
    options.timeline = options.play_every_operation = true;
    return predict::simulate_step(inputs, options, false);
}

models::Inputs inputs_of(const std::string& machine, const std::string& stack, const std::string& workload,
                         const std::string& plan, const std::vector<std::pair<std::string, std::string>>& changes) {
    std::map<std::string, JsonDocument> documents{{"machine", testing_plans::document("machines", machine)},
                                                  {"stack", testing_plans::document("stacks", stack)},
                                                  {"workload", testing_plans::document("workloads", workload)},
                                                  {"plan", testing_plans::document("plans", plan)}};
    for (const auto& [path, value] : changes) {
        const std::size_t dot = path.find('.');
        documents.at(path.substr(0, dot)).set(path.substr(dot + 1), value);
    }
    return models::load_inputs(documents.at("machine"), documents.at("stack"), documents.at("workload"),
                               documents.at("plan"));
}

}  // namespace auspex::testing_traces
