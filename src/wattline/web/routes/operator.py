"""What changes the machine: shown first, confirmed, journalled, done."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Request
from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt
from starlette.responses import Response

from wattline.model.errors import WattlineError
from wattline.web.addresses import make_router
from wattline.web.answering import answer
from wattline.web.asked import beat_of, source_of
from wattline.web.problems import Refused, own_mistake
from wattline.web.sources.acting import checked
from wattline.web.sources.shape import Act
from wattline.web.viewer import Viewer, viewer_of

router = make_router("/api/operator", "operator")
Asker = Annotated[Viewer, Depends(viewer_of)]


class Wanted(BaseModel):
    """An action: `set_cap` {watts}, `reserve` {watts, duration_s, in_s, name}, `unreserve` {name}
    or, of a live machine, `set_mode` {mode: decide or guard}.

    A plain number as the value of `set_cap` are watts; null is no cap.
    """

    model_config = ConfigDict(extra="forbid")
    action: str = Field(max_length=40)
    value: dict[str, Any] | StrictInt | StrictFloat | None = None

    def act(self) -> Act:
        if isinstance(self.value, dict):
            return checked(Act(self.action, self.value))
        # Only who says null means none: a value that was forgotten lifts no cap.
        given = "value" in self.model_fields_set
        return checked(Act(self.action, {"watts": self.value} if given else {}))


class Confirmed(Wanted):
    confirm: str = Field(max_length=400)


class Preview(BaseModel):
    consequences: list[str]
    confirm: str
    """The token that applying it needs; it is of this action and user, for two minutes."""
    valid_s: float


class Applied(BaseModel):
    said: str
    remarks: list[str]
    journalled: dict[str, Any]


class Lines(BaseModel):
    lines: list[dict[str, Any]]


def operator_only(viewer: Asker) -> Viewer:
    """The guard has seen to it; a route that stood elsewhere would still ask."""
    if viewer.role != "operator":
        raise Refused(403, f"this needs the role operator, and yours is {viewer.role}")
    return viewer


Operator = Annotated[Viewer, Depends(operator_only)]


@router.post("/preview", response_model=Preview)
def preview(request: Request, operator: Operator, wanted: Wanted) -> Response:
    """What would come of an action; nothing is done."""
    from wattline.web.confirming import VALID_S

    act = wanted.act()
    consequences = source_of(request).consequences(act)
    token = request.app.state.confirmations.make(act, operator.user)
    return answer({"consequences": consequences, "confirm": token, "valid_s": VALID_S})


@router.post("/apply", response_model=Applied)
def apply(request: Request, operator: Operator, wanted: Confirmed) -> Response:
    """Do what was shown. It is journalled with who and when, whatever comes of it."""
    act = wanted.act()
    journal = request.app.state.journal
    request.app.state.confirmations.take(act, operator.user, wanted.confirm)
    journal.asked(operator.user, act)
    try:
        done = source_of(request).apply(act, operator.user)
    except WattlineError as error:
        journal.came(operator.user, act, "refused", request.app.state.places.withheld(str(error)))
        raise
    except Exception as error:
        journal.came(operator.user, act, "failed", own_mistake(error))
        raise
    line, unwritten = journal.came(operator.user, act, "done", done.said)
    beat_of(request).forget()
    return answer({"said": done.said, "remarks": [*done.remarks, *unwritten], "journalled": line})


@router.get("/journal", response_model=Lines)
def journal(request: Request, operator: Operator) -> Response:
    """The last actions, the newest first."""
    return answer({"lines": list(request.app.state.journal.last)})
