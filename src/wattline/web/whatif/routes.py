"""`/api/whatif`: a scenario as JSON in, baseline and variant out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from fastapi import Request
from pydantic import ValidationError
from starlette.responses import Response

from wattline.model.errors import InputError
from wattline.model.mistakes import first_said
from wattline.scenario.load import fields_of
from wattline.web.addresses import make_router
from wattline.web.asked import answers_of, pool_of, uploads_of
from wattline.web.problems import documented
from wattline.web.uploads.store import UploadStore
from wattline.web.whatif.answer import content_key
from wattline.web.whatif.baseline import baseline_of
from wattline.web.whatif.body import ShareText, WhatIf
from wattline.web.whatif.choices import choices
from wattline.web.whatif.files import file_name, notebook, scenario_toml
from wattline.web.whatif.guard import UPLOAD
from wattline.web.whatif.said import WhatIfAnswer
from wattline.web.whatif.share import question_of, share_text, shared_question
from wattline.web.worker.pool import WorkerPool

router = make_router("/api/whatif", "what if")
WARM_S = 600.0
_NO_RUN = documented(401, 403, 404, 413, 422, 429)
_RUN = documented(401, 403, 404, 413, 422, 429, 503)


@cache
def _known() -> dict[str, Any]:
    return choices()


@router.get("/choices", responses=documented(401, 429))
def get_choices(request: Request) -> Response:
    """Logs, generators, machines, policies along each axis, and limits."""
    pool, uploads = pool_of(request), uploads_of(request)
    limits = {**_known()["limits"], "time_s": pool.limits.time_s,
              "memory_bytes": pool.limits.memory_bytes, **uploads.limits.said()}
    return _json({**_known(), "limits": limits, "warm": pool.warm})


@router.post("", responses={**_RUN, 200: {"model": WhatIfAnswer}})
def post_whatif(asked: WhatIf, request: Request) -> Response:
    """Simulate the scenario and its baseline: metrics, curves, who is hurt, assumptions."""
    question = question_of(asked.checked())
    files, kept = _files(question, uploads_of(request)), answers_of(request)
    key = content_key(question) + json.dumps(sorted(files.items()))
    answer = kept.get(key)
    if answer is None:
        variant, given = asked.fields(), question.get("baseline")
        base = baseline_of(variant)[0] if given is None else given
        answer = pool_of(request).ask(
            "whatif", {"variant": variant, "baseline": given, "files": files},
            key=content_key(base))
        kept.put(key, answer)
    answer = {**answer, "share": share_text(asked),
              "variant": {**answer["variant"], "said": asked.name}}
    return _json(answer)


@router.post("/share", responses=_NO_RUN)
def post_share(asked: WhatIf) -> Response:
    """The text of a link for this question."""
    return _json({"share": share_text(asked.checked())})


@router.post("/shared", responses=_NO_RUN)
def post_shared(link: ShareText) -> Response:
    """The question that the text of a link holds."""
    found = shared_question(link.share)
    try:
        return _json({"scenario": question_of(WhatIf.model_validate(found).checked())})
    except ValidationError as error:
        said = first_said(error.errors(include_url=False), WhatIf, as_json=True)
        raise InputError(f"this link: {said}") from None


@router.post("/scenario", responses={**_NO_RUN, 200: {"content": {"application/toml": {}}}},
             response_class=Response)
def post_scenario(asked: WhatIf, request: Request) -> Response:
    """The scenario as a file that `wattline simulate` runs."""
    fields = asked.checked().fields()
    text = scenario_toml(fields, _names(asked, uploads_of(request)))
    return _file(text, "application/toml", file_name(asked.name, ".toml"))


@router.post("/notebook", responses={**_NO_RUN, 200: {"content": {
    "application/x-ipynb+json": {}}}}, response_class=Response)
def post_notebook(asked: WhatIf, request: Request) -> Response:
    """The question as a notebook."""
    question = question_of(asked.checked())
    made = notebook(asked.fields(), question.get("baseline"), _names(asked, uploads_of(request)))
    return _file(json.dumps(made, indent=1), "application/x-ipynb+json",
                 file_name(asked.name, ".ipynb"))


def warm_up(pool: WorkerPool) -> None:
    """Read, compile and run in the background what most people ask first."""
    asked = WhatIf.model_validate(fields_of("bundled:main-capped"))
    pool.warm_up([("whatif", {"variant": asked.fields(), "baseline": None})], WARM_S)


def _uploads_named(question: Mapping[str, Any]) -> list[str]:
    sides = (question, question.get("baseline") or {})
    named = [(side.get("trace") or {}).get("file") for side in sides]
    return [file for file in named if isinstance(file, str) and file.startswith(UPLOAD)]


def _files(question: Mapping[str, Any], uploads: UploadStore) -> dict[str, str]:
    return {file: str(uploads.find(file.removeprefix(UPLOAD)).path)
            for file in _uploads_named(question)}


def _names(asked: WhatIf, uploads: UploadStore) -> dict[str, str]:
    return {file: uploads.find(file.removeprefix(UPLOAD)).name
            for file in _uploads_named(question_of(asked))}


def _json(answer: Any) -> Response:
    return Response(json.dumps(answer, allow_nan=False, separators=(",", ":")),
                    media_type="application/json")


def _file(text: str, kind: str, name: str) -> Response:
    return Response(text, media_type=kind,
                    headers={"Content-Disposition": f'attachment; filename="{name}"'})
