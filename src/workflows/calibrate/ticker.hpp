#pragma once
/// @file What `auspex calibrate` says on the terminal while a part is measured.
#include <memory>
#include <string>

namespace auspex::workflows {

/// "calibrating: 4 ranks, about 70 s left; 512 lines in local.csv", over and over, while it lives; without a terminal
/// once, without the lines.
class CalibrateTicker {
 public:
    /// `part_s`: what the part will take, `later_s`: what will follow it, about; `file`: grows meanwhile.
    CalibrateTicker(std::string part, double part_s, double later_s, std::string file);
    ~CalibrateTicker();
    CalibrateTicker(const CalibrateTicker&) = delete;
    CalibrateTicker& operator=(const CalibrateTicker&) = delete;

 private:
    class Line;
    std::unique_ptr<Line> line_;
};

}  // namespace auspex::workflows
