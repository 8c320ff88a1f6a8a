// Requests made up from the API document, valid and not: no answer is one that the document does not have.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { passthrough } from '../../blocks.ts';
import { type IdentityProvider, startIdentityProvider } from '../../fakes/identity-provider.ts';
import { startWeir, type Weir } from '../../harness.ts';
import { createOrganization } from '../../organization.ts';
import { hasPython } from './has-python.ts';
import { installPythonTools } from './install-tools.ts';

const run = promisify(execFile);
const OUTPUT_MAX_BYTES = 64 * 1024 * 1024;
const EXAMPLES = '10';
/** For some hundred requests, however slow the machine is. */
const TIMEOUT_MS = 20 * 60_000;
/** The checks of Schemathesis that are about other things than answers the document does not have. */
const LEFT_OUT = [
  'negative_data_rejection',
  'positive_data_acceptance',
  'missing_required_header',
  'unsupported_method',
  'allow_header_conformance',
  'use_after_free',
  'ensure_resource_availability',
  'ignored_auth',
  'object_level_authorization',
];
/** Hosts of the examples, where nothing is to be sent: nobody listens on port 1. */
const NOWHERE = { 'hooks.example.com': '127.0.0.1:1', 'images.example': '127.0.0.1:1' };

if (!hasPython())
  describe('The OpenAPI document, with Schemathesis: left out, there is no Python 3.11', () => {});
else
  describe('The OpenAPI document, with Schemathesis', () => {
    let weir: Weir;
    let provider: IdentityProvider;
    let folder: string;
    let bin: string;
    before(async () => {
      provider = await startIdentityProvider();
      const env = { ...provider.env, WEIR_TEST_DIAL_MAP: JSON.stringify(NOWHERE), WEIR_FAILED_SIGN_INS: '0' };
      [weir, bin] = await Promise.all([startWeir({ env }), installPythonTools()]);
      folder = await mkdtemp(path.join(tmpdir(), 'weir-schemathesis-'));
      await writeFile(
        path.join(folder, 'openapi.json'),
        await (await fetch(`${weir.url}/openapi.json`)).text(),
      );
    });
    after(async () => {
      await weir.stop();
      await provider.close();
      await rm(folder, { recursive: true, force: true });
    });

    it('has every answer that made-up requests get', async function () {
      this.timeout(TIMEOUT_MS);
      const about = await createOrganization(weir, provider);
      const [org = '', project = '', flow = ''] = (await weir.createFlow(about, [passthrough('keep')])).split(
        '/',
      );
      const [deleted, withProject] = [
        await createOrganization(weir, provider),
        await createOrganization(weir, provider),
      ];
      const mcp = await provider.token(about.users.owner, { aud: weir.config.oidc?.mcpAudience });
      // A machine that is too slow answers 503, as documented. Of a stream, Schemathesis takes the schema for that of the
      // events with all their fields; the document has that of their data.
      const config = `
headers = { Authorization = "Bearer ${about.token.owner}" }
[checks]
${LEFT_OUT.map((name) => `${name}.enabled = false`).join('\n')}
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "503"]
[parameters]
"path.org" = "${org}"
"path.project" = "${project}"
"path.flow" = "${flow}"
"path.version" = 1
"path.org_id" = "${about.organizationId}"
"path.project_id" = "${about.projectId}"
"path.flow_id" = "${about.flowId}"
[[operations]]
include-operation-id = "deleteOrganization"
parameters = { "path.org_id" = "${deleted.organizationId}" }
headers = { Authorization = "Bearer ${deleted.token.owner}" }
[[operations]]
include-operation-id = "deleteProject"
parameters = { "path.project_id" = "${withProject.projectId}" }
headers = { Authorization = "Bearer ${withProject.token.owner}" }
[[operations]]
include-operation-id = ["step", "stepVersion"]
checks.response_schema_conformance.enabled = false
[[operations]]
include-operation-id = "mcp"
headers = { Authorization = "Bearer ${mcp}" }
`;
      await writeFile(path.join(folder, 'schemathesis.toml'), config);
      const bounds = ['--phases', 'examples,fuzzing', '--max-examples', EXAMPLES];
      const fixed = ['--generation-deterministic', '--no-shrink', '--workers', '1'];
      const output = ['--no-color', '--warnings', 'off', '--request-timeout', '60', '--continue-on-failure'];
      const args = ['run', 'openapi.json', '--url', weir.url];
      const command = path.join(bin, 'bin/schemathesis');
      const { stdout } = await run(command, [...args, ...bounds, ...fixed, ...output], {
        cwd: folder,
        maxBuffer: OUTPUT_MAX_BYTES,
      }).catch(({ stdout, stderr }) => ({ stdout: `${stdout}\n${stderr}` }));
      assert.match(stdout, /No issues found/);
    });
  });
