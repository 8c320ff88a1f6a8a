// Ids in the paths of the management API that do not belong together, and those that are malformed.

import assert from 'node:assert/strict';
import type { IdentityProvider } from '../../fakes/identity-provider.ts';
import type { Weir } from '../../harness.ts';
import { createOrganization, type Organization } from '../../organization.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { MANAGEMENT, O, P, parameters, sendTo } from './management-routes.ts';

/** Without a resource in the path, a foreign caller simply sees their own. */
const OF_CALLER = [`post ${O}`, `get ${O}`, `get ${P}`];

describe('the paths of the management API', () => {
  let provider: IdentityProvider;
  let weir: Weir;
  let other: Organization;
  before(async () => {
    provider = (await getSharedWeir()).provider;
    weir = await getSharedWeir();
    other = await createOrganization(weir, provider);
  });
  after(async () => {
    await weir.stop();
  });

  const send = (route: string, values: Record<string, string>, key: string | undefined, body?: unknown) =>
    sendTo(weir, route, values, key, body);

  it('answer 404 for a member, key, flow or test case of another organization under the path of one’s own', async () => {
    const own = await createOrganization(weir, provider);
    const about = await createOrganization(weir, provider);
    const key = own.token.owner;
    const mixed = parameters(own, {
      member_user_id: about.users.member,
      key_id: about.keyId,
      flow_id: about.flowId,
      invitation_id: about.invitationId,
    });
    const otherCase = parameters(own, { test_case_id: about.testCaseId });
    for (const [route, { body }] of Object.entries(MANAGEMENT))
      if (/:(member_user_id|key_id|flow_id|invitation_id)/.test(route)) {
        const values = route.includes(':test_case_id') ? otherCase : mixed;
        assert.equal((await send(route, values, key, body?.(own))).status, 404, route);
      }
  });

  it('answer 404, never 500, for malformed ids', async () => {
    for (const bad of ['x', '%00', '..%2f..', 'a'.repeat(300), '%F0%9F%92%A9', "'--"]) {
      const values = {
        org_id: bad,
        project_id: bad,
        slug: bad,
        member_user_id: bad,
        key_id: bad,
        flow_id: bad,
        test_case_id: bad,
        invitation_id: bad,
        provider: bad,
      };
      for (const [route, { body }] of Object.entries(MANAGEMENT)) {
        if (OF_CALLER.includes(route) || route === `post ${P}`) continue;
        const answer = await send(route, values, other.token.owner, body?.(other));
        assert.equal(answer.status, 404, `${route} ${bad}`);
        for (const name of [
          'member_user_id',
          'key_id',
          'provider',
          'flow_id',
          'test_case_id',
          'invitation_id',
        ])
          if (route.includes(name)) {
            const { status } = await send(
              route,
              parameters(other, { [name]: bad }),
              other.token.owner,
              body?.(other),
            );
            assert.equal(status, 404, `${route} ${name} ${bad}`);
          }
      }
    }
  });
});
