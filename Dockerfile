# nomad-csi with its sandbox, for pipelines and for machines without Linux or Python:
#   docker build --tag nomad-csi .
#   docker run --rm --volume "$PWD:/work" nomad-csi nomad-csi render storage.yaml --out nomad --check
# `make image` lints this recipe, builds it with labels, lists what is in it and runs it.
# It does not run as root. The image for CSI probes on clients, which must, is examples/image/Dockerfile.
# Dependabot proposes newer digests; PYTHON_IMAGE names another base that has `python`.
ARG PYTHON_IMAGE=docker.io/library/python:3.12-slim@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea
FROM ${PYTHON_IMAGE} AS build
WORKDIR /src
RUN ["python", "-m", "venv", "/opt/nomad-csi"]
COPY requirements.lock ./
RUN ["/opt/nomad-csi/bin/pip", "install", "--no-cache-dir", "--require-hashes", "--only-binary", ":all:", "--requirement", "requirements.lock"]
COPY pyproject.toml README.md LICENSE ./
COPY templates templates
COPY infra infra
RUN ["/opt/nomad-csi/bin/pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", "dist", ".", "infra/nomad_csi_sandbox"]
RUN ["/opt/nomad-csi/bin/pip", "install", "--no-cache-dir", "--no-index", "--find-links", "dist", "nomad-csi[sandbox]"]

FROM ${PYTHON_IMAGE}
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="nomad-csi" \
      org.opencontainers.image.description="CSI storage for HashiCorp Nomad on AWS, with its sandbox" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://github.com/OWNER/nomad-csi" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /opt/nomad-csi /opt/nomad-csi
ENV PATH=/opt/nomad-csi/bin:$PATH
RUN ["useradd", "--uid", "10001", "--create-home", "nomad-csi"]
USER 10001
WORKDIR /work
CMD ["nomad-csi", "--help"]
