"""
Hostile text through our quoting and the reader of each dialect: nothing is changed, nothing gets in.

Many texts share a file, so that a text which ends its literal early, or swallows a line, shows in its neighbours. The
readers themselves are held to Nomad's in ``tests/real``.
"""

import itertools
import os
import random
import unicodedata

import pytest

from nomad_csi import errors
from nomad_csi.hcl import layout, quote, read
from tests import hostile

IN_A_FILE = 50
COUNT = IN_A_FILE * max(int(os.environ.get("HCL_EXAMPLES", "200")) // 10, 1)
"""Texts of each test: 1,000, five times as many with ``make test-all``, a hundred times with ``make soak``."""


@pytest.fixture
def seed():
    """Another one in each run; a failure shows it among its values."""
    return random.randrange(2**32)  # noqa: S311  # tests are to be repeated


def files(texts):
    """Yield *texts*, some at a time."""
    yield from iter(lambda: list(itertools.islice(texts, IN_A_FILE)), [])


def attributes(texts, quoting):
    """Return a file with an attribute for each of *texts*, laid out."""
    return layout.layout("".join(f"a{index} = {quoting(text)}\n" for index, text in enumerate(texts)))


def test_text_of_a_volume_file_reads_as_itself(seed):
    """Every text comes back, character by character, and no other attribute appears."""
    seen = 0
    for texts in files(hostile.texts(COUNT, seed)):
        document = read.read_volume(attributes(texts, quote.string))
        assert document == {f"a{index}": text for index, text in enumerate(texts)}
        seen += len(texts)
    assert seen == COUNT


def test_text_reads_alike_in_both_dialects(seed):
    """Under HCL2 the same file means the same, in NFC form."""
    for texts in files(hostile.texts(COUNT, seed)):
        document = read.read_job(attributes(texts, quote.string))
        assert document == {f"a{index}": unicodedata.normalize("NFC", text) for index, text in enumerate(texts)}


def test_keys_and_values_of_maps_read_as_themselves(seed):
    """Context and parameters come back, whatever their keys are."""
    for texts in files(hostile.texts(COUNT, seed)):
        pairs = dict(zip(texts[::2], texts[1::2], strict=True))
        document = read.read_volume(layout.layout(f'context = {quote.string_map(pairs)}\nlast = "kept"\n'))
        assert document == {"context": pairs, "last": "kept"}


def test_lists_read_as_themselves(seed):
    """Mount flags come back in their order."""
    for texts in files(hostile.texts(COUNT, seed)):
        document = read.read_volume(layout.layout(f'flags = {quote.string_list(texts)}\nlast = "kept"\n'))
        assert document == {"flags": texts, "last": "kept"}


@pytest.mark.parametrize("quoting", [quote.job_string, quote.config_string])
def test_text_of_a_job_file_is_refused_or_reads_as_itself(seed, quoting):
    """What HCL2 or the client would change is refused; all the rest comes back."""
    for texts in files(hostile.texts(COUNT, seed)):
        taken = [text for text in texts if _is_taken(quoting, text)]
        assert taken == [
            text for text in texts if "${" not in text and "%{" not in text and unicodedata.is_normalized("NFC", text)
        ]
        document = read.read_job(attributes(taken, quoting))
        assert document == {f"a{index}": text for index, text in enumerate(taken)}


def test_text_of_a_job_file_that_is_allowed_is_taken(seed):
    """Hostile, but normalised and without templates: none of it is refused."""
    seen = 0
    for texts in files(hostile.job_texts(COUNT // 2, seed)):
        document = read.read_job(attributes(texts, quote.job_string))
        assert document == {f"a{index}": text for index, text in enumerate(texts)}
        seen += len(texts)
    assert seen == COUNT // 2


@pytest.mark.parametrize("quoting", [quote.string, quote.job_string, quote.config_string, quote.key])
def test_unwritable_text_is_refused_and_not_shown(seed, quoting):
    """NUL and half a surrogate pair, wherever they stand; the message is plain ASCII and holds no value."""
    for text in hostile.unwritable_texts(COUNT // 5, seed):
        with pytest.raises(errors.SpecError) as refusal:
            quoting(text)
        assert str(refusal.value).isascii()
        assert len(str(refusal.value)) < 200


def test_comments_hold_any_text(seed):
    """Between two attributes a comment says whatever it likes; nothing of it becomes a third."""
    for texts in files(hostile.texts(COUNT, seed)):
        comments = "\n".join(quote.comment(text) for text in texts)
        text = layout.layout(f'first = "kept"\n{comments}\nlast = "kept"\n')
        assert read.read_volume(text) == read.read_job(text) == {"first": "kept", "last": "kept"}


def _is_taken(quoting, text):
    try:
        quoting(text)
    except errors.SpecError:
        return False
    return True
