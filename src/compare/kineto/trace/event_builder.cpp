/// @file Kineto's keys and categories.
#include "compare/kineto/trace/event_builder.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "compare/kineto/trace/name_parts.hpp"

namespace auspex::kineto {
namespace {

constexpr std::size_t kMostKept = 16'000'000;
constexpr std::size_t kMostOperands = 8;

std::int64_t whole_of(std::string_view text) {
    std::int64_t value = -1;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    return result.ec == std::errc() ? value : -1;
}

std::int64_t product_of(const Dims& dims) {
    double product = 1;
    for (const std::int64_t size : dims) {
        product *= static_cast<double>(std::max<std::int64_t>(size, 0));
    }
    return product < 1e15 ? static_cast<std::int64_t>(product) : std::int64_t{1'000'000'000'000'000};
}

/// "ProfilerStep#7": 7.
std::optional<std::int64_t> step_of(std::string_view name) {
    constexpr std::string_view kMark = "ProfilerStep#";
    if (!name.starts_with(kMark)) {
        return {};
    }
    const std::int64_t number = whole_of(name.substr(kMark.size()));
    return number >= 0 ? std::optional(number) : std::nullopt;
}

std::optional<int> small_number(std::string_view text) {
    constexpr std::int64_t kMost = 100'000'000;
    const std::int64_t value = whole_of(text);
    return value >= 0 && value <= kMost ? std::optional(static_cast<int>(value)) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> nanoseconds_of(std::string_view microseconds) {
    constexpr std::int64_t kMostMicroseconds = 4'000'000'000'000'000;  // 126 years
    const std::size_t dot = microseconds.find_first_of(".eE");
    std::int64_t whole = 0;
    if (dot == std::string_view::npos || microseconds[dot] == '.') {
        const std::string_view front = microseconds.substr(0, dot);
        const auto result = std::from_chars(front.data(), front.data() + front.size(), whole);
        if (result.ec != std::errc() || result.ptr != front.data() + front.size() ||
            std::abs(whole) > kMostMicroseconds) {
            return {};
        }
        std::string decimals(dot == std::string_view::npos ? "" : microseconds.substr(dot + 1));
        if (decimals.find_first_not_of("0123456789") == std::string::npos) {
            decimals.resize(3, '0');
            const bool is_negative = front.starts_with('-');
            return whole * 1000 + (is_negative ? -1 : 1) * whole_of(decimals);
        }
    }
    double value = 0;
    const auto result = std::from_chars(microseconds.data(), microseconds.data() + microseconds.size(), value);
    if (result.ec != std::errc() || !(std::abs(value) < static_cast<double>(kMostMicroseconds))) {
        return {};
    }
    return static_cast<std::int64_t>(std::llround(value * 1000));
}

double element_bytes(const std::string& type) {
    const std::string name = lower_case(type);
    const auto has = [&name](std::string_view word) { return name.find(word) != std::string::npos; };
    return has("double") || has("long") || has("int64") || has("float64")                     ? 8
           : has("bfloat16") || has("half") || has("float16") || has("short") || has("int16") ? 2
           : has("float8") || has("char") || has("byte") || has("bool") || has("int8")        ? 1
           : has("float") || has("int")                                                       ? 4
                                                                                              : 0;
}

void EventBuilder::begin_object() { open(false); }
void EventBuilder::begin_array() { open(true); }
void EventBuilder::end_object() { close(); }
void EventBuilder::end_array() { close(); }
void EventBuilder::key(std::string_view name) { key_ = name; }
void EventBuilder::text(std::string_view value) { scalar(value, false); }
void EventBuilder::number(double, std::string_view digits) { scalar(digits, true); }
void EventBuilder::word(const bool* value) { scalar(value == nullptr ? "null" : *value ? "true" : "false", false); }

void EventBuilder::open(bool is_array) {
    const Place above = place();
    Place next = Place::kNothing;
    if (places_.empty()) {
        next = is_array ? Place::kEvents : Place::kRoot;
    } else if (above == Place::kRoot && is_array && key_ == "traceEvents") {
        next = Place::kEvents;
    } else if (above == Place::kRoot && is_array && key_ == "deviceProperties") {
        next = Place::kDevices;
    } else if (above == Place::kRoot && !is_array && key_ == "distributedInfo") {
        next = Place::kJob;
    } else if (above == Place::kDevices && !is_array) {
        next = Place::kDevices;
    } else if (above == Place::kEvents && !is_array) {
        next = Place::kEvent;
        event_ = Event();
    } else if (above == Place::kEvent && !is_array && key_ == "args") {
        next = Place::kArguments;
    } else if (above == Place::kArguments && is_array && (key_ == "Input Dims" || key_ == "Input dims")) {
        next = Place::kDims;
        event_.has_dims = true;
        open_dims_.clear();
    } else if (above == Place::kArguments && is_array && (key_ == "Input type" || key_ == "Input Types")) {
        next = Place::kTypes;
    } else if (above == Place::kDims && is_array) {
        next = Place::kDims;
        open_dims_.emplace_back();
    }
    places_.push_back(next);
}

void EventBuilder::close() {
    const Place closed = place();
    places_.pop_back();
    if (closed == Place::kDims && place() == Place::kDims) {
        const Dims dims = std::move(open_dims_.back());
        open_dims_.pop_back();
        if (!open_dims_.empty()) {  // a tensor of a list
            Dims& list = open_dims_.back();
            list.resize(1, 0);
            list.front() += product_of(dims);
        } else if (event_.operands.dims.size() < kMostOperands) {
            event_.operands.dims.push_back(dims);
        }
    }
    if (closed == Place::kEvent) {
        finish_event();
    }
    if (closed == Place::kDevices && place() == Place::kDevices) {
        device_is_named_ = device_is_named_ || !trace_.device.empty();
    }
    key_.clear();
}

void EventBuilder::scalar(std::string_view text, bool is_number) {
    switch (place()) {
        case Place::kEvent: take_event_field(text); return;
        case Place::kArguments: take_argument(text); return;
        case Place::kJob: take_job_field(text); return;
        case Place::kDims:
            if (is_number && !open_dims_.empty() && open_dims_.back().size() < kMostOperands) {
                open_dims_.back().push_back(whole_of(text));
            }
            return;
        case Place::kTypes:
            if (event_.operands.type.empty() && text != "Scalar" && text != "ScalarList") {
                event_.operands.type = text;
            }
            return;
        case Place::kDevices:
            if (key_ == "name" && !device_is_named_) {
                trace_.device = text;
            }
            return;
        default: return;
    }
}

void EventBuilder::take_event_field(std::string_view text) {
    if (key_ == "ph") {
        event_.phase = text;
    } else if (key_ == "cat") {
        event_.category = text;
    } else if (key_ == "name") {
        event_.name = text;
    } else if (key_ == "pid") {
        event_.process = text;
    } else if (key_ == "tid") {
        event_.thread = text;
    } else if (key_ == "ts") {
        event_.start = nanoseconds_of(text);
    } else if (key_ == "dur") {
        event_.has_duration = true;
        event_.duration = nanoseconds_of(text);
    }
}

void EventBuilder::take_argument(std::string_view text) {
    const auto number = [&] { return whole_of(text); };
    if (key_ == "External id" || key_ == "external id") {
        event_.external_id = number();
    } else if (key_ == "Sequence number") {
        event_.sequence = number();
    } else if (key_ == "correlation") {
        event_.correlation = number();
    } else if (key_ == "stream") {
        event_.stream = text;
    } else if (key_ == "Collective name") {
        event_.collective.name = text;
    } else if (key_ == "Process Group Name") {
        event_.collective.process_group = text;
    } else if (key_ == "dtype") {
        event_.collective.type = text;
    } else if (key_ == "In msg nelems") {
        event_.collective.in_elements = number();
    } else if (key_ == "Out msg nelems") {
        event_.collective.out_elements = number();
    } else if (key_ == "Group size") {
        event_.collective.group_size = number();
    }
}

void EventBuilder::take_job_field(std::string_view text) {
    if (key_ == "rank") {
        trace_.rank = small_number(text);
    } else if (key_ == "world_size") {
        trace_.world_size = small_number(text);
    } else if (key_ == "backend") {
        trace_.backend = text;
    }
}

void EventBuilder::finish_event() {
    ++trace_.events;
    if (event_.phase != "X") {
        return;
    }
    const std::string category = lower_case(event_.category);
    const auto is_one_of = [&category](std::initializer_list<std::string_view> words) {
        return std::find(words.begin(), words.end(), category) != words.end();
    };
    const bool is_old_host = category.empty() && event_.process == "CPU functions";
    if (const auto step = step_of(event_.name); step && (is_old_host || category != "gpu_user_annotation")) {
        if (is_timed()) {
            trace_.steps.push_back({*step, *event_.start, *event_.start + *event_.duration, false});
        }
    } else if (step) {
        if (is_timed()) {
            trace_.steps.push_back({*step, *event_.start, *event_.start + *event_.duration, true});
        }
    } else if (is_old_host || is_one_of({"cpu_op", "operator"})) {
        add_host_op(false);
    } else if (category == "user_annotation") {
        add_host_op(true);
    } else if (category == "kernel" || (category.empty() && event_.process == "CUDA functions")) {
        add_device_event(Activity::kKernel);
    } else if (is_one_of({"gpu_memcpy", "memcpy"})) {
        add_device_event(Activity::kCopy);
    } else if (is_one_of({"gpu_memset", "memset"})) {
        add_device_event(Activity::kFill);
    } else if (is_one_of({"cuda_runtime", "cuda_driver", "runtime", "xpu_runtime", "xpu_driver", "hip_runtime"})) {
        if (is_timed()) {
            require_room(trace_.launches.size());
            trace_.launches.push_back({*event_.start, *event_.start + *event_.duration,
                                       thread_index(event_.process, event_.thread), event_.correlation});
        }
    }
}

bool EventBuilder::is_timed() {
    const bool is_sound = event_.start && event_.duration && *event_.duration >= 0;
    trace_.damaged_events += is_sound ? 0 : 1;
    return is_sound;
}

void EventBuilder::require_room(std::size_t kept) const {
    if (kept >= kMostKept) {
        throw InputError(trace_.file,
                         "found more than 16,000,000 events of one kind; expected fewer: profile fewer "
                         "steps (torch.profiler.schedule(active=...))");
    }
}

void EventBuilder::add_host_op(bool is_annotation) {
    if (!is_timed()) {
        return;
    }
    require_room(trace_.host_ops.size());
    HostOp op;
    op.start = *event_.start;
    op.end = op.start + *event_.duration;
    op.name = name_index();
    op.thread = thread_index(event_.process, event_.thread);
    op.external_id = event_.external_id;
    op.sequence = event_.sequence;
    op.operands = event_.has_dims ? operands_index() : kNone;
    op.collective = collective_index();
    op.is_annotation = is_annotation;
    trace_.host_ops.push_back(op);
}

void EventBuilder::add_device_event(Activity activity) {
    if (!is_timed()) {
        return;
    }
    require_room(trace_.device_events.size());
    DeviceEvent event;
    event.start = *event_.start;
    event.end = event.start + *event_.duration;
    event.name = name_index();
    event.stream = stream_index();
    event.activity = activity;
    event.correlation = event_.correlation;
    event.external_id = event_.external_id;
    event.collective = collective_index();
    trace_.device_events.push_back(event);
}

std::uint32_t EventBuilder::name_index() {
    const auto [place, is_new] = names_.try_emplace(event_.name, static_cast<std::uint32_t>(trace_.names.size()));
    if (is_new) {
        trace_.names.push_back(event_.name);
    }
    return place->second;
}

std::uint32_t EventBuilder::thread_index(const std::string& process, const std::string& thread) {
    return threads_.try_emplace(process + "\n" + thread, static_cast<std::uint32_t>(threads_.size())).first->second;
}

/// Streams of one device: where the argument is missing Kineto's row is the stream.
std::uint32_t EventBuilder::stream_index() {
    const std::string& stream = event_.stream.empty() ? event_.thread : event_.stream;
    return streams_.try_emplace(event_.process + "\n" + stream, static_cast<std::uint32_t>(streams_.size()))
        .first->second;
}

std::uint32_t EventBuilder::operands_index() {
    std::string text = event_.operands.type;
    for (const Dims& dims : event_.operands.dims) {
        text += ';';
        for (const std::int64_t size : dims) {
            text += std::to_string(size) + ',';
        }
    }
    const auto [place, is_new] = operands_.try_emplace(text, static_cast<std::uint32_t>(trace_.operands.size()));
    if (is_new) {
        trace_.operands.push_back(event_.operands);
    }
    return place->second;
}

std::uint32_t EventBuilder::collective_index() {
    const CollectiveFacts& facts = event_.collective;
    if (facts == CollectiveFacts()) {
        return kNone;
    }
    const std::string text = facts.name + "\n" + facts.process_group + "\n" + facts.type + "\n" +
                             std::to_string(facts.in_elements) + "," + std::to_string(facts.out_elements) + "," +
                             std::to_string(facts.group_size);
    const auto [place, is_new] = collectives_.try_emplace(text, static_cast<std::uint32_t>(trace_.collectives.size()));
    if (is_new) {
        trace_.collectives.push_back(facts);
    }
    return place->second;
}

}  // namespace auspex::kineto
