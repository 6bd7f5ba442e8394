/// @file A thread that writes one line again and again.
#include "workflows/calibrate/ticker.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>

#include "report/parts/text.hpp"

namespace auspex::workflows {

class CalibrateTicker::Line {
 public:
    Line(std::string part, double part_s, double later_s, std::string file)
        : part_(std::move(part)), part_s_(part_s), later_s_(later_s), file_(std::move(file)) {
        if (isatty(STDERR_FILENO) == 1) {
            thread_ = std::thread([this] { tick(); });
        } else {
            std::cerr << "auspex: calibrating: " << text() << std::endl;
        }
    }
    ~Line() {
        {
            const std::lock_guard lock(mutex_);
            is_over_ = true;
        }
        over_.notify_all();
        if (thread_.joinable()) {
            thread_.join();
            std::cerr << "\r" << std::string(kWidth, ' ') << "\r" << std::flush;
        }
    }
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;

 private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t kWidth = 78;

    [[nodiscard]] std::string text() const {
        const std::chrono::duration<double> elapsed = Clock::now() - begin_;
        return part_ + ", about " + thousands(later_s_ + std::max(0.0, part_s_ - elapsed.count())) + " s left";
    }
    [[nodiscard]] double lines() const {
        std::ifstream stream(file_);
        return static_cast<double>(
            std::count(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>(), '\n'));
    }
    void tick() {
        constexpr std::chrono::milliseconds kPause{500};
        std::unique_lock lock(mutex_);
        while (!over_.wait_for(lock, kPause, [this] { return is_over_; })) {
            std::string line = "calibrating: " + text() + "; " + counted(lines(), "line") + " in " +
                               std::filesystem::path(file_).filename().string();
            line.resize(kWidth, ' ');
            std::cerr << "\r" << line << std::flush;
        }
    }

    std::string part_;
    double part_s_, later_s_;
    std::string file_;
    bool is_over_ = false;
    Clock::time_point begin_ = Clock::now();
    std::mutex mutex_;
    std::condition_variable over_;
    std::thread thread_;
};

CalibrateTicker::CalibrateTicker(std::string part, double part_s, double later_s, std::string file)
    : line_(std::make_unique<Line>(std::move(part), part_s, later_s, std::move(file))) {}

CalibrateTicker::~CalibrateTicker() = default;

}  // namespace auspex::workflows
