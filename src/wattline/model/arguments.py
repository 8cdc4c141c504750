"""What the functions of `import wattline as wl` are given, held to what they say that they take."""

from __future__ import annotations

import builtins
import inspect
import numbers
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from functools import cache, wraps
from importlib import import_module
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast

from wattline._places import PLACES
from wattline.model.errors import InputError, short

_LISTS = {str: 'a list of texts, like ["a", "b"]', int: "a list of whole numbers, like [1, 2]",
          float: "a list of numbers, like [0.5, 1.0]"}
_WORDS: Mapping[Any, str] = {
    int: "a whole number", float: "a number", str: "a text, in quotes", bool: "True or False",
    Path: "a Path of pathlib", Mapping: 'a dict, like {"name": 1}', Callable: "a function"}
_OWN = {"Run": "a wl.Run (wl.open_run(FOLDER) reads one)"}
_FILE = "the name of a file or folder, in quotes"

Function = TypeVar("Function", bound=Callable[..., Any])


def checked(function: Function, name: str = "") -> Function:
    """The function, whose arguments of a wrong type are an InputError and no accident further down.

    What it takes stands in its annotations. A type that only type checkers see and that is no name
    of the package is not looked at: the function itself says what is right.
    """
    return cast(Function, _checked(function, name or function.__name__))


@cache
def _checked(function: Any, name: str) -> Any:
    signature = inspect.signature(function)

    @wraps(function)
    def call(*unnamed: Any, **named: Any) -> Any:
        try:
            given = signature.bind(*unnamed, **named).arguments
        except TypeError:  # one is missing or unknown: Python itself says so, with the name
            return function(*unnamed, **named)
        for argument, annotation, value in _each(signature, given):
            allowed = tuple(_allowed(_type_of(function, annotation)))
            if not any(_is(value, kind) for kind in allowed):
                raise InputError(f"{name}({_form(signature)}): {argument} must be "
                                 f"{_words(allowed)} (it is {short(repr(value))})")
        return function(*unnamed, **named)

    if "." not in function.__qualname__:
        # Where it is found again by those who send functions to other processes.
        call.__module__, call.__qualname__ = "wattline", name
    return call


def _each(
    signature: inspect.Signature, given: Mapping[str, Any]
) -> Iterator[tuple[str, str, Any]]:
    """Every value with its name and what is said of its type, those behind stars one by one."""
    for name, value in given.items():
        parameter = signature.parameters[name]
        found: Iterable[tuple[str, Any]] = [(name, value)]
        if parameter.kind is parameter.VAR_POSITIONAL:
            found = [(name, each) for each in value]
        elif parameter.kind is parameter.VAR_KEYWORD:
            found = value.items()
        yield from ((each, parameter.annotation, one) for each, one in found)


def _form(signature: inspect.Signature) -> str:
    """How a function is called: what may stand without its name, and what it needs."""
    found = []
    for each in signature.parameters.values():
        if each.kind is each.VAR_POSITIONAL:
            found.append(f"*{each.name}")
        elif each.kind is each.POSITIONAL_OR_KEYWORD and each.name != "self":
            found.append(each.name)
        elif each.kind is each.KEYWORD_ONLY and each.default is each.empty:
            found.append(f"{each.name}=")
    return ", ".join(found)


class _Names(dict[str, Any]):
    """What annotations name where only type checkers import it: our own types, or anything."""

    def __missing__(self, name: str) -> Any:
        return _exported(name) or Any


@cache
def _type_of(function: Any, annotation: str) -> Any:
    try:
        return eval(annotation, _Names(vars(builtins) | vars(typing) | function.__globals__))
    except (AttributeError, TypeError):  # a type in a module that only type checkers import
        return Any


def _allowed(kind: Any) -> Iterator[Any]:
    """The alternatives of a type."""
    if typing.get_origin(kind) in (Union, UnionType):
        for each in typing.get_args(kind):
            yield from _allowed(each)
    elif typing.get_origin(kind) is Literal:
        yield from {type(each) for each in typing.get_args(kind)}
    else:
        yield kind


def _is(value: Any, kind: Any) -> bool:
    """Whether a value is of a type; whole numbers may be written as 16.0, as pandas has them."""
    origin = typing.get_origin(kind) or kind
    if kind in (None, NoneType):
        return value is None
    if kind in (int, float):
        return (isinstance(value, numbers.Real) and not isinstance(value, bool)
                and (kind is float or value == value // 1))
    if kind in (str, Path):  # a text may name a file, and then a Path does too
        return isinstance(value, PathLike) or (kind is str and isinstance(value, str))
    if kind is bool:
        return type(value).__name__ in ("bool", "bool_")  # of numpy, too
    if origin in (Iterable, Sequence, list, tuple):
        return _is_list(value, origin, typing.get_args(kind))
    if origin in (dict, Mapping):
        return isinstance(value, Mapping) and (
            typing.get_args(kind)[:1] != (str,) or all(isinstance(name, str) for name in value))
    return not _is_plain(origin) or isinstance(value, origin)


def _is_plain(kind: Any) -> bool:
    """Whether people know the type by this name: it is one of Python, or `wl` has it."""
    if kind is Any or not isinstance(kind, type):
        return False
    return not kind.__module__.startswith("wattline.") or _exported(kind.__name__) is kind


def _exported(name: str) -> Any:
    place, _, renamed = PLACES.get(name, "").partition(":")
    return getattr(import_module(place), renamed or name) if place else None


def _is_list(value: Any, origin: Any, inner: tuple[Any, ...]) -> bool:
    """A text is none, though it has letters; what can be asked only once is not looked into."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return False
    if not isinstance(value, Sized):
        return origin is Iterable
    if origin is tuple and inner[-1] is not ... and len(value) != len(inner):
        return False
    kinds = tuple(_allowed(inner[0])) if inner else (Any,)
    return not isinstance(value, list | tuple | set) or all(
        any(_is(each, kind) for kind in kinds) for each in value)


def _words(kinds: tuple[Any, ...]) -> str:
    """What would be right, in words."""
    named = [kind for kind in kinds if kind not in (None, NoneType)]
    if str in named and Path in named:
        named = [_FILE if kind is str else kind for kind in named if kind is not Path]
    words = list(dict.fromkeys(map(_word, named)))
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _word(kind: Any) -> str:
    origin = typing.get_origin(kind) or kind
    if isinstance(kind, str):
        return kind
    if origin in (Iterable, Sequence, list, tuple):
        return _list_of(typing.get_args(kind))
    if origin in (dict, Mapping):
        return _WORDS[Mapping]
    return _WORDS.get(origin) or _OWN.get(origin.__name__) or f"a wl.{origin.__name__}"


def _list_of(inner: tuple[Any, ...]) -> str:
    """As many as there must be, where that is said."""
    words = _LISTS.get(next(_allowed(inner[0])), "a list") if inner else "a list"
    several = len(inner) > 1 and inner[-1] is not ...
    return words.replace("a list of", str(len(inner))) if several else words
