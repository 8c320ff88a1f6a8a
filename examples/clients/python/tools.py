"""Runs a flow whose model calls our functions: the run pauses, we answer, until it has completed.

npx weir flow push examples/tools.yaml --project demo/demo --production
WEIR_URL=http://127.0.0.1:8787 WEIR_API_KEY=weir_… python3 examples/clients/python/tools.py 'Somewhere warm'
"""

import json
import sys

from weir import call

CITY = {"type": "string", "enum": ["Lagos", "Lima", "Oslo"]}
PARAMETERS = {"type": "object", "properties": {"city": CITY}, "required": ["city"]}
TOOLS = [
    {"type": "function", "function": {"name": name, "description": description, "parameters": PARAMETERS}}
    for name, description in {
        "get_weather": "The weather in a city",
        "get_events": "What is on in a city",
    }.items()
]
FUNCTIONS = {
    "get_weather": lambda city: {"city": city, "celsius": 29},
    "get_events": lambda city: {"city": city, "events": ["Jazz in the park"]},
}
ECHOED = ["executionId", "pausedAtStep", "iterationsUsed", "accumulatedOutputs", "resumeState"]


def run_tool(tool_call):
    """An error is a result too: the model reads it."""
    name, text = tool_call["function"]["name"], tool_call["function"]["arguments"]
    print(f"The model calls {name}({text}).")
    try:
        content = FUNCTIONS[name](**json.loads(text))
    except Exception as error:
        content = {"error": repr(error)}
    return {"role": "tool", "tool_call_id": tool_call["id"], "content": json.dumps(content)}


path = "demo/demo/tools/execute"
message = sys.argv[1] if len(sys.argv) > 1 else "Somewhere warm"
run = call("POST", path, {"message": message, "tools": TOOLS})
while run["status"] == "tool_calls_required":
    messages = run["toolCallMessages"] + [run_tool(tool_call) for tool_call in run["toolCalls"]]
    echo = {field: run[field] for field in ECHOED}
    run = call("POST", path, {**echo, "toolCallMessages": messages, "tools": TOOLS})
if run["status"] == "failed":
    sys.exit(run["errorMessage"])
print(json.dumps(run["result"], indent=2))
