# A scheduled crawl of the sites in /config; see docs/guide/docker.md.
ARG PYTHON=3.13
FROM python:${PYTHON}-slim AS build

# The compiler of the compiled modules.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
COPY . /source
ARG EXTRAS=language,parquet,warc
# `make constraints` pins the versions.
RUN python -m venv /opt/newscrawl \
    && /opt/newscrawl/bin/pip install --no-cache-dir --constraint /source/deploy/constraints.txt \
        "/source[${EXTRAS}]" \
    && /opt/newscrawl/bin/python -c "import newscrawl.document.document as d; assert d.COMPILED"

FROM python:${PYTHON}-slim

RUN useradd --uid 10001 --create-home --home-dir /state newscrawl \
    && mkdir /config /output \
    && chown newscrawl /output
COPY --from=build /opt/newscrawl /opt/newscrawl
COPY deploy/docker_entrypoint.py /usr/local/bin/docker-entrypoint
ENV PATH=/opt/newscrawl/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    HOME=/state \
    NEWSCRAWL_SEGMENTS=/output/segments
USER 10001
WORKDIR /state
VOLUME ["/state", "/output"]
# A crawl ends in order: pending pages are finished, which takes longer than the default of 10 s.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5m --timeout=30s CMD ["docker-entrypoint", "--health"]
ENTRYPOINT ["docker-entrypoint"]
