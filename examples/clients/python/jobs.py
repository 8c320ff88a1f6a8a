"""Starts a run, follows its events, and asks for its result.

WEIR_URL=http://127.0.0.1:8787 WEIR_API_KEY=weir_… python3 examples/clients/python/jobs.py 'rivers, dams'
"""

import json
import sys

from weir import call, stream

message = sys.argv[1] if len(sys.argv) > 1 else "rivers, dams"
job = call("POST", "demo/demo/hello/jobs", {"message": message})
path = f"demo/demo/hello/jobs/{job['executionId']}"

for event, data in stream("GET", f"{path}/events"):
    if "usage" in data:
        print(event, f"{data['key']} ({data['usage']['ms']} ms)")
    else:
        print(event, data.get("key") or data["executionId"])

# Without events: ask until the run has ended. Each answer comes with the end of the run, or after 20 seconds.
job = call("GET", f"{path}?wait=20")
while job["status"] == "started":
    job = call("GET", f"{path}?wait=20")
if job["status"] == "failed":
    sys.exit(job["errorMessage"])
print(json.dumps(job["result"], indent=2))
