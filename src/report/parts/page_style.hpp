#pragma once
/// @file The style sheet of the HTML page: light and dark, screen and paper.

namespace auspex::report {

/// CSS without the style element around it. Colours of curves (v0 …) follow Okabe and Ito, those of segments (l0 …) add
/// Tol's muted set: both stay distinct for colour-blind readers. t0 … are the text colours that can be read on
/// segments.
extern const char* const kPageStyle;

}  // namespace auspex::report
