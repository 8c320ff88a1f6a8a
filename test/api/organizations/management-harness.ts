// A management API and the owner of an organization, which each test gets anew; who may what is in test/api/app.test.ts.

import type { IdentityProvider } from '../../fakes/identity-provider.ts';
import { type Answer, startWeir, type Weir } from '../../harness.ts';
import { createOrganization, type Organization } from '../../organization.ts';
import { getSharedWeir } from '../../shared-weir.ts';

/** Registers the hooks of the enclosing `describe`. Uses the shared Weir, or without a worker one of its own. */
export function useManagement({ worker = true } = {}) {
  const management = {} as { provider: IdentityProvider; weir: Weir; acme: Organization };
  before(async () => {
    const shared = await getSharedWeir();
    management.provider = shared.provider;
    management.weir = worker ? shared : await startWeir({ env: shared.provider.env, worker });
  });
  beforeEach(async () => {
    management.acme = await createOrganization(management.weir, management.provider);
  });
  after(async () => {
    await management.weir.stop();
  });

  /** Calls as the owner, unless the token of another is given. */
  const call = (method: string, path: string, body?: unknown, key = management.acme.token.owner) =>
    management.weir.call(method, path, { key, body });
  return { management, call };
}

/** The status of an answer, and its error's code. */
export function code({ status, body }: Pick<Answer, 'status' | 'body'>): [number, string | undefined] {
  return [status, body?.detail?.code];
}
