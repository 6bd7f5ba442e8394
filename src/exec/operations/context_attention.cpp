/// @file Attention where cp ranks share each sequence: keys and values gathered, passed round a ring part by part, or
/// exchanged with queries so that a rank has all tokens and some of the heads. With latents the key that heads share
/// travels behind the heads' own keys and values.
#include "exec/kernels/attention.hpp"
#include "exec/kernels/copies.hpp"
#include "exec/operations/health.hpp"
#include "exec/operations/sublayer.hpp"

namespace auspex::exec {
namespace {

using models::GroupKind;

constexpr auto kCore = &models::Recompute::core_attention;

/// Columns of rows that are `ld` apart.
template <class T>
struct Columns {
    T* data = nullptr;
    std::size_t ld = 0, width = 0;
};

template <class P>
struct ContextAttention : SublayerContext<P, AttentionTensors<P>> {
    using Context = SublayerContext<P, AttentionTensors<P>>;
    using Context::current, Context::rank, Context::running, Context::s, Context::tensors;
    using typename Context::R;
    using typename Context::V;
    using Source = Columns<const V>;
    using Target = Columns<V>;
    const ContextPlace& place;
    ContextValues<P>& values;
    LatentTensors<P>& x;
    bool latent;

    ContextAttention(Rank<P>& on, const CurrentOperation& operation)
        : Context(on, operation, attention_of(on, operation), &models::Recompute::attention),
          place(on.context),
          values(on.running.context),
          x(tensors.latent),
          latent(on.workload().attention == models::AttentionKind::kLatent) {}

    [[nodiscard]] std::size_t split() const { return place.all_to_all; }
    [[nodiscard]] bool exchanges() const { return split() > 1; }
    /// Rows of queries here, of all sequences: of the tokens of all ranks that exchange heads.
    [[nodiscard]] std::size_t rows() const { return split() * s.t; }

    // Widths of rows with the heads that attend here.
    [[nodiscard]] std::size_t query_width() const { return (latent ? s.query() : s.q) / split(); }
    [[nodiscard]] std::size_t value_width() const { return s.value() / split(); }
    [[nodiscard]] std::size_t kv_heads() const { return s.kv_heads > split() ? s.kv_heads / split() : 1; }
    [[nodiscard]] std::size_t own_keys() const { return latent ? s.key_value() / split() : kv_heads() * s.head; }
    [[nodiscard]] std::size_t keys_width() const { return own_keys() + (latent ? s.rope : own_keys()); }
    [[nodiscard]] std::size_t exchanged_width() const { return query_width() + keys_width(); }

    /// Queries, keys and values of this rank's tokens, of the heads that the `to`-th of the ranks attends with.
    [[nodiscard]] Source queries_for(std::size_t to) const {
        const bool normed = !tensors.qk.empty();
        const Source all = latent   ? Source{x.query.data(), s.query(), 0}
                           : normed ? Source{tensors.qk.data(), s.q + s.kv, 0}
                                    : Source{tensors.qkv.data(), s.qkv, 0};
        return {all.data + to * query_width(), all.ld, query_width()};
    }
    [[nodiscard]] std::vector<Source> keys_for(std::size_t to) const {
        if (latent) {
            return {{x.key_value.data() + to * own_keys(), s.key_value(), own_keys()},
                    {x.kv_latent.data() + s.kv_rank, s.kv_latent(), s.rope}};
        }
        const bool normed = !tensors.qk.empty();
        const std::size_t first = to * s.kv_heads / split() * s.head;
        const V* const keys = (normed ? tensors.qk.data() : tensors.qkv.data()) + s.q;
        return {{keys + first, normed ? s.q + s.kv : s.qkv, own_keys()},
                {tensors.qkv.data() + s.q + s.kv + first, s.qkv, own_keys()}};
    }
    /// Where their gradients go.
    [[nodiscard]] Target query_gradients(std::size_t from) {
        Buffer<V>& all = latent ? x.d_query : running.upstream;
        return {all.data() + from * query_width(), latent ? s.query() : s.qkv, query_width()};
    }
    [[nodiscard]] std::vector<Target> key_gradients(std::size_t from) {
        if (latent) {
            return {{x.d_key_value.data() + from * own_keys(), s.key_value(), own_keys()},
                    {x.d_shared_key.data(), s.rope, s.rope}};
        }
        const std::size_t first = from * s.kv_heads / split() * s.head;
        V* const keys = running.upstream.data() + s.q + first;
        return {{keys, s.qkv, own_keys()}, {keys + s.kv, s.qkv, own_keys()}};
    }
    void make_gradients() {
        if (latent) {
            x.d_query = this->template workspace<V>(s.t * s.query());
            x.d_key_value = this->template workspace<V>(s.t * s.key_value());
            x.d_shared_key = this->template workspace<V>(s.t * s.rope);
        } else {
            running.upstream = this->template workspace<V>(s.t * s.qkv);
        }
    }

