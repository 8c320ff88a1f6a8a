// Programs that call one flow, ready to run: bash with curl, TypeScript (Node.js), Python 3.
import { curlCommand, quoteForShell } from '../../api/curl-command.ts';

export type Way = 'execute' | 'jobs' | 'step' | 'webhook';
export type Language = 'curl' | 'typescript' | 'python';

export type Call = {
  /** The flow's URL, such as `https://weir.example/api/v1/seq/acme/shop/sort`, with the version when it is pinned. */
  url: string;
  /** Additional fields of the first request. */
  message: string;
  parameters: string[];
  callbackUrl: string;
  /** The key to write into the program; without one the program reads the environment variable WEIR_API_KEY. */
  apiKey: string | undefined;
};

/** Returns the program as text. */
export function callSnippet(way: Way, language: Language, call: Call): string {
  const body = bodyOf(way, call);
  return WRITERS[language][way](call, body);
}

function bodyOf(way: Way, { message, parameters, callbackUrl }: Call): object {
  return {
    ...(way === 'step' && { executionId: null, stepIndex: 0 }),
    message,
    ...(parameters.length > 0 && { parameters: Object.fromEntries(parameters.map((name) => [name, '…'])) }),
    ...(way === 'webhook' && { callbackUrl, callbackEvents: ['flow.completed', 'flow.failed'] }),
  };
}

type Writer = (call: Call, body: object) => string;

const curl = ({ apiKey }: Call, options: string, url: string, body?: object) =>
  curlCommand(url, { options, apiKey, ...(body && { body }) });

const waitInBash = (call: Call) => `
# The run continues in the background. This request waits up to 60 seconds for the end of the run.
id=$(printf '%s' "$run" | sed -E 's/.*"executionId":"([^"]+)".*/\\1/')
while :; do
  run=$(${curl(call, ' --fail-with-body', `"${call.url}/jobs/$id?wait=60"`).replaceAll('\n', '\n  ')})
  case $run in *"\\"executionId\\":\\"$id\\",\\"status\\":\\"started\\""*) ;; *) break ;; esac
done
printf '%s\\n' "$run"
`;

const start = (call: Call, body: object) =>
  `run=$(${curl(call, ' --fail-with-body', quoteForShell(`${call.url}/jobs`), body)})\n`;

const keyInScript = (apiKey: string | undefined, fromEnvironment: string) =>
  apiKey === undefined ? fromEnvironment : JSON.stringify(apiKey);

const typescript = ({ url, apiKey }: Call) => `const flow = ${JSON.stringify(url)};
const key = ${keyInScript(apiKey, 'process.env.WEIR_API_KEY')};

async function call(path: string, body?: object) {
  const response = await fetch(flow + path, {
    method: body ? 'POST' : 'GET',
    headers: { Authorization: \`Bearer \${key}\`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(await response.text());
  return response;
}
`;

const python = ({ url, apiKey }: Call) => `import json${apiKey === undefined ? '\nimport os' : ''}
import urllib.request

flow = ${JSON.stringify(url)}
key = ${keyInScript(apiKey, 'os.environ["WEIR_API_KEY"]')}


def call(path, body=None):
    request = urllib.request.Request(
        flow + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    return urllib.request.urlopen(request)
`;

