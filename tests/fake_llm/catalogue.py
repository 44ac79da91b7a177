"""The answers that need no model: lists of models, counts of tokens, errors in each format."""

from typing import Any

from tests.fake_llm.request_parser import Json

MODELS = ("fake-model", "gpt-5", "claude-sonnet-5", "claude-haiku-4-5", "gemini-2.5-flash")

_ANTHROPIC_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_GEMINI_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    429: "RESOURCE_EXHAUSTED",
}


def error(form: str, code: int, message: str) -> Json:
    """An error answer."""
    if form == "anthropic":
        kind = _ANTHROPIC_KINDS.get(code, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}}
    if form == "gemini":
        status = _GEMINI_STATUSES.get(code, "INTERNAL")
        return {"error": {"code": code, "message": message, "status": status}}
    about = {"type": "fake_error", "code": str(code), "param": None}
    return {"error": {"message": message, **about}}


def answer(path: str, models: list[str]) -> Any:
    """The answer to a GET."""
    if path.endswith("/api/tags"):
        return {
            "models": [
                {"name": model, "model": model, "details": {"family": "fake"}} for model in models
            ]
        }
    if path.endswith("/api/version"):
        return {"version": "0.99.0"}
    if path.endswith("/models"):
        if "v1beta" in path:
            return {"models": [_gemini_model(model) for model in models]}
        ends = {"has_more": False, "first_id": models[0], "last_id": models[-1]}
        return {"object": "list", **ends, "data": [_model(model) for model in models]}
    if "/models/" in path:
        name = path.rsplit("/", 1)[-1]
        return {**_model(name), **_gemini_model(name)}
    return {}


def counted(path: str) -> Json:
    """The answer to a POST that does not ask a model."""
    if path.endswith("/count_tokens"):
        return {"input_tokens": 11}
    if path.endswith(":countTokens"):
        return {"totalTokens": 11}
    if path.endswith("/api/show"):
        return {
            "capabilities": ["completion", "tools"],
            "details": {"family": "fake"},
            "model_info": {"fake.context_length": 100000},
        }
    return {}


def _model(name: str) -> Json:
    return {
        "id": name,
        "object": "model",
        "type": "model",
        "display_name": name,
        "created": 0,
        "created_at": "2026-01-01T00:00:00Z",
        "owned_by": "fake",
        "context_length": 200000,
        "max_model_len": 200000,
    }


def _gemini_model(name: str) -> Json:
    return {
        "name": f"models/{name}",
        "displayName": name,
        "inputTokenLimit": 1000000,
        "outputTokenLimit": 60000,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    }
