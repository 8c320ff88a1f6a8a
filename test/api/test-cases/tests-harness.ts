// A Weir with a scripted model server, and the functions behind the test tools over what a user may access.

import { randomUUID } from 'node:crypto';
import type { Caller } from '../../../api/auth/caller.ts';
import type { ApiDeps } from '../../../api/deps.ts';
import { createOpenRequests } from '../../../api/http/open-requests.ts';
import { createTestCase } from '../../../api/test-cases/test-case.ts';
import { createFlowDefinitions } from '../../../db/flows/flow-definitions.ts';
import { insertFlow } from '../../../db/flows/flows.ts';
import { insertMember } from '../../../db/tenants/memberships.ts';
import type { Step } from '../../../flow/definition.ts';
import { createValidator } from '../../../platform/json-schema/validator.ts';
import { openRegistry } from '../../../platform/models/live-registry.ts';
import { type FakeModelServer, startFakeModelServer } from '../../fakes/model-server.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';

export type TestsWeir = {
  weir: Weir;
  deps: ApiDeps;
  models: FakeModelServer;
  tenant: Tenant;
  /** A member of the tenant. */
  ada: Caller;
  /** A flow whose draft has these steps; nothing is published. */
  draft(steps: Step[], tenant?: Tenant): Promise<string>;
  testCase(flowId: string, expectation: unknown, more?: object): Promise<string>;
  stop(): Promise<void>;
};

/** A caller with this access, whom the audit log names `ada`. */
export function callerWith(access: Caller['access']): Caller {
  return { access, author: { actor: 'ada', requestId: randomUUID() } };
}

/** Uses the shared Weir, or with `env` one of its own. */
export async function startTestsWeir(env?: NodeJS.ProcessEnv): Promise<TestsWeir> {
  const shared = env ? undefined : await getSharedWeir();
  const models = shared?.models ?? (await startFakeModelServer());
  const weir = shared ?? (await startWeir({ env: { DEMO_BASE_URL: models.provider.baseUrl, ...env } }));
  const { db, client, config } = weir;
  const validator = createValidator();
  const registry = await openRegistry(config);
  const deps = {
    db,
    client,
    config,
    taskQueue: config.taskQueue,
    validator,
    registry,
    definitions: createFlowDefinitions(db),
    openRequests: createOpenRequests(0),
    gates: weir.httpGates,
    largeValues: weir.largeValues,
  } as ApiDeps;
  const tenant = await weir.createTenant();
  const ada = callerWith({ userId: 'ada' });
  await insertMember(db, { organizationId: tenant.organizationId, userId: 'ada', role: 'member' });
  let made = 0;
  return {
    weir,
    deps,
    models,
    tenant,
    ada,
    async draft(steps, { projectId } = tenant) {
      made += 1;
      const name = `flow-${made}`;
      const { id } = await insertFlow(db, { projectId, slug: name, name, definition: { steps } });
      return id;
    },
    async testCase(flowId, expectation, more = {}) {
      made += 1;
      const input = { flow_id: flowId, name: `case ${made}`, message: 'hello', expectation, ...more };
      return (await createTestCase(deps, ada, input as never)).test_case_id;
    },
    async stop() {
      registry.close();
      await validator.close();
      await weir.stop();
      if (!shared) await models.close();
    },
  };
}
