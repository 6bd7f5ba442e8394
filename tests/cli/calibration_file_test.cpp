/// @file The file of a calibration: parts, rows on slowed cores, conditions that do not mix.
#include "workflows/calibrate/calibration_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "base/error.hpp"
#include "launch/output_locks.hpp"
#include "launch/run_folder.hpp"
#include "models/core_speed.hpp"

namespace auspex::cli {
namespace {

const workflows::Conditions kNow{
    {"cores", "2"}, {"stack", "yields, bound, 0123"}, {"hosts", "none"}, {workflows::kBuildCondition, "abc"}};

models::Measurement row(const std::string& name, double seconds, const std::string& source) {
    models::Measurement row;
    row.kind = "host";
    row.name = name;
    row.seconds = seconds;
    row.source = source;
    return row;
}

/// Probes beside rows: at full speed, kFull_s, and above 1.1 times that.
constexpr double kFull_s = 2e-4, kSlowed_s = 2.21e-4;
const std::string kThisMachine = models::own_source(1.1 * kFull_s), kSlowed = models::own_source(kSlowed_s);

models::Measurement probe(double seconds) { return row("probe", seconds, models::own_source()); }

class CalibrationFileTest : public testing::Test {
 protected:
    CalibrationFileTest() { std::ofstream(path_) << models::measurement_header() << "\n"; }
    ~CalibrationFileTest() override {
        std::filesystem::remove(path_);
        std::filesystem::remove(path_ + ".before");
        std::filesystem::remove(path_ + ".before-incomplete");
    }

