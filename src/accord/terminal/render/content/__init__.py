"""Renderers for content blocks: text, images, audio, links and resources."""
