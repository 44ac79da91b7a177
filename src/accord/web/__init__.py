"""The web client: its built page, and how a gateway serves it.  The source is in `web/frontend`."""
