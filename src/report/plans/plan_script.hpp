#pragma once
/// @file What makes the page of plans sort, filter and draw its map.

namespace auspex::report {

/// CSS beside kPageStyle.
extern const char* const kPlanStyle;
/// JavaScript without the script element around it; works on #plans (a table whose head has a button a column), its
/// filter #where, and #map with its data in #map-data.
extern const char* const kPlanScript;

}  // namespace auspex::report
