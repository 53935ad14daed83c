# The release of npm run pack in a slim image: docs/operations.md, "Containers".
FROM node:24-slim AS build
WORKDIR /source
# The context has no repository, so the version is told: deploy/build-image.sh.
ARG GATEHOUSE_VERSION=
COPY . .
RUN npm run pack \
  && mkdir /release \
  && tar -xzf gatehouse-*.tar.gz -C /release --strip-components=1 \
  # What products are tested with is of no use in a deployment.
  && rm -r /release/lib/packages

FROM node:24-slim
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    LOG_FORMAT=json
WORKDIR /srv/gatehouse
COPY --from=build /release ./
# The service writes no file: the root file system may be read-only.
USER node
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 CMD ["node", "healthcheck.js"]
CMD ["node", "--max-semi-space-size=8", "server.js"]
