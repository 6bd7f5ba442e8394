#pragma once
/// @file Plain records, written into bytes one after another and read back.
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.hpp"

namespace auspex::search {

template <class Record>
void append_record(std::string& bytes, const Record& record) {
    static_assert(std::is_trivially_copyable_v<Record>);
    bytes.append(reinterpret_cast<const char*>(&record), sizeof record);
}

/// Their number, then they.
template <class Record>
void append_records(std::string& bytes, const std::vector<Record>& records) {
    static_assert(std::is_trivially_copyable_v<Record>);
    append_record(bytes, static_cast<std::uint64_t>(records.size()));
    bytes.append(reinterpret_cast<const char*>(records.data()), records.size() * sizeof(Record));
}

/// Takes records from the front of bytes; throws InputError that names `name` where there are too few.
class RecordReader {
 public:
    RecordReader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

    template <class Record>
    [[nodiscard]] Record one() {
        static_assert(std::is_trivially_copyable_v<Record>);
        Record record;
        require(1, sizeof record);
        std::memcpy(&record, bytes_.data(), sizeof record);
        bytes_.remove_prefix(sizeof record);
        return record;
    }
    template <class Record>
    [[nodiscard]] std::vector<Record> many() {
        static_assert(std::is_trivially_copyable_v<Record>);
        const auto count = one<std::uint64_t>();
        require(count, sizeof(Record));
        std::vector<Record> records(count);
        if (count > 0) {
            std::memcpy(records.data(), bytes_.data(), count * sizeof(Record));
        }
        bytes_.remove_prefix(count * sizeof(Record));
        return records;
    }
    /// What is left.
    [[nodiscard]] std::string_view rest() const { return bytes_; }
    void require_end() const {
        if (!bytes_.empty()) {
            throw InputError(name_, "found " + std::to_string(bytes_.size()) + " bytes behind the end; expected none");
        }
    }

 private:
    void require(std::uint64_t count, std::size_t each) const {
        if (count > bytes_.size() / each) {
            throw InputError(name_, "found " + std::to_string(bytes_.size()) + " bytes where " + std::to_string(count) +
                                        " records of " + std::to_string(each) + " should stand; expected them whole");
        }
    }

    std::string_view bytes_;
    const std::string& name_;
};

}  // namespace auspex::search
