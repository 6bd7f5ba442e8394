"""Results for people: one line, or HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

_SHARES = ("mfu", "hfu", "efficiency", "share")
_MOST_ROWS = 20
_MOST_COLUMNS = 12


def number(key: str, value: Any) -> str:
    """A value as people read it, by the unit that its key says."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return ""
    if not isinstance(value, (int, float)):
        return str(value)
    name = key.removesuffix(".low").removesuffix(".high")
    if name.endswith("bytes") and abs(value) >= 1e9:
        return f"{value / 1e9:.1f} GB"
    if name.endswith("bytes_per_s"):
        return f"{value / 1e9:.4g} GB/s"
    if name.endswith("_s") and not name.endswith("per_s") or name.startswith("losses."):
        size = abs(value)
        unit, factor = ("s", 1.0) if size >= 1 or size == 0 else ("ms", 1e3) if size >= 1e-3 else ("us", 1e6)
        return f"{value * factor:.3g} {unit}" if size < 1000 else f"{value:,.0f} s"
    if name.startswith(_SHARES) or name.endswith("share"):
        return f"{100 * value:.1f} %"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def _inputs(document: dict[str, Any]) -> str:
    names = [document[key] for key in ("workload", "plan", "machine", "stack") if isinstance(document.get(key), str)]
    return ", ".join(names)


def line_of(kind: str, document: dict[str, Any], headline: Iterable[str]) -> str:
    """Prediction(mula-7b-a1b, …: step_time_s 994 ms, mfu 5.2 %)"""
    facts = ", ".join(f"{key} {number(key, document[key])}" for key in headline if key in document)
    return f"{kind}({': '.join(text for text in (_inputs(document), facts) if text)})"


def _columns(rows: list[dict[str, Any]]) -> list[str]:
    """Those in which rows differ, and not too many of them; all where there is one row."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    if len(rows) > 1:
        names = [name for name in names if any(row.get(name) != rows[0].get(name) for row in rows)]
    return [name for name in names if "." not in name or name.startswith("plan.")][:_MOST_COLUMNS]


def html_of(kind: str, document: dict[str, Any], headline: Iterable[str], rows: list[dict[str, Any]]) -> str:
    """The headline's facts as a table of two columns, the first rows, and the notes."""
    parts = [f"<div><p><b>{escape(kind)}</b> {escape(_inputs(document))}</p>"]
    facts = [(key, document[key]) for key in headline if key in document]
    if facts:
        cells = "".join(f"<tr><th>{escape(key)}</th><td>{escape(number(key, value))}</td></tr>" for key, value in facts)
        parts.append(f"<table><tbody>{cells}</tbody></table>")
    if rows and (names := _columns(rows)):
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(number(name, row.get(name)))}</td>" for name in names) + "</tr>"
            for row in rows[:_MOST_ROWS]
        )
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
        if len(rows) > _MOST_ROWS:
            parts.append(f"<p>{_MOST_ROWS} of {len(rows)} rows; all of them: rows(), to_pandas()</p>")
    notes = document.get("notes") or []
    if notes:
        parts.append("<ul>" + "".join(f"<li>{escape(str(note))}</li>" for note in notes) + "</ul>")
    return "".join(parts) + "</div>"
