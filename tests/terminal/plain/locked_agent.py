"""A bare agent that wants a login before it takes a setting."""

from __future__ import annotations

import json
import sys
from typing import Any

MODEL = {
    "id": "model",
    "name": "Model",
    "category": "model",
    "type": "select",
    "currentValue": "small",
    "options": [{"value": "small", "name": "Small"}, {"value": "large", "name": "Large"}],
}
INFO = {"protocolVersion": 1, "authMethods": [{"id": "easy", "name": "Just so"}]}
LOCKED = {"code": -32000, "message": "who are you?"}


def main() -> None:
    """Answer until the end of the input."""
    is_known = False
    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method")
        is_known = is_known or method == "authenticate"
        answer: dict[str, Any] = {"result": {}}
        match method:
            case "initialize":
                answer = {"result": INFO}
            case "session/new":
                answer = {"result": {"sessionId": "s", "configOptions": [MODEL]}}
            case "session/set_config_option":
                answer = {"result": {}} if is_known else {"error": LOCKED}
            case "session/prompt":
                answer = {"result": {"stopReason": "end_turn"}}
        if "id" in message:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)


if __name__ == "__main__":
    main()
