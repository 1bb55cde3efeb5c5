# treecrf on a CPU: the command, the English model and the service.
#
#   docker build --tag=treecrf --build-arg TORCH_INDEX=URL .
#   docker run --rm treecrf parse --text "I saw Sarah with a telescope." --format tree
#   docker run --rm -p 8000:8000 treecrf serve --host 0.0.0.0
FROM python:3.12-slim

WORKDIR /opt/treecrf
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src

# The index of torch's builds for CPUs, which pytorch.org names; the usual ones bring gigabytes of CUDA.
ARG TORCH_INDEX
RUN pip install --no-cache-dir -c constraints.txt \
        ${TORCH_INDEX:+--extra-index-url "$TORCH_INDEX"} torch \
    && pip install --no-cache-dir -c constraints.txt ".[serve]"

# Kernels are compiled now, for a user who need not be root.
ENV NUMBA_CACHE_DIR=/var/cache/treecrf
RUN mkdir -p "$NUMBA_CACHE_DIR" \
    && treecrf parse --text "So that it is fast." > /dev/null \
    && chmod -R a+rwX "$NUMBA_CACHE_DIR" \
    && useradd --create-home treecrf
USER treecrf
WORKDIR /home/treecrf

EXPOSE 8000
ENTRYPOINT ["treecrf"]
CMD ["--help"]
