#!/usr/bin/env bash
# Steps through a flow: looks at each output, changes one on the way, and lets the rest run. Needs curl 7.76, and jq.
#   WEIR_URL=http://127.0.0.1:8787 WEIR_API_KEY=weir_… examples/clients/curl/step.sh 'rivers, dams'
set -euo pipefail
message=${1:-rivers, dams}
flow=${WEIR_URL:-http://127.0.0.1:8787}/api/v1/seq/demo/demo/hello

# The service keeps no outputs between calls: the caller collects them and sends them with each call.
session='{"executionId": null, "accumulatedOutputs": {}}'
stream=$(mktemp)
trap 'rm -f "$stream"' EXIT

# step PATH JQ: sends the session with the fields that JQ adds, and reads the events. curl repeats the request on 429
# and 5xx; with one Idempotency-Key it remains one call. A refusal is printed and ends the script.
step() {
  jq --arg message "$message" "$2" <<<"$session" |
    curl --silent --show-error --fail-with-body --retry 5 --retry-connrefused --output "$stream" "$flow/$1" \
      -H "Authorization: Bearer $WEIR_API_KEY" -H "Idempotency-Key: $(date +%s)-$$-$RANDOM" \
      -H 'Content-Type: application/json' --data-binary @- || { cat "$stream" >&2; exit 1; }
  local field value event=
  while read -r field value; do
    case $field$event in
      event:*) event=$value ;;
      data:run_started)
        session=$(jq -s '.[0] + (.[1] | {executionId})' <<<"$session$value")
        version=$(jq .version <<<"$value") ;;
      data:block_completed)
        # Blocks inside a step, which have a key, are part of the output of the step.
        jq -e .key <<<"$value" >/dev/null && continue
        jq -r '"\(.stepId): \(.output | tojson)"' <<<"$value"
        session=$(jq -s '.[0] + {accumulatedOutputs: (.[0].accumulatedOutputs + (.[1] | {(.stepId): .output}))}' \
          <<<"$session$value") ;;
      data:step_paused) jq -r '"Step \(.nextStepIndex) is next."' <<<"$value" ;;
      data:run_completed) jq .result <<<"$value" ;;
      data:stream_interrupted) jq -r .message <<<"$value" >&2; exit 1 ;;
      data:run_failed) jq -r .errorMessage <<<"$value" >&2; exit 1 ;;
    esac
  done <"$stream"
}

step step '. + {stepIndex: 0, $message}'
# With the version in the path, the steps stay the same when the flow is published again.
step "v$version/step" '. + {stepIndex: 1, inputOverrides: {topics: ["lakes"]}}'
step "v$version/step" '. + {stepIndex: 2, runRemaining: true}'
