#!/usr/bin/env bash
# Starts a run, follows its events, and asks for its result. Needs curl 7.76 or newer, and jq.
#   WEIR_URL=http://127.0.0.1:8787 WEIR_API_KEY=weir_… examples/clients/curl/jobs.sh 'rivers, dams'
set -euo pipefail
message=${1:-rivers, dams}
jobs=${WEIR_URL:-http://127.0.0.1:8787}/api/v1/seq/demo/demo/hello/jobs

answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

# call URL [OPTION…]: repeated on 429 (after Retry-After) and 5xx. A refusal is printed and ends the script.
call() {
  curl --silent --show-error --fail-with-body --retry 5 --retry-connrefused --output "$answer" \
    -H "Authorization: Bearer $WEIR_API_KEY" "$@" || { cat "$answer" >&2; exit 1; }
  cat "$answer"
}

# With one Idempotency-Key, a repeated request starts only one run.
job=$(jq -n --arg message "$message" '{$message}' | call "$jobs" \
  -H "Idempotency-Key: $(date +%s)-$$-$RANDOM" -H 'Content-Type: application/json' --data-binary @-)
id=$(jq -r .executionId <<<"$job")

# After a break, the stream continues after the last event received.
last=0 event=
for wait in 1 2 4 8 16; do
  while read -r field value; do
    case $field in
      id:) last=$value ;;
      event:) event=$value ;;
      data:) [ "$event" = stream_interrupted ] || echo "$event $(jq -r '.key // .executionId' <<<"$value")" ;;
    esac
  done < <(curl --silent --show-error --fail --no-buffer \
    -H "Authorization: Bearer $WEIR_API_KEY" -H "Last-Event-ID: $last" "$jobs/$id/events")
  case $event in run_*) break ;; esac
  sleep "$wait"
done

# Without events: ask until the run has ended. Each answer comes with the end of the run, or after 20 seconds.
job=$(call "$jobs/$id?wait=20")
while [ "$(jq -r .status <<<"$job")" = started ]; do
  job=$(call "$jobs/$id?wait=20")
done
jq '.result // .errorMessage' <<<"$job"
[ "$(jq -r .status <<<"$job")" = completed ]