    [[nodiscard]] std::string text() const {
        std::ifstream stream(path_);
        return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    }
    void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
    /// What `use` refuses, or nothing.
    template <class Use>
    [[nodiscard]] static std::string fault_of(const Use& use) {
        try {
            use();
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    }
    /// What agree_on refuses, or nothing.
    [[nodiscard]] std::string refusal(const workflows::Conditions& now) const {
        try {
            static_cast<void>(file_.agree_on(now));
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    }
    [[nodiscard]] std::string refusal_of(const std::string& name, const std::string& value) const {
        workflows::Conditions now = kNow;
        now[name] = value;
        return refusal(now);
    }

    std::string path_ =
        std::filesystem::temp_directory_path().string() + "/auspex-calibration-" + std::to_string(getpid()) + ".csv";
    workflows::CalibrationFile file_{path_};
};

/// Two parts: of the first one of three rows is of slowed cores, of the second one both are.
void fill(const workflows::CalibrationFile& file) {
    file.append(probe(kFull_s));
    file.append(row("a", 1, kThisMachine));
    file.append(row("b", 2, kSlowed));
    file.append(row("c", 3, kThisMachine));
    file.end_part("1 rank");
    file.append(row("d", 4, kSlowed));
    file.append(row("e", 5, kSlowed));
    file.end_part("2 ranks");
    file.append(row("f", 6, kSlowed));  // of a part that was broken off
}

TEST_F(CalibrationFileTest, parts_have_the_rows_above_their_ends) {
    fill(file_);
    EXPECT_EQ(file_.parts_done(), (std::set<std::string>{"1 rank", "2 ranks"}));
    EXPECT_EQ(file_.rows_of_part("1 rank"), 4);
    EXPECT_EQ(file_.rows_of_part("2 ranks"), 2);
    EXPECT_EQ(file_.rows_of_part("4 ranks"), 0);
    EXPECT_EQ(file_.slowed_rows({"1 rank", "2 ranks"}), (std::map<std::string, int>{{"1 rank", 1}, {"2 ranks", 2}}));
    EXPECT_EQ(file_.slowed_rows({"1 rank"}), (std::map<std::string, int>{{"1 rank", 1}}));
}

TEST_F(CalibrationFileTest, slowed_rows_and_the_ends_of_their_parts_are_dropped_and_nothing_else) {
    fill(file_);
    file_.drop_slowed({"1 rank"});
    EXPECT_EQ(file_.parts_done(), (std::set<std::string>{"2 ranks"}));
    std::vector<std::string> names;
    for (const models::Measurement& one : models::load_measurements(path_)) {
        names.push_back(one.name);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"probe", "a", "c", "d", "e"}));
    // What was measured again ends the part again; nothing of it is slowed any more.
    file_.append(row("b", 1.5, kThisMachine));
    file_.end_part("1 rank");
    EXPECT_TRUE(file_.slowed_rows({"1 rank"}).empty());
    const std::string before = text();
    file_.drop_slowed({"1 rank"});
    EXPECT_EQ(text(), before);
}

TEST_F(CalibrationFileTest, dropping_puts_a_whole_new_file_in_its_place) {
    fill(file_);
    // Whoever holds the old file sees all of it still: it was not written over.
    std::ifstream old(path_);
    file_.drop_slowed({"1 rank", "2 ranks"});
    const std::string seen{std::istreambuf_iterator<char>(old), std::istreambuf_iterator<char>()};
    EXPECT_NE(seen.find("# done: 2 ranks"), std::string::npos);
    EXPECT_EQ(text().find("# done: 2 ranks"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(path_ + ".partial"));
}

TEST_F(CalibrationFileTest, the_fastest_sessions_probe_is_full_speed) {
    EXPECT_EQ(file_.fastest_probe_s(), 0);
    file_.append(probe(2.2e-4));
    file_.append(probe(2.9e-4));
    EXPECT_EQ(file_.fastest_probe_s(), 2.2e-4);
}

/// What full speed is may be learnt late: cores that were all slow at first had the fastest probe there was.
TEST_F(CalibrationFileTest, a_faster_probe_makes_rows_slowed_that_were_not) {
    file_.append(probe(2.6e-4));
    file_.append(row("a", 1, models::own_source(2.6e-4)));
    file_.append(row("b", 1, models::own_source(2.1e-4)));
    file_.end_part("1 rank");
    EXPECT_TRUE(file_.slowed_rows({"1 rank"}).empty());
    file_.append(probe(2e-4));
    EXPECT_EQ(file_.slowed_rows({"1 rank"}), (std::map<std::string, int>{{"1 rank", 1}}));
    file_.drop_slowed({"1 rank"});
    EXPECT_EQ(text().find("\nhost,a,"), std::string::npos);
    EXPECT_NE(text().find("\nhost,b,"), std::string::npos);
}

/// Rows that stay when others of their part are measured again are still that part's: none is lost when they are slowed
/// later, and no other part is measured for them.
TEST_F(CalibrationFileTest, rows_stay_with_their_part_however_often_it_is_measured_again) {
    const std::set<std::string> parts{"1 rank", "2 ranks"};
    file_.append(probe(1.5e-4));
    file_.append(row("a", 1, models::own_source(1.6e-4)));
    file_.append(row("b", 1, models::own_source(2.1e-4)));
    file_.end_part("1 rank");
    file_.append(row("c", 1, models::own_source(1.5e-4)));
    file_.end_part("2 ranks");
    file_.drop_slowed(parts);
    EXPECT_EQ(file_.parts_done(), (std::set<std::string>{"2 ranks"}));
    EXPECT_EQ(file_.rows_of_part("1 rank"), 2);
    file_.append(row("b", 1, models::own_source(1.4e-4)));
    file_.end_part("1 rank");
    file_.append(probe(1.4e-4));
    EXPECT_EQ(file_.slowed_rows(parts), (std::map<std::string, int>{{"1 rank", 1}}));
    file_.drop_slowed(parts);
    EXPECT_EQ(file_.parts_done(), (std::set<std::string>{"2 ranks"}));
    EXPECT_EQ(text().find("\nhost,a,"), std::string::npos);
    EXPECT_EQ(file_.rows_of_part("1 rank"), 2);
    EXPECT_EQ(file_.rows_of_part("2 ranks"), 1);
    file_.append(row("a", 1, models::own_source(1.4e-4)));
    file_.end_part("1 rank");
    EXPECT_EQ(file_.parts_done(), parts);
    EXPECT_TRUE(file_.slowed_rows(parts).empty());
}

TEST_F(CalibrationFileTest, conditions_are_written_once_and_have_to_stay_the_same) {
    EXPECT_TRUE(file_.agree_on(kNow));
    fill(file_);
    EXPECT_TRUE(file_.agree_on(kNow));
    file_.drop_slowed({"1 rank", "2 ranks"});
    EXPECT_TRUE(file_.agree_on(kNow));
    for (const auto& [name, value] : {std::pair{"cores", "4"}, std::pair{"stack", "spins, bound, 0123"},
                                      std::pair{"hosts", "77ab"}, std::pair{"netlab", "2 2 400mbit"}}) {
        const std::string fault = refusal_of(name, value);
        for (const std::string& word : {path_, std::string(name), std::string(value), std::string("--fresh")}) {
            EXPECT_NE(fault.find(word), std::string::npos) << fault;
        }
    }
}

TEST_F(CalibrationFileTest, another_build_alone_is_told_apart) {
    EXPECT_TRUE(file_.agree_on(kNow));
    workflows::Conditions later = kNow;
    later[workflows::kBuildCondition] = "def";
    EXPECT_FALSE(file_.agree_on(later));
    EXPECT_THROW(file_.refuse_build(later), InputError);
    later["cores"] = "8";
    EXPECT_NE(refusal(later).find("cores"), std::string::npos);
}

constexpr const char* kConditionsLine = "# conditions: build=abc; cores=2; hosts=none; stack=yields, bound, 0123\n";

TEST_F(CalibrationFileTest, a_last_line_is_completed_or_dropped_if_the_file_is_taken_and_only_then) {
    const std::string head = models::measurement_header() + "\n" + kConditionsLine;
    const std::string one = to_csv(row("a", 1, kThisMachine)), two = to_csv(row("b", 2, kSlowed));
    const auto expect = [&](const std::string& before, workflows::LastLine last, const std::string& after) {
        write(before);
        EXPECT_EQ(file_.take(kNow, "CPU"), last) << before;
        EXPECT_EQ(text(), after);
    };
    expect(head + one + "\n" + two + "\n", workflows::LastLine::kWhole, head + one + "\n" + two + "\n");
    expect(head + one + "\n" + two, workflows::LastLine::kCompleted, head + one + "\n" + two + "\n");
    expect(head + one + "\n# done: 2 ranks", workflows::LastLine::kCompleted, head + one + "\n# done: 2 ranks\n");
    for (std::size_t cut = 1; cut < two.size(); ++cut) {
        const bool is_another = two.substr(0, cut).ends_with(models::own_source());  // a whole row, too
        expect(head + one + "\n" + two.substr(0, cut),
               is_another ? workflows::LastLine::kCompleted : workflows::LastLine::kDropped,
               head + one + "\n" + (is_another ? two.substr(0, cut) + "\n" : ""));
    }
    // A file that is refused stays as it is.
    for (const std::string& refused :
         {models::measurement_header() + "\n# conditions: cores=4\n" + one + "\n" + two.substr(0, 9),
          models::measurement_header() + "\n" + one + "\n" + two.substr(0, 9), head + "host,a\n" + two.substr(0, 9),
          head + "host,computer,,,,,,1,2,2,1,1e9,,,1,\"Abacus, 1642-01-01\"\n" + two.substr(0, 9),
          std::string("what I wanted to say")}) {
        write(refused);
        EXPECT_NE(fault_of([&] { static_cast<void>(file_.take(kNow, "CPU")); }), "") << refused;
        EXPECT_EQ(text(), refused);
    }
}

TEST_F(CalibrationFileTest, lines_may_end_as_windows_ends_them) {
    EXPECT_TRUE(file_.agree_on(kNow));
    fill(file_);
    std::string windows;
    for (const char c : text()) {
        windows += c == '\n' ? "\r\n" : std::string(1, c);
    }
    write(windows);
    EXPECT_EQ(file_.take(kNow, "CPU"), workflows::LastLine::kWhole);
    EXPECT_TRUE(file_.agree_on(kNow));
    EXPECT_EQ(file_.parts_done(), (std::set<std::string>{"1 rank", "2 ranks"}));
    EXPECT_EQ(file_.slowed_rows({"1 rank", "2 ranks"}), (std::map<std::string, int>{{"1 rank", 1}, {"2 ranks", 2}}));
}

TEST_F(CalibrationFileTest, beginning_anew_sets_the_old_rows_aside) {
    EXPECT_TRUE(file_.agree_on(kNow));
    fill(file_);
    const std::string old = text();
    const auto text_of = [](const std::string& name) {
        std::ifstream stream(name);
        return std::string{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    };
    const std::string before = file_.begin_anew(kNow);
    EXPECT_EQ(before, path_ + ".before");
    EXPECT_EQ(text_of(before), old);
    EXPECT_EQ(text(), models::measurement_header() + "\n" + kConditionsLine);
    EXPECT_FALSE(file_.has_timings());
    // A beginning that came to nothing does not take the place of what is whole.
    EXPECT_EQ(file_.begin_anew(kNow), path_ + ".before-incomplete");
    EXPECT_EQ(text_of(before), old);
    file_.append(row("slice", 1, kThisMachine));
    EXPECT_TRUE(file_.has_timings());
    file_.put_back(before);
    EXPECT_EQ(text(), old);
    EXPECT_FALSE(std::filesystem::exists(before));
    // Whatever has become of a file of its own, it is set aside.
    write(old + "garbage\n" + old.substr(0, 77));
    EXPECT_EQ(file_.begin_anew(kNow), before);
    EXPECT_EQ(text_of(before), old + "garbage\n" + old.substr(0, 77));
}

TEST_F(CalibrationFileTest, tables_from_elsewhere_are_not_begun_anew) {
    const std::string own = to_csv(row("a", 1, kThisMachine)) + "\n";
    for (const std::string& table :
         {models::measurement_header() + "\n" + own + "link,nic,,,,,,,1,2,2,1e9,0.05,,1,OSU\n",
          models::measurement_header() + "\nhost,computer,,,,,,1,2,2,1,1e9,,,1,my notes\n", std::string("my notes\n"),
          models::measurement_header() + "\n" + own + "garbage\n"}) {
        write(table);
        const std::string fault = fault_of([&] { static_cast<void>(file_.begin_anew(kNow)); });
        EXPECT_NE(fault.find(path_ + ":"), std::string::npos) << fault;
        EXPECT_NE(fault.find("another --measurements"), std::string::npos) << fault;
        EXPECT_EQ(text(), table);
    }
    write(models::measurement_header() + "\n" + own);  // an early calibration's, that knew no conditions
    EXPECT_EQ(file_.begin_anew(kNow), path_ + ".before");
}

TEST_F(CalibrationFileTest, one_writes_at_a_time) {
    const auto lock_it = [&](const char* command) { launch::OutputLocks(command).take_file(path_, path_); };
    std::optional<launch::OutputLocks> first("auspex calibrate --fresh");
    first->take_file(path_, path_);
    EXPECT_EQ(fault_of([&] { lock_it("auspex calibrate"); }),
              path_ + ": found process " + std::to_string(getpid()) + " on " + launch::own_host() +
                  ", \"auspex calibrate --fresh\", that writes there; expected one command at a time, or another file");
    first.reset();
    EXPECT_FALSE(std::filesystem::exists(path_ + ".lock"));
    // A file that a killed process has left locks nobody out, and is not believed.
    std::ofstream(path_ + ".lock") << "process 1 on nowhere, \"auspex\",\n";
    EXPECT_EQ(fault_of([&] { lock_it("auspex calibrate"); }), "");
    EXPECT_FALSE(std::filesystem::exists(path_ + ".lock"));
}

TEST_F(CalibrationFileTest, rows_of_unknown_conditions_are_not_gone_on_with) {
    fill(file_);
    EXPECT_NE(refusal(kNow).find("under what conditions"), std::string::npos);
}

}  // namespace
}  // namespace auspex::cli
