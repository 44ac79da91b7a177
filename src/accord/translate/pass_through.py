"""Two peers that speak the same version: everything is passed on, with ids of each hop's own."""

from __future__ import annotations

from accord.schema.method import CANCEL_REQUEST
from accord.translate.adapter import Adapter, Outs
from accord.translate.message import AGENT, CLIENT, Notification, Request, Side


class Same(Adapter):
    """Passes on every method without a handler, unknown methods too."""

    def _requested(self, side: Side, request: Request) -> Outs:
        if (side, request.method) in self.on_request:
            return super()._requested(side, request)
        return self.pass_on(side, request, AGENT if side is CLIENT else CLIENT)

    def _notified(self, side: Side, message: Notification) -> Outs:
        if message.method == CANCEL_REQUEST or (side, message.method) in self.on_notification:
            return super()._notified(side, message)
        return [(AGENT if side is CLIENT else CLIENT, message)]
