# The program alone: one bundle of JavaScript on Node 24. It runs as an unprivileged user with a read-only root; what it
# writes goes to --data, for which a volume is mounted.
FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npm ci --ignore-scripts --no-audit --no-fund && npm run build

FROM node:24-bookworm-slim
LABEL org.opencontainers.image.title="flotilla" \
      org.opencontainers.image.licenses="Apache-2.0"
# glibc returns large buffers at once, as bin/flotilla sets it. Compiled code is not cached: the root is read-only.
ENV NODE_ENV=production \
    MALLOC_MMAP_THRESHOLD_=131072 \
    MALLOC_TRIM_THRESHOLD_=16777216 \
    MALLOC_MMAP_MAX_=16384 \
    MALLOC_ARENA_MAX=2
COPY --from=build /src/package.json /src/LICENSE /opt/flotilla/
COPY --from=build /src/dist /opt/flotilla/dist
RUN install -d -o 1000 -g 1000 -m 700 /var/lib/flotilla
# The user node of the base image. A number, so that Kubernetes can check that it is not root.
USER 1000:1000
WORKDIR /var/lib/flotilla
VOLUME /var/lib/flotilla
EXPOSE 6443
ENTRYPOINT ["node", "--disable-warning=ExperimentalWarning", "/opt/flotilla/dist/server/main.js"]
CMD ["help"]
