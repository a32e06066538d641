"""Certificates of servers on loopback, and of the authority that signs them."""

import datetime as dt
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def write_all(folder, *names):
    """Write an authority, ``ca.pem``, and for each of *names* a certificate and its key: NAME.pem and NAME-key.pem."""
    signer = _write(folder, "ca")
    for name in names:
        _write(folder, name, signer)


def _write(folder, name, signer=None):
    """Write key and certificate of *name*, signed by *signer* (key and certificate) or, an authority, by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    by_key, by_certificate = signer or (key, None)
    day = dt.timedelta(days=1)
    names = [x509.DNSName(name), x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by_certificate.subject if by_certificate else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(dt.datetime.now(dt.UTC) - day)
        .not_valid_after(dt.datetime.now(dt.UTC) + day)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=signer is None, path_length=None), critical=True)
        .sign(by_key, hashes.SHA256())
    )
    (folder / f"{name}.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / f"{name}-key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return key, made