    static void pack(std::size_t count, const std::vector<Source>& from, V* to, std::size_t ld) {
        for (const Source& columns : from) {
            copy_columns(count, columns.width, columns.data, columns.ld, to, ld);
            to += columns.width;
        }
    }
    static void unpack(std::size_t count, const V* from, std::size_t ld, const std::vector<Target>& to) {
        for (const Target& columns : to) {
            copy_columns(count, columns.width, from, ld, columns.data, columns.ld);
            from += columns.width;
        }
    }

    // Gathered.

    [[nodiscard]] std::vector<std::size_t> parts_of_ranks() const {
        std::vector<std::size_t> offsets;
        for (std::size_t i = 0; i <= place.cp; ++i) {
            offsets.push_back(i * s.t * keys_width());
        }
        return offsets;
    }
    [[nodiscard]] std::size_t own_part() const { return place.index * s.t * keys_width(); }

    void gather() {
        if (!current.forward()) {
            return reduce_scatter();
        }
        tensors.context = this->template kept<V>(place.cp * s.t * keys_width(), kCore);
        pack(s.t, keys_for(0), tensors.context.data() + own_part(), keys_width());
        check_contribution(rank, current,
                           std::as_const(tensors.context).span().subspan(own_part(), s.t * keys_width()));
        rank.communicator->all_gather(GroupKind::kCp, tensors.context.data(), parts_of_ranks(), element_type<V>());
    }
    void reduce_scatter() {
        check_contribution(rank, current, std::as_const(values.d).span());
        rank.communicator->reduce_scatter(GroupKind::kCp, values.d.data(), parts_of_ranks(), element_type<V>());
        unpack(s.t, std::as_const(values.d).data() + own_part(), keys_width(), key_gradients(0));
        values.d.reset();
    }

    // Exchanged.

    /// Rows of `width` elements, as many to each rank as from it.
    void exchange(const Buffer<V>& from, std::size_t width, Buffer<V>& to) {
        check_contribution(rank, current, from.span());
        const std::vector<std::size_t> bytes(split(), s.t * width * sizeof(V));
        rank.communicator->all_to_all(GroupKind::kCpAllToAll, from.data(), bytes, to.data(), bytes);
    }

    void tokens_to_heads() {
        const std::size_t width = current.forward() ? exchanged_width() : value_width();
        Buffer<V> send = this->template workspace<V>(rows() * width);
        for (std::size_t to = 0; to < split(); ++to) {
            V* const part = send.data() + to * s.t * width;
            if (current.forward()) {
                std::vector<Source> columns = keys_for(to);
                columns.insert(columns.begin(), queries_for(to));
                pack(s.t, columns, part, width);
            } else {
                pack(s.t, {{running.x.data() + to * width, s.value(), width}}, part, width);
            }
        }
        current.forward() ? release_exchanged() : running.x.reset();
        Buffer<V>& came = current.forward() ? tensors.context : running.x;
        came = current.forward() ? this->template kept<V>(rows() * width) : this->template workspace<V>(rows() * width);
        exchange(send, width, came);
    }
    /// What nobody reads any more; norms of queries and keys, and of latents, read what was projected.
    void release_exchanged() {
        latent ? x.query.reset(), x.key_value.reset() : tensors.qk.empty() ? tensors.qkv.reset() : tensors.qk.reset();
    }

    void heads_to_tokens() {
        if (!current.forward()) {
            return gradients_to_tokens();
        }
        const std::size_t width = value_width();
        Buffer<V> came = this->template workspace<V>(rows() * width);
        exchange(tensors.heads_output, width, came);
        tensors.output = this->template kept<V>(s.t * s.value());
        for (std::size_t from = 0; from < split(); ++from) {
            unpack(s.t, std::as_const(came).data() + from * s.t * width, width,
                   {{tensors.output.data() + from * width, s.value(), width}});
        }
    }
    /// Keys that several ranks have attended to have a part of their gradient from each.
    void gradients_to_tokens() {
        const std::size_t width = exchanged_width();
        Buffer<V> came = this->template workspace<V>(rows() * width);
        exchange(values.d, width, came);
        values.d.reset();
        make_gradients();
        for (std::size_t from = 0; from < split(); ++from) {
            const V* const part = std::as_const(came).data() + from * s.t * width;
            unpack(s.t, part, width, {query_gradients(from)});
            add_key_gradients(from, part + query_width(), width);
        }
    }
    void add_key_gradients(std::size_t from, const V* part, std::size_t ld) {
        const std::vector<Target> before = key_gradients(from == 0 ? 0 : from - 1), to = key_gradients(from);
        for (std::size_t i = 0; i < to.size(); ++i) {
            const bool has_some = from > 0 && before[i].data == to[i].data;
            (has_some ? add_columns<V> : copy_columns<V>)(s.t, to[i].width, part, ld, to[i].data, to[i].ld);
            part += to[i].width;
        }
    }

