"""Models of a session: gone from the official schema, and still in use."""

from accord.schema.struct import ES, UNSET, E, Patch, WireStruct


class ModelInfo(WireStruct, frozen=True, kw_only=True):
    """A model that the agent can use."""

    model_id: str
    name: str
    description: E[Patch[str]] = UNSET


class SessionModelState(WireStruct, frozen=True, kw_only=True):
    """The models there are and the one in use: gone from the schema, still spoken by agents."""

    available_models: ES[list[ModelInfo]]
    current_model_id: str


class SetSessionModelRequest(WireStruct, frozen=True, kw_only=True):
    """Switch the model: gone from the schema, still spoken by clients."""

    session_id: str
    model_id: str


class SetSessionModelResponse(WireStruct, frozen=True, kw_only=True):
    """The model is in use."""
