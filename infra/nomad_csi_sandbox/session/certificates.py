"""
The certificate of a sandbox's real agent and of its clients, and the authority that signs it and no other ever.

Whoever has the key, which lies in a folder for its owner alone, is the agent, or a client that the agent serves. Its
HTTP and RPC ports end every other connection in the TLS handshake. The authority's own key is not written down.
"""

import datetime as dt
import ipaddress
from collections.abc import Mapping

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509 import oid

NAMES = ("server.global.nomad", "client.global.nomad", "localhost")
"""
Server and client of the one region, as Nomad's RPC knows them, and a host.

Source: hashicorp/nomad, ``helper/tlsutil/config.go`` (``VerifyServerHostname``), 2026-08-21.
"""

ADDRESS = ipaddress.ip_address("127.0.0.1")

VALID_FROM, VALID_FOR = dt.timedelta(days=-1), dt.timedelta(days=3650)
"""Against a clock that is set back; and longer than an agent runs, as each gets a new one."""


def make() -> Mapping[str, str]:
    """Return three PEM files by their names in `folder.Folder`: ``ca_cert``, ``client_cert`` and ``client_key``."""
    signer, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority = _authority(signer)
    own = _certificate(key, signer, authority)
    pem = serialization.Encoding.PEM
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return {
        "ca_cert": authority.public_bytes(pem).decode(),
        "client_cert": own.public_bytes(pem).decode(),
        "client_key": key.private_bytes(pem, *plain).decode(),
    }


def _authority(signer: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    name = _name("nomad-csi sandbox")
    return (
        _builder(name, name, signer.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .sign(signer, hashes.SHA256())
    )


def _certificate(
    key: ec.EllipticCurvePrivateKey, signer: ec.EllipticCurvePrivateKey, authority: x509.Certificate
) -> x509.Certificate:
    names = [*(x509.DNSName(name) for name in NAMES), x509.IPAddress(ADDRESS)]
    purposes = [oid.ExtendedKeyUsageOID.SERVER_AUTH, oid.ExtendedKeyUsageOID.CLIENT_AUTH]
    return (
        _builder(_name(NAMES[0]), authority.subject, key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        .sign(signer, hashes.SHA256())
    )


def _builder(subject: x509.Name, issuer: x509.Name, public_key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    start = dt.datetime.now(dt.UTC) + VALID_FROM
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + VALID_FOR)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(oid.NameOID.COMMON_NAME, text)])


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    unused = ("content_commitment", "data_encipherment", "key_agreement", "encipher_only", "decipher_only")
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_encipherment=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        **dict.fromkeys(unused, False),
    )
