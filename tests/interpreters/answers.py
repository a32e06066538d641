"""
Run by any Python, with the standard library alone: what quoting, masking, layout, scanning and reading answer.

Reads JSON from standard input: ``infra``, the folder of the product; ``texts``; and ``patterns``, the regular
expressions of the product with their flags and the texts for each. Writes a digest of all answers for each text, and
for each pattern. ``whole``: the index of a text whose answers are written in full instead.
"""

import hashlib
import json
import re
import sys
import types


def _without_clusters(pattern):
    r"""Return *pattern* of the module `regex`, which is not in every Python, with ``\X`` as one character."""
    return re.compile(pattern.replace(r"[\p{M}\u200d])\p{Lo}", "\u200d).").replace(r"\X", r"(?s:.)"))


def _answer(function, *given):
    try:
        return ascii(function(*given))  # repr shows what Unicode's tables of this Python have
    except Exception as error:  # noqa: BLE001  # whatever it is, it is the same everywhere
        return f"{type(error).__name__}: {error}"


def _functions():
    from nomad_csi.hcl import layout, quote, read, scan  # noqa: PLC0415  # found once the folder is known
    from nomad_csi.text import foreign, redaction, secrets  # noqa: PLC0415

    def tokens(text, dialect):
        scanner, seen = scan.Scanner(text=text, dialect=dialect), []
        try:
            while scanner.position < len(text):
                scanner.skip()
                scanner.skip_token()
                seen.append(scanner.position)
        except scan.UnreadableError:
            seen.append(list(map(str, scanner.problems)))
        return seen

    def assigned(function, *more):
        r"""Return *function* without letters that newer tables of Unicode have: they are ``\\w`` in newer Pythons."""
        return lambda text: function(quote._LATER.sub("?", text), *more)

    known = ["hunter2-and-more", 'a"b\\c%41', "first-line\nsecond-line\n"]
    return [
        *(quote.string, quote.job_string, quote.config_string, quote.comment, quote.key, quote.heredoc),
        *(
            assigned(redaction.redact),
            assigned(redaction.redact, known),
            assigned(foreign.visible),
            assigned(foreign.clean),
        ),
        *(assigned(secrets.text_has_secret), assigned(secrets.argument_has_secret), assigned(secrets.flag_has_secret)),
        assigned(layout.layout),
        lambda text: layout.layout(f"a={quote.string(text)}\nbcd = 1 # {text[:20]!a}\n"),
        *(lambda text, dialect=dialect: tokens(text, dialect) for dialect in ("job", "volume", "json")),
        *(assigned(read.read_volume), assigned(read.read_job)),
        *(lambda text, of=of: of(f"a = {quote.string(text)}\n") for of in (read.read_volume, read.read_job)),
    ]


def _of_pattern(pattern, flags, texts):
    compiled = re.compile(pattern, flags)
    ways = (compiled.match, compiled.fullmatch, compiled.search)
    for text in texts:
        yield [found and (found.span(), found.groups()) for found in (way(text) for way in ways)]
        yield [found.span() for found in compiled.finditer(text)]


def _digest(answers):
    whole = hashlib.sha256()
    for answer in answers:
        whole.update(ascii(answer).encode())
        whole.update(b"\0")
    return whole.hexdigest()[:16]


def main():
    given = json.load(sys.stdin)
    sys.path.insert(0, given["infra"])
    sys.modules["regex"] = types.SimpleNamespace(compile=_without_clusters)
    functions = _functions()
    if "whole" in given:
        json.dump([_answer(function, given["texts"][given["whole"]]) for function in functions], sys.stdout)
        return
    texts = [_digest(_answer(function, text) for function in functions) for text in given["texts"]]
    patterns = [_digest(_of_pattern(*pattern)) for pattern in given["patterns"]]
    json.dump({"texts": texts, "patterns": patterns}, sys.stdout)


if __name__ == "__main__":
    main()
