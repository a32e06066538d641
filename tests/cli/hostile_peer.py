"""A Nomad that repeats a text in all of its replies."""

import contextlib
import json

TEXTS = {"HealthDescription", "Name", "Description", "StatusDescription", "Warnings", "Provider", "Message", "Version"}
"""Keys of replies whose values are for people, or are shown to them."""


def hostile(value, text):
    """Return *value*, a decoded reply, with *text* behind what is for people."""
    if isinstance(value, dict):
        return {
            key: f"{item} {text}" if key in TEXTS and isinstance(item, str) else hostile(item, text)
            for key, item in value.items()
        }
    return [hostile(item, text) for item in value] if isinstance(value, list) else value


def acting(text, refuse_from):
    """Return what a peer does: it refuses each request from a number on, and repeats *text* in all other replies."""

    def act(handler):
        number = len(handler.server.proxy.requests)
        if number > refuse_from:
            return handler.answer((400, 500, 403)[number % 3], f"rpc error: code = Internal desc = {text}")
        status, content, headers = handler.forward()
        try:
            content = json.dumps(hostile(json.loads(content), text))
        except ValueError:
            content = content.decode() + text
        with contextlib.suppress(OSError):  # the command has gone
            handler.answer(status, content, headers)
        return None

    return act
