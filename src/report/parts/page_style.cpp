/// @file The style sheet as text.
#include "report/parts/page_style.hpp"

namespace auspex::report {

const char* const kPageStyle = R"css(
:root{color-scheme:light dark;--page:#fff;--ink:#1b1f24;--soft:#59636e;--rule:#d0d7de;--grid:#e6eaee;--card:#f5f7f9;
--link:#0550ae;
--v0:#0072b2;--v1:#b87700;--v2:#00845e;--v3:#a5497d;--v4:#5b6570;--v5:#6b4fbb;--v6:#8c5a2b;--bad:#c4320a;
--l0:#0072b2;--l1:#56b4e9;--l2:#e69f00;--l3:#f0e442;--l4:#009e73;--l5:#d55e00;--l6:#cc79a7;--l7:#882255;--l8:#332288;
--l9:#999933;
--l10:#7fd6c6;--l11:#8a8f98}
@media screen and (prefers-color-scheme:dark){:root{--page:#14181d;--ink:#e4e8ec;--soft:#9da7b1;--rule:#3c454f;
--grid:#272e36;--card:#1d232a;
--link:#79b8ff;--v0:#56b4e9;--v1:#e69f00;--v2:#2bc79a;--v3:#e08fbd;--v4:#a9b3bd;--v5:#b8a1ff;--v6:#d2a679;--bad:#ff8a65;--l7:#b0487f;
--l8:#6f5bd0}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif}
main{max-width:1120px;margin:0 auto;padding:28px 20px 60px}
h1{font-size:1.8rem;line-height:1.25;margin:0 0 .3em}
h2{font-size:1.3rem;margin:2.2em 0 .5em;padding-top:.5em;border-top:1px solid var(--rule)}
p,ul,dl{max-width:78ch}
a{color:var(--link)}
.soft,figcaption,.caption{color:var(--soft)}
nav{font-size:.9rem;margin:.6em 0 1.2em;display:flex;flex-wrap:wrap;gap:.2em 1.1em}
.summary{font-size:1.08rem}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));gap:12px;margin:1.4em 0}
.card{background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:10px 14px}
.card b{display:block;font-size:1.35rem;line-height:1.4;white-space:nowrap}
.card span{color:var(--soft);font-size:.88rem;display:block;line-height:1.35}
.bad{color:var(--bad)}
.scroll{overflow-x:auto;margin:.8em 0}
.hint{display:none;color:var(--soft);font-size:.88rem}
table{border-collapse:collapse;font-size:.86rem;font-variant-numeric:tabular-nums;width:100%}
.caption{font-size:.92rem;max-width:100ch;margin:1.6em 0 .2em}
th,td{padding:5px 8px;border-bottom:1px solid var(--rule);text-align:left;vertical-align:top}
th:first-child,td:first-child{position:sticky;left:0;background:var(--page)}
thead th{vertical-align:bottom;border-bottom:2px solid var(--rule);line-height:1.25}
.n{text-align:right;white-space:nowrap}
thead .n{white-space:normal}
td small,th small{color:var(--soft);font-weight:400;font-size:.92em;display:block}
.source{min-width:16em}
td.path,code{font-family:ui-monospace,"SF Mono",Consolas,"Liberation Mono",monospace;font-size:.93em;
overflow-wrap:anywhere}
td.path{min-width:17em}
td.part{white-space:nowrap}
tr:has(.whole){font-weight:600}
.swatch{display:inline-block;width:.95em;height:.95em;border-radius:2px;margin-right:.5em;vertical-align:-.1em}
pre{background:var(--card);border:1px solid var(--rule);border-radius:6px;padding:10px 14px;white-space:pre-wrap;
overflow-wrap:anywhere;
font-size:.88rem}
figure{margin:.8em 0 1.6em}
figcaption{font-size:.92rem;max-width:88ch;margin-top:.3em}
details{margin:.8em 0}
summary{cursor:pointer;color:var(--link)}
dt{font-weight:600;margin-top:.5em}
dd{margin:0 0 0 1.2em}
svg{display:block;width:100%;min-width:480px;max-width:960px;height:auto;font-size:13.5px;font-family:inherit}
svg text{fill:var(--ink)}
svg .tick{fill:var(--soft);font-size:13px}
svg .name{fill:var(--soft)}
svg .total{font-weight:600;font-size:13px}
svg .inside{font-size:12px}
svg .label{font-size:13.5px}
svg .limit-text{fill:var(--bad);font-weight:600}
.axis{stroke:var(--soft);stroke-width:1.2}
.grid{stroke:var(--grid);stroke-width:1}
.ideal{stroke:var(--soft);stroke-width:1.6;stroke-dasharray:7 5;fill:none}
.limit{stroke:var(--bad);stroke-width:2;stroke-dasharray:9 5}
.leader{stroke:var(--soft);stroke-width:.8}
.band{fill:var(--v0);opacity:.14}
.curve{fill:none;stroke-width:1.8}
.curve.v0{stroke-width:3}
.bar{stroke-width:1.6}
.segment{stroke:var(--page);stroke-width:1}
.curve.v0,.bar.v0{stroke:var(--v0)}.curve.v1{stroke:var(--v1)}.curve.v2{stroke:var(--v2)}.curve.v3{stroke:var(--v3)}
.curve.v4{stroke:var(--v4)}.curve.v5{stroke:var(--v5)}.curve.v6{stroke:var(--v6)}
.curve.v1{stroke-dasharray:10 4}.curve.v2{stroke-dasharray:3 3}.curve.v3{stroke-dasharray:10 3 2 3}
.curve.v4{stroke-dasharray:6 3}.curve.v5{stroke-dasharray:2 2 8 2}
.curve.v6{stroke-dasharray:8 2}
.mark.v0{fill:var(--v0)}.mark.v1{fill:var(--v1)}.mark.v2{fill:var(--v2)}.mark.v3{fill:var(--v3)}
.mark.v4{fill:var(--v4)}.mark.v5{fill:var(--v5)}.mark.v6{fill:var(--v6)}
svg .label.v0{fill:var(--v0);font-weight:700}svg .label.v1{fill:var(--v1)}svg .label.v2{fill:var(--v2)}
svg .label.v3{fill:var(--v3)}
svg .label.v4{fill:var(--v4)}svg .label.v5{fill:var(--v5)}
svg .label.v6{fill:var(--v6)}
.l0{fill:var(--l0);background:var(--l0)}.l1{fill:var(--l1);background:var(--l1)}.l2{fill:var(--l2);
background:var(--l2)}
.l3{fill:var(--l3);background:var(--l3)}.l4{fill:var(--l4);background:var(--l4)}.l5{fill:var(--l5);
background:var(--l5)}
.l6{fill:var(--l6);background:var(--l6)}.l7{fill:var(--l7);background:var(--l7)}.l8{fill:var(--l8);
background:var(--l8)}
.l9{fill:var(--l9);background:var(--l9)}.l10{fill:var(--l10);background:var(--l10)}.l11{fill:var(--l11);
background:var(--l11)}
svg .t0,svg .t7,svg .t8{fill:#fff}
svg .t1,svg .t2,svg .t3,svg .t4,svg .t5,svg .t6,svg .t9,svg .t10,svg .t11{fill:#111}
@media (max-width:600px){.hint{display:block}main{padding:18px 14px 40px}h1{font-size:1.45rem}th,td{padding:4px 7px}}
@page{margin:12mm}
@media print{.cards{grid-template-columns:repeat(4,1fr)}.summary{font-size:1em}body{font-size:10.5pt}
main{max-width:none;padding:0}nav,.hint{display:none}svg{min-width:0}
figure,tr,.card{break-inside:avoid}h2{break-after:avoid}.scroll{overflow:visible}table{font-size:7pt}
th,td{padding:2px 4px}
.source,td.path{min-width:0}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
)css";

}  // namespace auspex::report
