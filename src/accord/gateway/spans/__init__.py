"""Spans of what a gateway does, for OpenTelemetry where it is installed and wanted."""
