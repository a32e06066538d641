"""A template cannot print what was not quoted."""

import jinja2
import pytest

from nomad_csi import errors
from nomad_csi.render import environment


def render(source, **values):
    return environment.environment().from_string(source).render(**values)


@pytest.mark.parametrize("value", ["x", 'a" b = "c', 3, True, None, ["x"]])
def test_rejects_a_value_that_passed_no_filter(value):
    """Forgetting a filter is an error at once, whatever the value."""
    with pytest.raises(environment.UnquotedValueError, match="passed no quoting filter"):
        render("{{ value }}", value=value)


def test_rejects_a_value_that_was_changed_after_it_was_quoted():
    """Joining quoted text with other text makes it unquoted again."""
    with pytest.raises(environment.UnquotedValueError):
        render('{{ (value | text) ~ "x" }}', value="a")


def test_rejects_a_name_that_is_not_there():
    """A typing error in a template is not an empty value."""
    with pytest.raises(jinja2.UndefinedError, match="'valeu' is undefined"):
        render("{% if valeu %}{% endif %}{{ value | text }}", value="a")


def test_comment_cannot_be_left():
    """A line break in a comment's text starts another comment line."""
    assert render("{{ value | comment }}", value='a\njob "x" {}') == '# a\n# job "x" {}'


def test_arguments_allow_nomads_variables_and_nothing_else():
    """Driver config is evaluated twice; only known variables may stand there."""
    assert render("{{ value | arguments }}", value=["--endpoint=${CSI_ENDPOINT}"]) == (
        '[\n"--endpoint=${CSI_ENDPOINT}",\n]'
    )
    with pytest.raises(errors.SpecError):
        render("{{ value | arguments }}", value=["--x=${file}"])