    // Attention to all keys, or to a part of them.

    [[nodiscard]] bool is_ring() const { return place.ring > 1; }
    [[nodiscard]] Buffer<V>& output() { return exchanges() ? tensors.heads_output : tensors.output; }
    [[nodiscard]] std::size_t part_size() const { return rows() * keys_width(); }
    [[nodiscard]] Source queries() const {
        return exchanges() ? Source{tensors.context.data(), exchanged_width(), query_width()} : queries_for(0);
    }
    [[nodiscard]] Target d_queries() {
        return exchanges() ? Target{values.d.data(), exchanged_width(), query_width()} : query_gradients(0);
    }
    [[nodiscard]] Source keys() const {
        return is_ring()     ? Source{values.here.data(), keys_width(), 0}
               : exchanges() ? Source{tensors.context.data() + query_width(), exchanged_width(), 0}
                             : Source{tensors.context.data(), keys_width(), 0};
    }
    [[nodiscard]] Target d_keys() {
        return is_ring()     ? Target{values.here.data() + part_size(), keys_width(), 0}
               : exchanges() ? Target{values.d.data() + query_width(), exchanged_width(), 0}
                             : Target{values.d.data(), keys_width(), 0};
    }
    [[nodiscard]] AttentionSizes sizes(const AttendedRows& part, const Source& q, const Source& k) const {
        AttentionSizes z{s.sequences, s.sequence, s.heads / split(), kv_heads(), s.head, q.ld, k.ld, k.ld};
        z.rows = &part, z.window = window_of(rank, current);
        return z;
    }
    [[nodiscard]] LatentAttentionSizes latent_sizes(const AttendedRows& part, const Source& q, const Source& k) const {
        LatentAttentionSizes z{s.sequences, s.sequence, s.heads / split(), s.head, s.rope, s.value_head, k.ld};
        z.rows = &part, z.window = window_of(rank, current), z.ld_of_query = q.ld, z.ld_of_key_value = k.ld;
        return z;
    }

    void attend(std::size_t part, Buffer<V>& to, Buffer<R>& lse) {
        const Source q = queries(), k = keys();
        const AttendedRows& of = place.parts[part];
        if (latent) {
            latent_attention_forward(latent_sizes(of, q, k), q.data, k.data, k.data + own_keys(), to.data(),
                                     lse.data());
        } else {
            attention_forward(sizes(of, q, k), q.data, k.data, k.data + own_keys(), to.data(), lse.data());
        }
    }
    void attend_backward(std::size_t part, Buffer<R>& delta) {
        const Source q = queries(), k = keys();
        const Target dq = d_queries(), dk = d_keys();
        const V *const out = std::as_const(output()).data(), *const d_out = std::as_const(running.x).data();
        const R* const lse = std::as_const(tensors.lse).data();
        const AttendedRows& of = place.parts[part];
        if (latent) {
            LatentAttentionSizes z = latent_sizes(of, q, k);
            z.ld_of_d_query = dq.ld, z.ld_of_d_shared = dk.ld, z.adds = part > 0;
            latent_attention_backward(z, q.data, k.data, k.data + own_keys(), out, lse, d_out, delta.data(), dq.data,
                                      dk.data, dk.data + own_keys());
        } else {
            AttentionSizes z = sizes(of, q, k);
            z.ld_gradient = dq.ld, z.ld_key_gradient = dk.ld, z.adds = part > 0;
            attention_backward(z, q.data, k.data, k.data + own_keys(), out, lse, d_out, delta.data(), dq.data, dk.data,
                               dk.data + own_keys());
        }
    }
    void make_output() {
        if (output().empty()) {  // recomputed by itself an output that is kept is written once more
            output() = this->template kept<V>(rows() * value_width(), exchanges() ? kCore : nullptr);
        }
        tensors.lse = this->template kept<R>(s.t * s.heads, kCore);
    }
    void make_exchanged_gradients() {
        if (!exchanges()) {
            make_gradients();
        }
        if (exchanges() || place.gathers()) {
            values.d =
                this->template workspace<V>(exchanges() ? rows() * exchanged_width() : place.cp * s.t * keys_width());
        }
    }

