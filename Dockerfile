# nomad-csi with its sandbox, for pipelines and for machines without Linux or Python:
#   docker build --tag nomad-csi .
#   docker run --rm --volume "$PWD:/work" nomad-csi nomad-csi render storage.yaml --out nomad --check
# It does not run as root. The image for CSI probes on clients, which must, is examples/image/Dockerfile.
FROM python:3.12-slim AS build
WORKDIR /src
RUN ["python", "-m", "venv", "/opt/nomad-csi"]
COPY requirements.lock ./
RUN ["/opt/nomad-csi/bin/pip", "install", "--no-cache-dir", "--require-hashes", "--only-binary", ":all:", "--requirement", "requirements.lock"]
COPY pyproject.toml README.md LICENSE Pulumi.sandbox.yaml ./
COPY templates templates
COPY infra infra
RUN ["/opt/nomad-csi/bin/pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", "dist", ".", "infra/nomad_csi_sandbox"]
RUN ["/opt/nomad-csi/bin/pip", "install", "--no-cache-dir", "--no-index", "--find-links", "dist", "nomad-csi[sandbox]"]

FROM python:3.12-slim
COPY --from=build /opt/nomad-csi /opt/nomad-csi
ENV PATH=/opt/nomad-csi/bin:$PATH
RUN ["useradd", "--uid", "10001", "--create-home", "nomad-csi"]
USER 10001
WORKDIR /work
CMD ["nomad-csi", "--help"]
