"""A caller in Python, over the package that openapi-python-client makes of the API document. It is run with the address of
a service, a key, and the path of a flow."""

import importlib
import pkgutil
import sys

import weir_client
from weir_client import AuthenticatedClient
from weir_client.api.execution import execute, get_job
from weir_client.models import Error, ErrorCode, ExecuteCompleted, ExecuteRequest, JobCompleted

url, key, org, project, flow = sys.argv[1:]

for module in pkgutil.walk_packages(weir_client.__path__, "weir_client."):
    importlib.import_module(module.name)

client = AuthenticatedClient(base_url=url, token=key)
request = ExecuteRequest(message="rivers")

ended = execute.sync(org, project, flow, client=client, body=request)
assert isinstance(ended, ExecuteCompleted), ended
print("completed", ended.result)

job = get_job.sync(org, project, flow, str(ended.execution_id), client=client)
assert isinstance(job, JobCompleted), job
print("job", job.result)

refused = execute.sync(org, project, "none", client=client, body=request)
assert isinstance(refused, Error), refused
assert refused.detail.code is ErrorCode.FLOW_NOT_FOUND, refused
print("refused", refused.detail.code)
