"""What results have in common: read from documents, shown as tables."""

from __future__ import annotations

import dataclasses
import functools
import json
import typing
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from . import _core
from ._show import html_of, line_of

if TYPE_CHECKING:
    import pandas

Document = dict[str, Any]
Part = TypeVar("Part")

_INPUTS = ("machine", "stack", "workload", "plan")
_IDENTITIES = ("tiles", "placement", "stage", "value", "name", "bytes")
"""What says of which entry of an outer list a row is."""


def _each(convert: Callable[[Any], Any], values: list[Any]) -> list[Any]:
    return [convert(value) for value in values]


def _each_value(convert: Callable[[Any], Any], values: Document) -> Document:
    return {key: convert(value) for key, value in values.items()}


def _unless_none(convert: Callable[[Any], Any], value: Any) -> Any:
    return None if value is None else convert(value)


def _conversion(hint: Any) -> Callable[[Any], Any] | None:
    """What makes a value of JSON one of this type; None: it is one."""
    arguments = [one for one in typing.get_args(hint) if one is not type(None)]
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return functools.partial(read, hint)
    origin = typing.get_origin(hint)
    if origin is list and (inner := _conversion(arguments[0])):
        return functools.partial(_each, inner)
    if origin is dict and (inner := _conversion(arguments[1])):
        return functools.partial(_each_value, inner)
    if origin is tuple:
        return tuple
    if type(None) in typing.get_args(hint) and (inner := _conversion(arguments[0])):
        return functools.partial(_unless_none, inner)
    return None


@dataclasses.dataclass(frozen=True)
class _Reader:
    """How documents become objects of a class."""

    defaults: Document
    """Values of fields that a document may leave out."""
    changes: dict[str, tuple[str, Callable[[Any], Any]]]
    """By field: its key, and what makes its value; only where one of them is not as it stands."""


_readers: dict[Any, _Reader] = {}


def _reader(kind: Any) -> _Reader:
    reader = _readers.get(kind)
    return reader if reader is not None else _readers.setdefault(kind, _make_reader(kind))


def _make_reader(kind: Any) -> _Reader:
    hints = typing.get_type_hints(kind)
    defaults: Document = {}
    changes = {}
    for field in dataclasses.fields(kind):
        if field.default is not dataclasses.MISSING:
            defaults[field.name] = field.default
        key, convert = field.metadata.get("key", field.name), _conversion(hints[field.name])
        if convert or key != field.name:
            changes[field.name] = (key, convert or _as_it_is)
    return _Reader(defaults, changes)


def _as_it_is(value: Any) -> Any:
    return value


def read(kind: type[Part], document: Document) -> Part:
    """The document as one of this class; keys that later versions add become attributes, too."""
    reader = _reader(kind)
    one = object.__new__(kind)
    values = one.__dict__
    values.update(reader.defaults)
    values.update(document)
    for name, (key, convert) in reader.changes.items():
        if key in document:
            values[name] = convert(document[key] if key == name else values.pop(key))
    return one


def _flat(document: Document, before: str = "") -> Iterator[tuple[str, Any]]:
    """Values by dotted path; an interval is its two ends; lists are rows of tables of their own."""
    for key, value in document.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        elif isinstance(value, list):
            if key.endswith(("interval_s", "_interval")) and len(value) == 2:
                yield f"{before}{key}.low", value[0]
                yield f"{before}{key}.high", value[1]
            elif all(isinstance(one, (str, int, float)) for one in value) and key not in ("notes", "overrides"):
                yield before + key, " ".join(str(one) for one in value)
        else:
            yield before + key, value


def _entries(value: Any, path: list[str], of: Document) -> Iterator[Document]:
    if isinstance(value, list):
        for one in value:
            yield from _entries(one, path, of)
    elif path:
        known = {name: value[name] for name in _IDENTITIES if isinstance(value.get(name), (str, int, float))}
        yield from _entries(value.get(path[0], []), path[1:], {**of, **known})
    else:
        yield {**of, **(dict(_flat(value)) if isinstance(value, dict) else {"value": value})}


def _parse(result: Any, name: str) -> Any:
    """The value of a field whose text has not been looked at."""
    key, convert = _reader(type(result)).changes.get(name, (name, _as_it_is))
    texts = result.__dict__.get("_texts", {})
    if key not in texts:
        raise AttributeError(f"{type(result).__name__!r} object has no attribute {name!r}")
    value = result.__dict__[name] = convert(json.loads(texts[key]))
    return value


@dataclasses.dataclass(frozen=True, repr=False)
class Result:
    """An answer. Its fields are the keys that docs/json-output.md describes, with their units."""

    _table: ClassVar[str] = ""
    """Path of the list whose entries are the rows; empty: the answer is one row."""
    _headline: ClassVar[tuple[str, ...]] = ()
    """Fields that say most, for people."""

    @classmethod
    def _of(cls: type[Part], answer: str) -> Part:
        """Objects and lists of the answer stay texts until they are asked for: most never are."""
        plain, texts = _core.members(answer)
        one = object.__new__(cls)
        one.__dict__.update(plain)
        one.__dict__["_texts"] = texts
        one.__dict__["_answer"] = answer
        for name in texts.keys() & _reader(cls).defaults.keys():  # where Python would find the default
            _parse(one, name)
        return one

    if not TYPE_CHECKING:  # what checks types is to know the fields only

        def __getattr__(self, name: str) -> Any:
            return _parse(self, name)

    def to_dict(self) -> Document:
        """The JSON document that it was read from. It is not a copy."""
        document: Document | None = self.__dict__.get("_document")
        if document is None:
            answer = self.__dict__.get("_answer")
            document = json.loads(answer) if answer is not None else dataclasses.asdict(self)
            self.__dict__["_document"] = document
        return document

    def tables(self) -> list[str]:
        """What rows() and to_pandas() can be asked for: dotted paths of the lists of the answer."""
        found: dict[str, None] = {}

        def look(value: Any, path: str) -> None:
            if isinstance(value, list):
                if value and isinstance(value[0], dict):
                    found.setdefault(path)
                    for one in value:
                        look(one, path)
            elif isinstance(value, dict):
                for key, inner in value.items():
                    look(inner, f"{path}.{key}" if path else key)

        look(self.to_dict(), "")
        return list(found)

    def rows(self, table: str = "") -> list[Document]:
        """The rows of a table, without one those that matter most: dicts from column to value."""
        if table and table not in self.tables():
            raise KeyError(f"found no table {table!r}; expected one of {', '.join(self.tables()) or 'none'}")
        path = table or self._table
        document = self.to_dict()
        of = {name: document[name] for name in _INPUTS if path and isinstance(document.get(name), str)}
        return list(_entries(document, path.split(".") if path else [], of))

    def to_pandas(self, table: str = "") -> pandas.DataFrame:
        """rows() as a DataFrame. Needs pandas."""
        import pandas

        return pandas.DataFrame(self.rows(table))

    def __repr__(self) -> str:
        return line_of(type(self).__name__, self.to_dict(), self._headline)

    def _repr_html_(self) -> str:
        return html_of(type(self).__name__, self.to_dict(), self._headline, self.rows() if self._table else [])
