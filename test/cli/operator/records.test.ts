import type { z } from 'zod';
import {
  apiKeyRecord,
  memberRecord,
  organizationRecord,
  projectRecord,
} from '../../../api/organizations/schemas.ts';
import { useOperator } from '../cli-harness.ts';

describe('weir operator --json', () => {
  const { succeed, succeedJson } = useOperator();
  const isList = (record: z.ZodObject, list: unknown[]) => record.strict().array().nonempty().parse(list);

  it('prints organizations as the HTTP API answers them, without a role and with their suspension and runs', async () => {
    const [{ suspendedAt, suspensionReason, underWay, ...organization }] = await succeedJson('org', 'list');
    isList(organizationRecord.omit({ role: true }), [organization]);
  });

  it('prints projects as the HTTP API answers them, with the slug of their organization', async () => {
    const [{ organization, ...project }] = await succeedJson('project', 'list');
    isList(projectRecord, [project]);
  });

  it('prints members and API keys as the HTTP API answers them', async () => {
    await succeed('member', 'add', 'acme', 'ann');
    isList(memberRecord, await succeedJson('member', 'list', 'acme'));
    await succeed('key', 'create', 'acme/main', '--name', 'ci');
    isList(apiKeyRecord, await succeedJson('key', 'list', 'acme/main'));
  });
});
