"""A certificate authority of a test's own."""

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


def named(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


class Authority:
    """Signs certificates; `path` is what a client must trust."""

    def __init__(self, folder: Path, name: str = "test CA"):
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = named(name)
        builder = self._builder(self.name, self.key.public_key(), -1, 2)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        usage = x509.KeyUsage(
            digital_signature=True, key_cert_sign=True, crl_sign=True, content_commitment=False, key_encipherment=False,
            data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
        )  # fmt: skip
        self.certificate = builder.add_extension(usage, critical=True).sign(self.key, hashes.SHA256())
        self.path = folder / f"{name.replace(' ', '-')}.pem"
        self.path.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))

    def _builder(self, subject: x509.Name, public_key, from_day: float, to_day: float) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.timezone.utc)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.name)
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + datetime.timedelta(days=from_day))
            .not_valid_after(now + datetime.timedelta(days=to_day))
        )

    def issue(self, *hosts: str, from_day: float = -1, to_day: float = 1) -> tuple[Path, Path]:
        """A certificate for these names and addresses, for a server or a client: (certificate, key)."""
        key = ec.generate_private_key(ec.SECP256R1())
        alternatives = [
            x509.IPAddress(ipaddress.ip_address(host)) if host[0].isdigit() else x509.DNSName(host) for host in hosts
        ]
        certificate = (
            self._builder(named(hosts[0]), key.public_key(), from_day, to_day)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
            .sign(self.key, hashes.SHA256())
        )
        stem = f"{hosts[0]}-{certificate.serial_number:x}"
        certificate_path, key_path = self.folder / f"{stem}.pem", self.folder / f"{stem}.key"
        certificate_path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        key_path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return certificate_path, key_path
