"""Fuzz targets: promises about any bytes, held against Hypothesis here and atheris by a script."""
