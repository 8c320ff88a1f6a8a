#!/usr/bin/env bash
# Runs a flow whose model calls our functions: the run pauses, we answer, until it has ended. Needs curl 7.76, and jq.
#   npx weir flow push examples/tools.yaml --project demo/demo --production
#   WEIR_URL=http://127.0.0.1:8787 WEIR_API_KEY=weir_… examples/clients/curl/tools.sh 'Somewhere warm'
set -euo pipefail
message=${1:-Somewhere warm}

tools=$(jq -n '
  {type: "object", properties: {city: {type: "string", enum: ["Lagos", "Lima", "Oslo"]}}, required: ["city"]} as $parameters
  | {get_weather: "The weather in a city", get_events: "What is on in a city"}
  | to_entries
  | map({type: "function", function: {name: .key, description: .value, $parameters}})')

# run_tool NAME ARGUMENTS. An error is a result too: the model reads it.
run_tool() {
  case $1 in
    get_weather) jq -c '{city, celsius: 29}' <<<"$2" ;;
    get_events) jq -c '{city, events: ["Jazz in the park"]}' <<<"$2" ;;
    *) echo "There is no tool $1." ;;
  esac
}

answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

# execute <REQUEST: curl repeats it on 429 (after Retry-After) and 5xx; with one Idempotency-Key it starts one run.
# A refusal is printed and ends the script.
execute() {
  curl --silent --show-error --fail-with-body --retry 5 --retry-connrefused --output "$answer" \
    "${WEIR_URL:-http://127.0.0.1:8787}/api/v1/seq/demo/demo/tools/execute" \
    -H "Authorization: Bearer $WEIR_API_KEY" -H "Idempotency-Key: $(date +%s)-$$-$RANDOM" \
    -H 'Content-Type: application/json' --data-binary @- || { cat "$answer" >&2; exit 1; }
  cat "$answer"
}

run=$(jq -n --arg message "$message" --argjson tools "$tools" '{$message, $tools}' | execute)
while [ "$(jq -r .status <<<"$run")" = tool_calls_required ]; do
  results=$(jq -c '.toolCalls[]' <<<"$run" | while read -r call; do
    name=$(jq -r .function.name <<<"$call")
    arguments=$(jq -r .function.arguments <<<"$call")
    echo "The model calls $name($arguments)." >&2
    run_tool "$name" "$arguments" |
      jq -R --argjson call "$call" '{role: "tool", tool_call_id: $call.id, content: .}'
  done)
  run=$(jq -s --argjson tools "$tools" '
    .[1:] as $results
    | .[0]
    | {executionId, pausedAtStep, iterationsUsed, accumulatedOutputs, resumeState, $tools}
      + {toolCallMessages: (.toolCallMessages + $results)}' <<<"$run$results" | execute)
done
jq '.result // .errorMessage' <<<"$run"
[ "$(jq -r .status <<<"$run")" = completed ]
