"""Runs a flow and waits for its result.

WEIR_URL=http://127.0.0.1:8787 WEIR_API_KEY=weir_… python3 examples/clients/python/execute.py 'rivers, dams'
"""

import json
import sys

from weir import call

message = sys.argv[1] if len(sys.argv) > 1 else "rivers, dams"
run = call("POST", "demo/demo/hello/execute", {"message": message})

# A failed run is answered with 200 too: the request was valid, but a block failed.
if run["status"] == "failed":
    sys.exit(run["errorMessage"])
print(json.dumps(run["result"], indent=2))
