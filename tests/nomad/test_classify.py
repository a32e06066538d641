"""Every sentence that a real Nomad was seen to answer with, and what it means."""

import pytest

from nomad_csi.nomad import classify

CREATE = "1 error occurred:\n\t* controller create volume: CSI.ControllerCreateVolume: {}\n\n"
NOT_FOUND = (
    "controller validate volume: CSI.ControllerValidateVolume: controller plugin returned an internal error, check the "
    "plugin allocation logs for more information: rpc error: code = Internal desc = Could not get volume with ID "
    '"vol-0123456789abcdef0": operation error EC2: DescribeVolumes, api error InvalidVolume.NotFound: The volume ...'
)

WRONG = "or it is expired, deleted or of another cluster"

SENTENCES = [
    # Registering and updating (a real agent, 2.0.6-dev). Any other sentence is a refusal.
    (500, "no CSI plugin named: ghost could be found", "refused"),
    (500, "unable to update volume: can not update mount options while volume is in use", "refused"),
    # Creating: once the plugin was asked, a lost answer may hide storage.
    (500, CREATE.format("rpc error: code = DeadlineExceeded desc = context deadline exceeded"), "ambiguous"),
    (500, CREATE.format("rpc error: code = Unavailable desc = error reading from server: EOF"), "ambiguous"),
    (500, CREATE.format('rpc error: code = Aborted desc = Create volume request for "x" is in progress'), "retry"),
    (500, CREATE.format("timeout while connecting to gRPC socket: failed to stat socket"), "retry"),
    (500, "no healthy controllers for CSI plugin: stubm", "retry"),
    (500, "failed to find instances of controller plugin", "retry"),
    (500, "failed to find clients running controller plugin", "retry"),
    (
        500,
        "controller validate volume: CSI.ControllerValidateVolume: timeout while connecting to gRPC socket: failed to "
        "stat socket: context deadline exceeded",
        "retry",
    ),
    (500, "controller validate volume: CSI client error (retryable): Unknown node 5f0c", "retry"),
    (
        500,
        "controller validate volume: CSI.ControllerValidateVolume: controller plugin returned an internal error, check "
        "the plugin allocation logs for more information: rpc error: code = Internal desc = Could not get volume with "
        'ID "vol-1": operation error EC2: DescribeVolumes, api error RequestLimitExceeded: Request limit exceeded.',
        "retry",
    ),
    (500, CREATE.format("rpc error: code = Internal desc = api error ThrottlingException: Rate exceeded"), "retry"),
    (500, CREATE.format("rpc error: code = ResourceExhausted desc = no room in any place asked for"), "retry"),
    (500, "controller validate volume: rpc error: code = DeadlineExceeded desc = context deadline exceeded", "retry"),
    (500, "unable to update volume: unable to expand volume: context deadline exceeded", "ambiguous"),
    # Deregistering.
    (500, "volume in use: v1", "refused"),
    (500, "rpc error: volume in use: v1", "refused"),
    # Jobs.
    # Rights.
    (403, "Permission denied", "refused"),
    (500, "Permission denied", "refused"),
    (500, "ACL token not found or invalid workload identity", "refused"),
    (403, "ACL token expired", "refused"),
    # The cluster while its leader changes, and connections.
    (500, "rpc error: EOF", "ambiguous"),
    (500, "rpc error: failed to get conn: dial tcp 127.0.0.1:4647: connect: connection refused", "retry"),
    (500, "rpc error: failed to get conn: dial tcp 10.0.0.1:4647: i/o timeout", "retry"),
    (500, "No cluster leader", "retry"),
    (500, "rpc error: No cluster leader", "retry"),
    (500, "node is not the leader", "retry"),
    (500, "leadership lost while committing log", "ambiguous"),
    (500, "timed out enqueuing operation", "retry"),
    (500, "read tcp 127.0.0.1:1->127.0.0.1:4647: read: connection reset by peer", "ambiguous"),
    (500, "read tcp 127.0.0.1:1->127.0.0.1:4647: i/o timeout", "ambiguous"),
    (429, "Your IP is issuing too many concurrent connections, please rate limit your calls", "retry"),
    (400, "Client sent an HTTP request to an HTTPS server.", "refused"),
    # Not Nomad.
    (401, "Throttling", "refused"),
    (502, "volume in use", "ambiguous"),
    (503, "", "retry"),
    (504, "", "ambiguous"),
    (500, "any other text", "refused"),
]


def call(method="PUT", path="/v1/volume/csi/v1", *, has_token=True):
    return classify.Call(method=method, path=path, namespace="storage", has_token=has_token)


@pytest.mark.parametrize(("status", "text", "kind"), SENTENCES)
def test_sentence_has_its_kind(status, text, kind):
    """What a write may do after this answer."""
    assert classify.answered(call(), status, text).kind == kind


@pytest.mark.parametrize(("status", "text", "kind"), SENTENCES)
def test_read_is_never_ambiguous(status, text, kind):
    """A read that was lost may be sent again; everything else is as for a write."""
    classified = classify.answered(call("GET"), status, text)

    assert classified.kind == {"ambiguous": "retry"}.get(kind, kind)


@pytest.mark.parametrize("text", [sentence for sentence, kind, _ in classify.SENTENCES if kind == "refused"])
def test_refusal_of_the_table_says_what_to_do(text):
    """Any other refusal is Nomad's own text."""
    assert classify.answered(call(), 500, f"rpc error: {text}: x").advice
    assert not classify.answered(call(), 500, "rpc error: volume external ID cannot be updated").advice


@pytest.mark.parametrize(
    ("method", "path", "needs"),
    [
        ("GET", "/v1/plugins", 'plugin { policy = "read" } ("write" grants nothing)'),
        (
            "PUT",
            "/v1/volumes",
            'csi-write-volume in namespace storage, and plugin { policy = "read" } ("write" grants nothing)',
        ),
        ("DELETE", "/v1/volume/csi/v1", "csi-write-volume in namespace storage"),
        ("PUT", "/v1/system/gc", "management rights"),
        ("GET", "/v1/volume/csi/v1", "csi-read-volume in namespace storage (or csi-mount-volume, read-job)"),
        ("POST", "/v1/job/ebs/plan", "submit-job in namespace storage"),
        ("GET", "/v1/var/a/b", 'variables { path "a/b" { capabilities = ["read"] } } in namespace storage'),
        ("GET", "/v1/operator/license", "the rights for this call"),
    ],
)
def test_denied_call_names_the_capabilities_it_needs(method, path, needs):
    """403 says what to put into the policy."""
    denied = classify.answered(call(method, path), 403, "Permission denied")
    without = classify.answered(call(method, path, has_token=False), 403, "Permission denied")

    assert denied == classify.Classification(kind="refused", advice=f"the token needs {needs}; {WRONG}")
    assert without.advice == f"set NOMAD_TOKEN to a token that has {needs}"


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("GET", "/v1/volume/csi/v1", "retry"),
        ("POST", "/v1/jobs/parse", "retry"),
        ("POST", "/v1/job/plan/plan", "retry"),
        ("POST", "/v1/job/plan", "ambiguous"),
        ("POST", "/v1/jobs", "ambiguous"),
        ("DELETE", "/v1/job/ebs", "ambiguous"),
        ("PUT", "/v1/volumes", "ambiguous"),
    ],
)
def test_silence_is_ambiguous_where_something_may_have_changed(method, path, kind):
    """Parsing, validating and planning only read, though they are sent with POST."""
    assert classify.unanswered(call(method, path)).kind == kind
