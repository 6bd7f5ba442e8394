#pragma once
/// @file JSON events to a trace: knows where in the file something stands and keeps what is used.
#include <array>
#include <map>
#include <string>
#include <unordered_map>

#include "base/streams/json_events.hpp"
#include "compare/kineto/trace/trace.hpp"

namespace auspex::kineto {

/// Nanoseconds of microseconds as they are written, to the digit; none for what is no time (a word, an exponent beyond
/// what a clock has).
[[nodiscard]] std::optional<std::int64_t> nanoseconds_of(std::string_view microseconds);

/// Fills a trace with what goes by. Events that are of no use (flows, Python's functions, counters) are counted only.
class EventBuilder : public JsonEvents {
 public:
    explicit EventBuilder(Trace& trace) : trace_(trace) {}

    void begin_object() override;
    void end_object() override;
    void begin_array() override;
    void end_array() override;
    void key(std::string_view name) override;
    void text(std::string_view value) override;
    void number(double value, std::string_view digits) override;
    void word(const bool* value) override;

 private:
    enum class Place : std::uint8_t { kNothing, kRoot, kEvents, kEvent, kArguments, kDims, kTypes, kDevices, kJob };

    /// An event while it is read.
    struct Event {
        std::string phase, category, name, process;
        std::string thread;
        std::optional<std::int64_t> start, duration;
        bool has_duration = false;
        std::int64_t external_id = -1, sequence = -1, correlation = -1;
        std::string stream;
        Operands operands;
        bool has_dims = false;
        CollectiveFacts collective;
    };

    [[nodiscard]] Place place() const { return places_.empty() ? Place::kNothing : places_.back(); }
    void open(bool is_array);
    void close();
    void scalar(std::string_view text, bool is_number);
    void take_event_field(std::string_view text);
    void take_argument(std::string_view text);
    void take_job_field(std::string_view text);
    void finish_event();
    void add_host_op(bool is_annotation);
    void add_device_event(Activity activity);
    [[nodiscard]] bool is_timed();
    void require_room(std::size_t kept) const;
    std::uint32_t name_index();
    std::uint32_t thread_index(const std::string& process, const std::string& thread);
    std::uint32_t stream_index();
    std::uint32_t operands_index();
    std::uint32_t collective_index();

    Trace& trace_;
    std::vector<Place> places_;
    std::string key_;
    Event event_;
    std::unordered_map<std::string, std::uint32_t> names_, threads_, streams_, operands_, collectives_;
    std::vector<Dims> open_dims_;  ///< while operands are read: of the list that is open
    bool device_is_named_ = false;
};

}  // namespace auspex::kineto