const WRITERS: Record<Language, Record<Way, Writer>> = {
  curl: {
    execute: (call, body) => `${curl(call, '', quoteForShell(`${call.url}/execute`), body)}\n`,
    jobs: (call, body) => start(call, body) + waitInBash(call),
    webhook: (call, body) =>
      `${curl(call, '', quoteForShell(`${call.url}/jobs`), body)}\n\n# Weir posts the result to ${call.callbackUrl} when the run has ended.\n`,
    step: (call, body) => `${curl(call, ' -N', quoteForShell(`${call.url}/step`), body)}

# Each event block_completed has the output of a step. The next call sends them all:
#   {"executionId": "<of run_started>", "stepIndex": 1, "accumulatedOutputs": {"<stepId>": <output>}}
`,
  },
  typescript: {
    execute: (call, body) => `${typescript(call)}
const run = await (await call('/execute', ${json(body)})).json();
// A run that fails is an answer, too: the request was valid, but a block failed.
if (run.status === 'failed') throw new Error(run.errorMessage);
console.log(run.result);
`,
    jobs: (call, body) => `${typescript(call)}
let run = await (await call('/jobs', ${json(body)})).json();
// The run continues in the background. Each request waits up to 60 seconds for the end of the run.
do run = await (await call(\`/jobs/\${run.executionId}?wait=60\`)).json();
while (run.status === 'started');
if (run.status === 'failed') throw new Error(run.errorMessage);
console.log(run.result);
`,
    webhook: (call, body) => `${typescript(call)}
const run = await (await call('/jobs', ${json(body)})).json();
console.log('Weir posts the result when the run has ended:', run.executionId);
`,
    step: (call, body) => `${typescript(call)}
const outputs: Record<string, unknown> = {};
let next: object | undefined = ${json(body)};
let executionId = '';
while (next) {
  // The events of one step, each as three lines: id, event, data.
  const events = (await (await call('/step', next)).text()).split('\\n\\n');
  next = undefined;
  for (const event of events) {
    const [, name, text] = /^event: (.*)\\ndata: (.*)$/m.exec(event) ?? [];
    if (name === undefined) continue;
    const data = JSON.parse(text ?? 'null');
    if (name === 'run_started') executionId = data.executionId;
    // Blocks inside a step have a key; their outputs are part of the output of the step.
    if (name === 'block_completed' && !data.key) {
      outputs[data.stepId] = data.output;
      console.log(data.stepId, data.output);
    }
    if (name === 'run_failed') throw new Error(data.errorMessage);
    if (name === 'step_paused')
      next = { executionId, stepIndex: data.nextStepIndex, accumulatedOutputs: outputs };
  }
}
`,
  },
  python: {
    execute: (call, body) => `${python(call)}

run = json.load(call("/execute", ${py(body)}))
# A run that fails is an answer, too: the request was valid, but a block failed.
if run["status"] == "failed":
    raise SystemExit(run["errorMessage"])
print(json.dumps(run["result"], indent=2))
`,
    jobs: (call, body) => `${python(call)}

run = json.load(call("/jobs", ${py(body)}))
# The run continues in the background. Each request waits up to 60 seconds for the end of the run.
while run["status"] == "started":
    run = json.load(call(f"/jobs/{run['executionId']}?wait=60"))
if run["status"] == "failed":
    raise SystemExit(run["errorMessage"])
print(json.dumps(run["result"], indent=2))
`,
    webhook: (call, body) => `${python(call)}

run = json.load(call("/jobs", ${py(body)}))
print("Weir posts the result when the run has ended:", run["executionId"])
`,
    step: (call, body) => `${python(call)}

outputs = {}
session = None
step = ${py(body)}
while step:
    current, step, event = step, None, None
    for line in call("/step", current):
        field, _, value = line.decode().rstrip("\\n").partition(": ")
        if field == "event":
            event = value
        if field != "data":
            continue
        data = json.loads(value)
        if event == "run_started":
            session = data["executionId"]
        # Blocks inside a step have a key; their outputs are part of the output of the step.
        if event == "block_completed" and "key" not in data:
            outputs[data["stepId"]] = data["output"]
            print(data["stepId"], json.dumps(data["output"]))
        if event == "run_failed":
            raise SystemExit(data["errorMessage"])
        if event == "step_paused":
            step = {"executionId": session, "stepIndex": data["nextStepIndex"], "accumulatedOutputs": outputs}
`,
  },
};

function json(value: object): string {
  return JSON.stringify(value, null, '  ');
}

/** Writes a body as Python: JSON with `None` for null. */
function py(value: object): string {
  return JSON.stringify(value, null, '    ').replace(/: null(,?)$/gm, ': None$1');
}