    void attention() {
        if (is_ring()) {
            current.forward() ? attend_to_last() : attend_to_last_backward();
        } else if (current.forward()) {
            make_output();
            attend(0, output(), tensors.lse);
        } else {
            make_exchanged_gradients();
            Buffer<R> delta = this->template workspace<R>(s.t * s.heads);
            attend_backward(0, delta);
            running.x.reset();
        }
    }

    // In a ring. Parts are passed on between kernels, so that no more than two are here at a time.

    [[nodiscard]] std::size_t tensors_passed() const { return current.forward() ? 1 : 2; }

    void ring() {
        if (!values.here.empty()) {
            return send_gradients_home();
        }
        values.here = this->template workspace<V>(tensors_passed() * part_size());
        values.coming = this->template workspace<V>(tensors_passed() * part_size());
        if (exchanges()) {
            const Source keys{tensors.context.data() + query_width(), exchanged_width(), keys_width()};
            pack(rows(), {keys}, values.here.data(), keys_width());
        } else {
            pack(s.t, keys_for(0), values.here.data(), keys_width());
        }
        check_contribution(rank, current, std::as_const(values.here).span().first(part_size()));
    }
    void shift(std::size_t first, std::size_t count) {
        rank.communicator->shift(GroupKind::kCpRing, values.here.data() + first, values.coming.data() + first,
                                 count * sizeof(V));
        std::swap(values.here, values.coming);
    }
    void pass_on() { shift(0, tensors_passed() * part_size()); }

    void attention_of_others() {
        current.forward() ? make_output() : make_exchanged_gradients();
        if (!current.forward()) {
            values.delta = this->template workspace<R>(s.t * s.heads);
        }
        const bool merges = current.forward() && place.ring > 2;
        Buffer<V> part_output = this->template workspace<V>(merges ? rows() * value_width() : 0);
        Buffer<R> part_lse = this->template workspace<R>(merges ? s.t * s.heads : 0);
        for (std::size_t part = 0; part + 1 < place.ring; ++part) {
            if (!current.forward()) {
                attend_backward(part, values.delta);
            } else if (part == 0) {
                attend(part, output(), tensors.lse);
            } else {
                attend_and_merge(part, part_output, part_lse);
            }
            pass_on();
        }
    }
    void attend_and_merge(std::size_t part, Buffer<V>& part_output, Buffer<R>& part_lse) {
        attend(part, part_output, part_lse);
        merge_attention(s.t * s.heads, s.value_head, std::as_const(part_output).data(), std::as_const(part_lse).data(),
                        output().data(), tensors.lse.data());
    }
    void attend_to_last() {
        Buffer<V> part_output = this->template workspace<V>(rows() * value_width());
        Buffer<R> part_lse = this->template workspace<R>(s.t * s.heads);
        attend_and_merge(place.ring - 1, part_output, part_lse);
        values.here.reset(), values.coming.reset();
    }
    void attend_to_last_backward() {
        attend_backward(place.ring - 1, values.delta);
        values.delta.reset();
        running.x.reset();
    }
    /// What is here now is the next rank's.
    void send_gradients_home() {
        check_contribution(rank, current, std::as_const(values.here).span().subspan(part_size()));
        shift(part_size(), part_size());
        const V* const home = std::as_const(values.here).data() + part_size();
        if (exchanges()) {
            unpack(rows(), home, keys_width(), {{values.d.data() + query_width(), exchanged_width(), keys_width()}});
        } else {
            unpack(s.t, home, keys_width(), key_gradients(0));
        }
        values.here.reset(), values.coming.reset();
    }
};

}  // namespace

template <class P>
bool run_context_operation(Rank<P>& rank, const CurrentOperation& current) {
    const auto on = [&] { return ContextAttention<P>(rank, current); };
    switch (current.op.kind) {
        case schedule::OpKind::kKeyValueGather: on().gather(); return true;
        case schedule::OpKind::kKeyValueRing: on().ring(); return true;
        case schedule::OpKind::kTokensToHeads: on().tokens_to_heads(); return true;
        case schedule::OpKind::kHeadsToTokens: on().heads_to_tokens(); return true;
        case schedule::OpKind::kAttentionOfOthers: on().attention_of_others(); return true;
        case schedule::OpKind::kAttention:
            if (rank.context.cp > 1) {
                on().attention();
            }
            return rank.context.cp > 1;
        default: return false;
    }
}

template bool run_context_operation(Rank<Fp32>&, const CurrentOperation&);
template bool run_context_operation(Rank<Fp64>&, const CurrentOperation&);
template bool run_context_operation(Rank<Bf16Precision>&, const CurrentOperation&);
template bool run_context_operation(Rank<Bf16WithFp32Gradients>&, const CurrentOperation&);

}  // namespace auspex::exec
