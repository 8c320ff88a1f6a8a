"""Steps through a flow: looks at each output, changes one on the way, and lets the rest run.

WEIR_URL=http://127.0.0.1:8787 WEIR_API_KEY=weir_… python3 examples/clients/python/step.py 'rivers, dams'
"""

import json
import sys

from weir import stream

# The service keeps no outputs between calls: the caller collects them and sends them with each call.
session = {"executionId": None, "accumulatedOutputs": {}}
path = "demo/demo/hello/step"


def step(**body):
    global path
    for event, data in stream("POST", path, {**session, **body}):
        if event == "run_started":
            session["executionId"] = data["executionId"]
            # So that the steps stay what they are when the flow is published again.
            path = f"demo/demo/hello/v{data['version']}/step"
        # Blocks inside a step, which have a key, are part of the output of the step.
        elif event == "block_completed" and "key" not in data:
            session["accumulatedOutputs"][data["stepId"]] = data["output"]
            print(f"{data['stepId']}:", json.dumps(data["output"]))
        elif event == "step_paused":
            print(f"Step {data['nextStepIndex']} is next.")
        elif event == "run_completed":
            print("Result:", json.dumps(data["result"], indent=2))
        elif event == "run_failed":
            sys.exit(data["errorMessage"])


step(stepIndex=0, message=sys.argv[1] if len(sys.argv) > 1 else "rivers, dams")
step(stepIndex=1, inputOverrides={"topics": ["lakes"]})
step(stepIndex=2, runRemaining=True)
