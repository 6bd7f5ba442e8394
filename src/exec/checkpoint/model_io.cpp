/// @file Whole models to and from one file: rank 0 writes what the owners send it, tensor by tensor.
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <sstream>

#include "base/error.hpp"
#include "exec/checkpoint/checkpoint.hpp"
#include "exec/checkpoint/durable_file.hpp"
#include "exec/state/optimizer.hpp"
#include "exec/state/router_balance.hpp"
#include "exec/state/tensor_slices.hpp"
#include "exec/transport/agreement.hpp"

namespace auspex::exec {
namespace {

using PartsByName = std::map<std::string, TensorPart>;

/// Biases of routers are among weights, and have no gradients.
template <class P>
PartsByName owned_by_name(const Rank<P>& rank, StateKind kind) {
    PartsByName parts;
    for (const TensorPart& part : owned_parts(rank)) {
        parts.emplace(part.parameter->name, part);
    }
    for (const TensorPart& part : balance_parts(rank, true)) {
        if (kind == StateKind::kWeight) {
            parts.emplace(part.parameter->name, part);
        }
    }
    return parts;
}

std::vector<const Parameter*> tensors_of(const ParameterTable& table, StateKind kind) {
    std::vector<const Parameter*> tensors = all_tensors(table);
    for (const Parameter& p : table.balance) {
        if (kind == StateKind::kWeight) {
            tensors.push_back(&p);
        }
    }
    return tensors;
}

/// One part of a tensor on its way to rank 0: this, then its elements as fp32.
struct PartMessage {
    Slice slice;
    std::size_t begin = 0, end = 0;
};

template <class P>
std::vector<std::byte> message_of(const Rank<P>& rank, StateKind kind, const TensorPart& part) {
    const PartMessage head{slice_of(*part.parameter), part.begin, part.end};
    std::vector<float> values(part.size());
    copy_state(rank, kind, part, values);
    std::vector<std::byte> message(sizeof head + part.size() * sizeof(float));
    std::memcpy(message.data(), &head, sizeof head);
    std::memcpy(message.data() + sizeof head, values.data(), values.size() * sizeof(float));
    return message;
}

/// Puts a part where it belongs in the whole tensor; returns how many elements it has.
std::size_t store_part(std::span<const std::byte> message, std::span<float> tensor) {
    PartMessage head;
    std::memcpy(&head, message.data(), sizeof head);
    const std::byte* values = message.data() + sizeof head;
    for_each_run(head.slice, head.begin, head.end, [&](std::size_t whole, std::size_t at, std::size_t count) {
        std::memcpy(tensor.data() + whole, values + (at - head.begin) * sizeof(float), count * sizeof(float));
    });
    return head.end - head.begin;
}

/// The other ranks: say what they have, then send each tensor's part when rank 0 asks for it, so that no more than one
/// tensor is on its way.
template <class P>
void send_parts(Rank<P>& rank, StateKind kind) {
    const PartsByName parts = owned_by_name(rank, kind);
    std::string names;
    for (const auto& [name, part] : parts) {
        names += name + "\n";
    }
    rank.communicator->send_bytes(0, std::as_bytes(std::span(names)));
    const ParameterTable model = whole_model(rank.workload());
    for (const Parameter* p : tensors_of(model, kind)) {
        const auto found = parts.find(p->name);
        if (found != parts.end()) {
            static_cast<void>(rank.communicator->receive_bytes(0));
            rank.communicator->send_bytes(0, message_of(rank, kind, found->second));
        }
    }
}

std::map<std::string, std::vector<int>> receive_owners(Communicator& communicator) {
    std::map<std::string, std::vector<int>> owners;
    for (int other = 1; other < communicator.world_size(); ++other) {
        const std::vector<std::byte> bytes = communicator.receive_bytes(other);
        std::istringstream names(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
        for (std::string name; std::getline(names, name);) {
            owners[name].push_back(other);
        }
    }
    return owners;
}

/// Rank 0: calls take(tensor's elements) for every tensor of the model, in the order of the whole model's table.
template <class P, class Take>
void collect_tensors(Rank<P>& rank, StateKind kind, const std::vector<const Parameter*>& tensors, const Take& take) {
    Communicator& communicator = *rank.communicator;
    const PartsByName own = owned_by_name(rank, kind);
    const auto owners = receive_owners(communicator);
    for (const Parameter* p : tensors) {
        std::vector<float> whole(p->size);
        std::size_t placed = 0;
        if (const auto found = own.find(p->name); found != own.end()) {
            placed += store_part(message_of(rank, kind, found->second), whole);
        }
        if (const auto found = owners.find(p->name); found != owners.end()) {
            for (const int other : found->second) {
                const std::byte request[1]{};
                communicator.send_bytes(other, request);
                placed += store_part(communicator.receive_bytes(other), whole);
            }
        }
        AUSPEX_CHECK(placed == whole.size(), "the ranks own every element once");
        take(std::span<const float>(whole));
    }
}

template <class P>
std::string write_collected(Rank<P>& rank, StateKind kind, const std::string& file) {
    const ParameterTable model = whole_model(rank.workload());
    const std::vector<const Parameter*> tensors = tensors_of(model, kind);
    std::vector<NamedShape> shapes;
    for (const Parameter* p : tensors) {
        shapes.push_back({p->name, p->shape});
    }
    const auto header = [&](const std::string& digest) {
        return weights_file_header(shapes,
                                   {{"format", "pt"}, {"workload", rank.workload().name}, {kDataDigestKey, digest}});
    };
    const std::string partial = file + ".partial";
    std::optional<DurableFile> output;
    Sha256 data;
    std::string problem = problem_of([&] {
        output.emplace(partial);
        output->write(header(data.hex()));  // as long as the one that takes its place
    });
    collect_tensors(rank, kind, tensors, [&](std::span<const float> values) {
        if (problem.empty()) {
            problem = problem_of([&] {
                const std::span<const std::byte> bytes = std::as_bytes(values);
                output->write(bytes);
                data.add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
            });
        }
    });
    if (problem.empty()) {
        problem = problem_of([&] {
            output->overwrite_begin(header(data.hex()));
            output->finish();
            move_into_place(partial, file);
        });
    }
    if (!problem.empty()) {
        output.reset();
        static_cast<void>(problem_of([&] { remove_file(partial); }));
    }
    return problem;
}

template <class P>
void write_whole(Rank<P>& rank, StateKind kind, const std::string& file) {
    std::string problem;
    if (rank.communicator->world_rank() == 0) {
        problem = write_collected(rank, kind, file);
    } else {
        send_parts(rank, kind);
    }
    problem = first_problem(*rank.communicator, problem);
    if (!problem.empty()) {
        throw CheckpointError(file + " is not written: " + problem);
    }
}

std::string shape_text(std::span<const std::int64_t> shape) {
    std::string text;
    for (const std::int64_t extent : shape) {
        text += (text.empty() ? "" : ", ") + std::to_string(extent);
    }
    return "[" + text + "]";
}

void check_tensors(const WeightsFile& weights, const std::vector<const Parameter*>& tensors) {
    for (const Parameter* p : tensors) {
        const WeightsFile::Entry& entry = find_tensor(weights, p->name);
        if (entry.shape != p->shape) {
            throw InputError(weights.file, "found " + p->name + " with shape " + shape_text(entry.shape) +
                                               "; expected " + shape_text(p->shape));
        }
    }
}

void read_slice(const WeightsFile& weights, const Parameter& p, std::span<float> to) {
    const ReadFile input(weights.file);
    const std::size_t begin = weights.data_begin + find_tensor(weights, p.name).begin;
    for_each_run(slice_of(p), 0, p.size, [&](std::size_t whole, std::size_t at, std::size_t count) {
        input.read(begin + whole * sizeof(float), std::as_writable_bytes(to.subspan(at, count)));
    });
}

/// One of the ranks that hold the same slices reads; all get them. Returns what went wrong on this rank.
template <class P>
std::string read_slices(Rank<P>& rank, const WeightsFile& weights, const std::vector<TensorPart>& parts) {
    std::string problem;
    std::vector<float> slice;
    for (const TensorPart& part : parts) {
        const models::GroupKind replicas = part.is_expert ? models::GroupKind::kExpertDp : models::GroupKind::kDenseDp;
        slice.assign(part.size(), 0);
        if (rank.communicator->group_rank(replicas) == 0 && problem.empty()) {
            problem = problem_of([&] { read_slice(weights, *part.parameter, slice); });
        }
        rank.communicator->broadcast(replicas, 0, slice.data(), slice.size() * sizeof(float));
        store_state(rank, StateKind::kWeight, part, slice);
    }
    return problem;
}

/// Of an array all tensors, whole slices.
std::vector<TensorPart> whole_slices(const std::vector<Parameter>& table, bool experts) {
    std::vector<TensorPart> parts;
    for (const Parameter& p : table) {
        parts.push_back({&p, experts, 0, p.size});
    }
    return parts;
}

}  // namespace

template <class P>
void write_model(Rank<P>& rank, const std::string& file) {
    write_whole(rank, StateKind::kWeight, file);
}

template <class P>
void write_gradients(Rank<P>& rank, const std::string& file) {
    write_whole(rank, StateKind::kGradient, file);
}

template <class P>
void read_model(Rank<P>& rank, const std::string& file) {
    WeightsFile weights;
    const bool reads = rank.communicator->group_rank(models::GroupKind::kDenseDp) == 0 ||
                       rank.communicator->group_rank(models::GroupKind::kExpertDp) == 0;
    agree_on_input(*rank.communicator, problem_of([&] {
        if (reads) {
            weights = open_weights_file(file);
            check_tensors(weights, tensors_of(rank.table, StateKind::kWeight));
        }
        if (rank.communicator->world_rank() == 0) {
            check_data_digest(weights);
        }
    }));
    std::vector<TensorPart> parts = whole_slices(rank.table.dense, false);
    for (const std::vector<TensorPart>& more : {whole_slices(rank.table.experts, true), balance_parts(rank, false)}) {
        parts.insert(parts.end(), more.begin(), more.end());
    }
    agree_on_input(*rank.communicator, read_slices(rank, weights, parts));
    OptimizerState<P>& state = *rank.optimizer;
    for (Buffer<float>* moments : {&state.dense_m, &state.dense_v, &state.experts_m, &state.experts_v}) {
        std::fill_n(moments->data(), moments->size(), 0.0F);
    }
}

#define AUSPEX_INSTANTIATE(P)                                       \
    template void write_model<P>(Rank<P>&, const std::string&);     \
    template void write_gradients<P>(Rank<P>&, const std::string&); \
    template void read_model<P>(Rank<P>&, const std::string&);
AUSPEX_INSTANTIATE(Fp32)
AUSPEX_INSTANTIATE(Fp64)
AUSPEX_INSTANTIATE(Bf16Precision)
AUSPEX_INSTANTIATE(Bf16WithFp32Gradients)
#undef AUSPEX_INSTANTIATE

}  // namespace auspex::exec
