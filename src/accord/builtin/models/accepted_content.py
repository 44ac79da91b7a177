"""What a model takes beside text.  Decided by its name: nothing heavy is loaded for it.

What always holds
    * A model that nobody knows is taken for one that reads text only.
"""

from __future__ import annotations

import re
from typing import Final

from accord.agent.agent import PromptType
from accord.builtin.models.providers import ModelChoice

PDF: Final = "application/pdf"

# Models by name that see; others of the same provider read only.
_OPENAI_SEES = re.compile(r"^(gpt-4o|gpt-4\.|gpt-4-turbo|gpt-5|gpt-6|chatgpt|o1|o3|o4)")
_OPENAI_BLIND = re.compile(r"^(o1-mini|o3-mini|gpt-oss)|audio|transcribe")
_OPENAI_HEARS = re.compile(r"^gpt-(4o(-mini)?-)?audio")
_LOCAL_SEES = re.compile(
    r"llava|vision|[-:._]?vl\b|-vl-|qwen[\d.]*-?vl|gemma-?[34]|minicpm-v|moondream|pixtral|llama-?4"
)


def accepted_content(choice: ModelChoice | None) -> frozenset[PromptType]:
    """What a prompt for this model may be made of, beside text and links.

    Embedded context is always taken: text is text.  Blobs in it are judged by `takes_media`.
    """
    accepted: set[PromptType] = {"embedded_context"}
    if choice is not None:
        if takes_media(choice, "image/png"):
            accepted.add("image")
        if takes_media(choice, "audio/wav"):
            accepted.add("audio")
    return frozenset(accepted)


def takes_media(choice: ModelChoice, media_type: str) -> bool:
    """Whether the model reads data of this type."""
    kind = media_type.partition("/")[0]
    model = choice.model.lower()
    if choice.provider == "anthropic":
        return media_type == PDF or (kind == "image" and not media_type.endswith("+xml"))
    if choice.provider == "google":
        return "tts" not in model and (kind in ("image", "audio", "video") or media_type == PDF)
    own_server = choice.provider == "ollama" or choice.base_url is not None
    if kind == "image":
        sees = bool(_OPENAI_SEES.search(model)) and not _OPENAI_BLIND.search(model)
        return bool(_LOCAL_SEES.search(model)) if own_server and not sees else sees
    if kind == "audio":
        return not own_server and bool(_OPENAI_HEARS.search(model))
    return not own_server and media_type == PDF and bool(_OPENAI_SEES.search(model))
