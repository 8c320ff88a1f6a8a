#!/usr/bin/env bash
# Runs a flow and waits for its answer. Needs only curl 7.76 or newer.
#   WEIR_URL=http://127.0.0.1:8787 WEIR_API_KEY=weir_… examples/clients/curl/execute.sh 'rivers, dams'
set -euo pipefail
message=${1:-rivers, dams} # goes into JSON as it is: no quotes or backslashes

answer=$(mktemp)
trap 'cat "$answer"; rm -f "$answer"' EXIT

# curl repeats the request on 429 (after Retry-After) and 5xx; with one Idempotency-Key it starts one run.
curl --silent --show-error --fail-with-body --retry 5 --retry-connrefused --output "$answer" \
  "${WEIR_URL:-http://127.0.0.1:8787}/api/v1/seq/demo/demo/hello/execute" \
  -H "Authorization: Bearer $WEIR_API_KEY" \
  -H "Idempotency-Key: $(date +%s)-$$-$RANDOM" \
  -H 'Content-Type: application/json' \
  -d "{\"message\": \"$message\"}"
