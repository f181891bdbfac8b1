"""Converts Python types to JSON Schema, and JSON to values of these types.

Supports the annotations that tools use: scalars, lists, dictionaries, ``Literal``, enumerations, unions, ``Annotated``,
dataclasses and TypedDicts. Models and all other types are left to Pydantic, if it is installed. Never guesses: an
unknown type is an error when the tool is declared, not when it is called.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

if sys.version_info >= (3, 11):
    from typing import NotRequired, Required
else:
    NotRequired = Required = None

_SCALARS: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    None: {"type": "null"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
}


class Objections(Exception):
    """The complaints of a type about arguments that its schema accepts: a JSON Pointer and a sentence each."""

    def __init__(self, objections: list[tuple[str, str]]) -> None:
        super().__init__("; ".join(f"{path or 'arguments'}: {words}" for path, words in objections))
        self.objections = objections


class Codec(NamedTuple):
    """The JSON form of a type's values, and how to load them."""

    schema: dict[str, Any]
    load: Callable[[Any], Any] | None
    """``None`` if the JSON value is used as it is."""


def pointer(path: Sequence[object]) -> str:
    """A path as a JSON Pointer."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def codec(annotation: Any) -> Codec:
    """The codec of an annotation."""
    if annotation in _SCALARS if _is_hashable(annotation) else False:
        return Codec(dict(_SCALARS[annotation]), float if annotation is float else None)
    origin = get_origin(annotation)
    if origin is Annotated:
        return _annotated(annotation)
    if origin is Literal:
        return Codec({"enum": list(get_args(annotation))}, None)
    if origin in (Union, types.UnionType):
        return _union(get_args(annotation))
    if annotation in (list, Sequence) or origin in (list, Sequence):
        return _list(get_args(annotation))
    if annotation in (dict, Mapping) or origin in (dict, Mapping):
        return _dict(get_args(annotation))
    if origin is tuple and Ellipsis not in get_args(annotation):
        return _tuple(get_args(annotation))
    if isinstance(annotation, type):
        if hasattr(annotation, "model_json_schema"):
            return _pydantic(annotation)
        if issubclass(annotation, enum.Enum):
            return Codec({"enum": [member.value for member in annotation]}, annotation)
        if typing.is_typeddict(annotation):
            return _typed_dict(annotation)
        if dataclasses.is_dataclass(annotation):
            return _dataclass(annotation)
    return _pydantic(annotation)


def parameters(
    names: Mapping[str, Any], required: set[str], descriptions: Mapping[str, str], defaults: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Callable[[Any], Any]]]:
    """The schema of an object with these members, and how to load those that are not plain JSON."""
    properties: dict[str, Any] = {}
    loads: dict[str, Callable[[Any], Any]] = {}
    for name, annotation in names.items():
        member = codec(annotation)
        schema = member.schema
        if name in descriptions:
            schema = {**schema, "description": descriptions[name]}
        if defaults.get(name) is not None and _is_json(defaults[name]):
            schema = {**schema, "default": defaults[name]}
        properties[name] = schema
        if member.load is not None:
            loads[name] = member.load
    schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = [name for name in names if name in required]
    return schema, loads


def load_members(loads: Mapping[str, Callable[[Any], Any]], values: Mapping[str, Any]) -> dict[str, Any]:
    """Loads the members of an object; objections name the member."""
    loaded = dict(values)
    objections: list[tuple[str, str]] = []
    for name, load in loads.items():
        if name in loaded:
            try:
                loaded[name] = load(loaded[name])
            except Objections as inner:
                objections += [(pointer([name]) + path, words) for path, words in inner.objections]
            except (ValueError, TypeError) as error:
                objections.append((pointer([name]), _sentence(error)))
    if objections:
        raise Objections(objections)
    return loaded


def _is_hashable(annotation: Any) -> bool:
    return getattr(annotation, "__hash__", None) is not None


def _is_json(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool)) and not isinstance(value, enum.Enum)


def _sentence(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _annotated(annotation: Any) -> Codec:
    inner, *notes = get_args(annotation)
    # ``Field`` and the constraints of ``annotated_types`` are read by Pydantic.
    if any(not isinstance(note, str) for note in notes):
        return _pydantic(annotation)
    made = codec(inner)
    return made._replace(schema={**made.schema, "description": notes[0]})


def _union(members: Sequence[Any]) -> Codec:
    codecs = [codec(member) for member in members]
    if all(made.load is None or made.load is float for made in codecs):
        return Codec({"anyOf": [made.schema for made in codecs]}, None)
    plain = [made for made in codecs if made.load is None]
    loaded = [made for made in codecs if made.load is not None]
    if len(loaded) == 1 and all(made.schema == {"type": "null"} for made in plain):
        load = loaded[0].load
        assert load is not None
        return Codec(
            {"anyOf": [made.schema for made in codecs]}, lambda value: None if value is None else load(value)
        )
    # Deciding which member a value belongs to is left to a dedicated library.
    return _pydantic(Union[tuple(members)])


def _list(arguments: Sequence[Any]) -> Codec:
    if not arguments:
        return Codec({"type": "array"}, None)
    item = codec(arguments[0])
    load = item.load
    schema = {"type": "array", "items": item.schema}
    if load is None:
        return Codec(schema, None)

    def load_items(values: list[Any]) -> list[Any]:
        loads = {str(index): load for index in range(len(values))}
        return list(load_members(loads, {str(index): value for index, value in enumerate(values)}).values())

    return Codec(schema, load_items)


def _dict(arguments: Sequence[Any]) -> Codec:
    if not arguments:
        return Codec({"type": "object"}, None)
    if arguments[0] is not str:
        raise TypeError(f"JSON keys are strings, not {arguments[0]!r}")
    member = codec(arguments[1])
    load = member.load
    schema = {"type": "object", "additionalProperties": member.schema}
    if load is None:
        return Codec(schema, None)
    return Codec(schema, lambda values: load_members(dict.fromkeys(values, load), values))


def _tuple(arguments: Sequence[Any]) -> Codec:
    codecs = [codec(argument) for argument in arguments]
    schema = {
        "type": "array",
        "prefixItems": [made.schema for made in codecs],
        "minItems": len(codecs),
        "maxItems": len(codecs),
    }
    loads = {str(at): made.load for at, made in enumerate(codecs) if made.load is not None}
    return Codec(
        schema,
        lambda values: tuple(load_members(loads, {str(at): value for at, value in enumerate(values)}).values()),
    )


def _typed_dict(annotation: Any) -> Codec:
    hints = typing.get_type_hints(annotation, include_extras=True)
    names = {name: _without_requirement(hint) for name, hint in hints.items()}
    schema, loads = parameters(names, set(annotation.__required_keys__), {}, {})
    _describe(schema, annotation)
    return Codec(schema, (lambda values: load_members(loads, values)) if loads else None)


def _without_requirement(hint: Any) -> Any:
    if Required is not None and get_origin(hint) in (Required, NotRequired):
        return get_args(hint)[0]
    return hint


def _dataclass(annotation: Any) -> Codec:
    hints = typing.get_type_hints(annotation, include_extras=True)
    fields = [field for field in dataclasses.fields(annotation) if field.init]
    missing = dataclasses.MISSING
    required = {field.name for field in fields if field.default is missing and field.default_factory is missing}
    defaults = {field.name: field.default for field in fields if field.default is not missing}
    schema, loads = parameters({field.name: hints[field.name] for field in fields}, required, {}, defaults)
    schema["additionalProperties"] = False
    _describe(schema, annotation)

    def load(values: Mapping[str, Any]) -> Any:
        members = load_members(loads, values)
        try:
            return annotation(**members)
        except (ValueError, TypeError) as error:
            # `__post_init__` objects.
            raise Objections([("", _sentence(error))]) from error

    return Codec(schema, load)


def _describe(schema: dict[str, Any], annotation: Any) -> None:
    # The docstring that ``dataclass`` generates is a signature, not a description.
    text = (annotation.__doc__ or "").strip()
    if text and not text.startswith(f"{annotation.__name__}("):
        schema["description"] = " ".join(text.split())


def _pydantic(annotation: Any) -> Codec:
    try:
        from pydantic import TypeAdapter, ValidationError
    except ImportError:
        raise TypeError(
            f"{annotation!r} has no JSON Schema; install pydantic, or use JSON types, Literal, Enum, "
            "dataclasses or TypedDict"
        ) from None
    adapter: Any = TypeAdapter(annotation)

    def load(value: Any) -> Any:
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            raise Objections([(pointer(one["loc"]), one["msg"]) for one in error.errors(include_url=False)]) from error

    return Codec(adapter.json_schema(mode="validation"), load)
