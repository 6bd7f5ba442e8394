#pragma once
/// @file Style sheet and scripts of pages, as text. The files of these names are in the folders of the rooms that use
/// them; cmake/embed.cmake puts them into the program.

namespace auspex::report {

/// picture.css, without the style element around it. Colours of curves (v0 …) follow Okabe and Ito, those of segments
/// (l0 …) add Tol's muted set: both stay distinct for colour-blind readers. t0 … are the text colours that can be read
/// on segments.
extern const char* const kPictureStyle;
/// page.css: all else of a page.
extern const char* const kPageStyle;
/// tables.js: sorting, filters, columns that fold away on narrow windows; it keeps its state in the page's address.
extern const char* const kTablesScript;
/// crosshair.js: values of curves under the pointer.
extern const char* const kCrosshairScript;
/// timeline.js: timelines that are zoomed.
extern const char* const kTimelineScript;
/// plan_map.js: the best step over two fields of plans.
extern const char* const kPlanMapScript;

}  // namespace auspex::report
