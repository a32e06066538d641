"""Templates of tasks: Nomad variables in files and in the environment, and the wait for them."""

import pytest

from nomad_csi.plan import task_secrets
from nomad_csi.spec import model as spec
from nomad_csi_sandbox.nomad.tasks import template_text

ITEMS = {"token": 'a"b<c', "user": "me"}
KNOWN = {"nomad/jobs/j": ITEMS}


def render(text, known=KNOWN, environment=None):
    return template_text.render(text, known.get, environment or {})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("plain {x} text", "plain {x} text"),
        ('{{ with nomadVar "nomad/jobs/j" }}{{ .user }}{{ end }}', "me"),
        ('a\n{{- with nomadVar "nomad/jobs/j" -}}\n {{ .user.Value }} \n{{- end -}}\n b', "ameb"),
        ('{{ with nomadVar "nomad/jobs/j" }}{{ .token.Value | toJSON }}{{ end }}', '"a\\"b\\u003cc"'),
        ('{{ with nomadVar "nomad/jobs/j" }}{{ if .none.Value }}x{{ else }}y{{ end }}{{ end }}', "y"),
        ('{{ with nomadVar "nomad/jobs/j" }}{{ if not .user.Value }}x{{ end }}[{{ .none.Value }}]{{ end }}', "[]"),
        ('{{ env "HOME" }}', "/home"),
    ],
)
def test_template_is_filled_in(text, found):
    """As consul-template does it, dashes included."""
    assert render(text, environment={"HOME": "/home"}) == found


def test_variable_that_does_not_exist_holds_the_whole_back():
    """Every one that is missing is named, once; what is left out is not looked for."""
    text = '{{ with nomadVar "a" }}{{ nomadVar "c" }}{{ end }}{{ with nomadVar "b" }}{{ end }}{{ nomadVar "a" }}'

    with pytest.raises(template_text.MissingError) as caught:
        render(text)

    assert caught.value.paths == ("a", "b")


@pytest.mark.parametrize("text", ['{{ with secret "kv/x" }}{{ end }}', "{{ range .x }}{{ end }}", "{{ end }}"])
def test_action_that_is_not_played_is_refused_by_name(text):
    """A gap of the emulator cannot be taken for an error of the template."""
    with pytest.raises(template_text.UnplayedError):
        render(text)


def test_what_the_product_renders_is_played():
    """Its own templates, with and without a missing item."""
    source = spec.CredentialsSpec(nomad_variable="nomad/jobs/j")
    config = {"driver": "zfs-generic-nfs", "httpConnection": {"apiKey": {"from_secret": "token"}}}

    text = task_secrets.config_file(source, config, "j")
    lines = task_secrets.template_data(source, {"TOKEN": "token"}, "j")

    assert '  apiKey: "a\\"b\\u003cc"' in render(text).splitlines()
    assert template_text.environment_of(render(lines)) == {"TOKEN": ITEMS["token"]}
    with pytest.raises(template_text.MissingError, match="nomad/jobs/j/missing/token"):
        render(text, {"nomad/jobs/j": {"user": "me"}})


def test_template_may_not_leave_the_allocation(api, job):
    """Nor be one that the emulator does not emulate."""
    escape = 'template {\n destination = "../../../x"\n data = "x"\n}'
    vault = 'template {\n destination = "local/x"\n data = "{{ with secret \\"kv/x\\" }}{{ end }}"\n}'
    api.run(job("escape", task=escape))
    api.run(job("vault", task=vault))

    api.until_status("escape", "failed")
    api.until_status("vault", "failed")
    [alloc] = api.allocs("vault")
    texts = [item["DisplayMessage"] for item in alloc["TaskStates"]["t"]["Events"]]
    assert 'the sandbox\'s Nomad emulator does not emulate {{ with secret "kv/x" }} in a template' in texts
