"""A proxy that turns everything the agent says into capital letters.  Usage: shout_proxy.py COMMAND..."""

import sys
from typing import Any

from accord import Proxy

proxy = Proxy("shout")


@proxy.on_update()
def louder(update: dict[str, Any]) -> None:
    if update["sessionUpdate"] in ("agent_message", "agent_message_chunk"):
        content = update.get("content")
        for block in content if isinstance(content, list) else [content]:
            if block and block["type"] == "text":
                block["text"] = block["text"].upper()


proxy.run(sys.argv[1:] or None)
