import assert from 'node:assert/strict';
import type { ApiDeps } from '../../../api/deps.ts';
import type { ApiContext, Route } from '../../../api/http/context.ts';
import { executeRoutes } from '../../../api/runs/execute.ts';
import { jobRoutes } from '../../../api/runs/jobs.ts';
import type { News } from '../../../api/runs/news.ts';
import { stepRoutes } from '../../../api/runs/step.ts';
import { createPresence } from '../../../fairness/presence.ts';

describe('requests that begin a run', () => {
  /** Admits a request of the route and returns whether it is patient. */
  async function isPatient(routes: (deps: ApiDeps) => Route[]): Promise<boolean> {
    let patient = false;
    const admission: ApiDeps['admission'] = {
      async enter(_organization, _createSignal, options) {
        patient = options?.patient ?? false;
        return { end: () => undefined, holdFor: () => undefined };
      },
    };
    const largeValues = { presence: createPresence() } as ApiDeps['largeValues'];
    const [route] = routes({ admission, largeValues, config: { providerUrls: {} } } as ApiDeps);
    const admit = route?.handlers.find(({ name }) => name === 'admit');
    assert(admit, 'the route has no admission');
    const ctx = { state: { flow: { organizationId: 'a' } } } as ApiContext;
    await admit(ctx, async () => undefined);
    return patient;
  }

  it('let others of their organization go first when nobody waits for the run: jobs', async () => {
    assert.equal(await isPatient((deps) => jobRoutes(deps, {} as News)), true);
    assert.equal(await isPatient(executeRoutes), false);
    assert.equal(await isPatient((deps) => stepRoutes(deps, {} as News)), false);
  });
});
