"""A walk through a net by typed commands; the command line reads them from a terminal or a pipe."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wattline.model.errors import InputError
from wattline.model.units import plain_number
from wattline.petri.draw import show_value
from wattline.petri.simulate import Firing, Simulation

HELP = """\
  <number>      fire that transition
  <enter>, n    fire the first one, or move the clock when none is enabled
  run N         fire N transitions (without N: all that are left)
  until T       fire everything up to time T, in seconds
  marking, m    every place that holds tokens
  show PLACE    the tokens of one place
  back, b       undo the last command
  list, l       the enabled transitions again
  help, h       this text
  quit, q       leave"""

UNDO_DEPTH = 200


class Walk:
    """Carries out one command at a time and says what happened."""

    def __init__(self, simulation: Simulation, say: Callable[[str], None]) -> None:
        self.simulation = simulation
        self.say = say
        self.log: list[dict[str, Any]] = []
        self.over = False
        self._undo: list[tuple[Any, int]] = []
        self._commands: dict[str, Callable[[str], None]] = {
            "": self._next, "n": self._next, "next": self._next, "run": self._run,
            "until": self._until, "marking": self._marking, "m": self._marking,
            "show": self._show, "back": self._back, "b": self._back, "list": self._list,
            "l": self._list, "help": self._help, "h": self._help, "quit": self._quit,
            "q": self._quit, "exit": self._quit,
        }

    def enabled_lines(self) -> list[str]:
        """The choices, numbered as `do` understands them."""
        simulation = self.simulation
        enabled = simulation.enabled()
        if not enabled:
            time_s = simulation.next_time_s()
            if time_s == float("inf"):
                return [f"t={simulation.now_s:g} s: nothing is enabled, and no token is to come"]
            return [f"t={simulation.now_s:g} s: nothing is enabled; next token at {time_s:g} s"]
        lines = [f"t={simulation.now_s:g} s, {simulation.fired} fired; enabled:"]
        lines += [f"  {i}  {describe(firing)}" for i, firing in enumerate(enabled, 1)]
        held = sorted({firing.transition.path for firing in simulation.held_back()})
        if held:
            lines.append(f"     (give way to a more urgent one: {', '.join(held)})")
        return lines

    def do(self, line: str) -> None:
        """One command. A wrong one raises InputError and changes nothing."""
        word, _, rest = line.strip().partition(" ")
        if word.isascii() and word.isdigit():
            self._fire_number(int(word))
            return
        command = self._commands.get(word.lower())
        if command is None:
            raise InputError(f"'{line.strip()}' is no command; 'help' lists them")
        command(rest.strip())

    def _fire_number(self, number: int) -> None:
        enabled = self.simulation.enabled()
        if not 1 <= number <= len(enabled):
            raise InputError(f"there is no choice {number}; {len(enabled)} enabled here")
        self._remember()
        self._fire(enabled[number - 1])

    def _fire(self, firing: Firing) -> None:
        self.simulation.fire(firing)
        self.log.append({"time_s": self.simulation.now_s, "transition": firing.transition.path,
                         "binding": {name: show_value(value, 200)
                                     for name, value in firing.shown.items()}})
        self.say(f"fired {describe(firing)}")

    def _next(self, rest: str) -> None:
        self._remember()
        enabled = self.simulation.enabled()
        if enabled:
            self._fire(enabled[0])
        elif self.simulation.advance():
            self.say(f"the clock moves to {self.simulation.now_s:g} s")
        else:
            self.say("the net has come to its end")

    def _run(self, rest: str) -> None:
        count = _whole(rest) if rest else None
        self._remember()
        fired = 0
        while (count is None or fired < count) and self._one_more(float("inf")):
            fired += 1
        self.say(f"{fired} fired, t={self.simulation.now_s:g} s")

    def _until(self, rest: str) -> None:
        try:
            time_s = plain_number(rest)
        except ValueError:
            raise InputError(f"'until {rest}': give a time in seconds, like until 300") from None
        self._remember()
        fired = 0
        while self._one_more(time_s):
            fired += 1
        self.say(f"{fired} fired, t={self.simulation.now_s:g} s")

    def _one_more(self, until_s: float) -> bool:
        """Fire the next transition, moving the clock to it, but not past `until_s`."""
        while True:
            enabled = self.simulation.enabled()
            if enabled:
                self._fire(enabled[0])
                return True
            if self.simulation.next_time_s() > until_s or not self.simulation.advance():
                return False

    def _marking(self, rest: str) -> None:
        for place, tokens in zip(self.simulation.flat.places, self.simulation.marking, strict=True):
            if tokens.count():
                values = ", ".join(show_value(value) for value in tokens.values()[:4])
                more = f" … {tokens.count() - 4} more" if len(tokens.list) > 4 else ""
                values = "" if values == "none" and tokens.colour.name == "UNIT" else values
                self.say(f"  {place.path}: {tokens.count()}  {values}{more}".rstrip())

    def _show(self, rest: str) -> None:
        tokens = self.simulation.place(rest)
        self.say(f"  {tokens.name}: {tokens.count()} of colour {tokens.colour.name}")
        for time_s, _, value in tokens.list:
            when = f" @{time_s:g}" if time_s > self.simulation.now_s else ""
            items = value if isinstance(value, tuple) and not hasattr(value, "shown") else (value,)
            for item in items:
                self.say(f"    {show_value(item, 200)}{when}")

    def _back(self, rest: str) -> None:
        if not self._undo:
            raise InputError("there is nothing to undo")
        state, logged = self._undo.pop()
        self.simulation.restore(state)
        del self.log[logged:]
        self.say(f"back at t={self.simulation.now_s:g} s, {self.simulation.fired} fired")

    def _list(self, rest: str) -> None:
        """The choices are said after every command anyway."""

    def _help(self, rest: str) -> None:
        self.say(HELP)

    def _quit(self, rest: str) -> None:
        self.over = True

    def _remember(self) -> None:
        self._undo.append((self.simulation.save(), len(self.log)))
        del self._undo[:-UNDO_DEPTH]


def describe(firing: Firing) -> str:
    """A firing in one line: the transition and what its names are bound to."""
    names = ", ".join(f"{name}={show_value(value, 48)}" for name, value in firing.shown.items())
    return f"{firing.transition.path}" + (f"  [{names}]" if names else "")


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise InputError(f"'run {text}': give a whole number of firings, like run 10")
    return int(text)
