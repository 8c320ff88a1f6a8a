"""Starts a run, follows its events, and asks for its result.

WEIR_URL=http://127.0.0.1:8787 WEIR_API_KEY=weir_… python3 examples/clients/python/jobs.py 'rivers, dams'
"""

import json
import sys
import time

from weir import call, stream

message = sys.argv[1] if len(sys.argv) > 1 else "rivers, dams"
job = call("POST", "demo/demo/hello/jobs", {"message": message})
path = f"demo/demo/hello/jobs/{job['executionId']}"

for event, data in stream("GET", f"{path}/events"):
    print(event, f"{data['key']} ({data['usage']['ms']} ms)" if "key" in data else data["executionId"])

# Without events: ask until the run has ended.
job = call("GET", path)
while job["status"] == "started":
    time.sleep(1)
    job = call("GET", path)
if job["status"] == "failed":
    sys.exit(job["errorMessage"])
print(json.dumps(job["result"], indent=2))
