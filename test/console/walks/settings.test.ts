import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { describeWalks } from './describe-walks.ts';

const PROJECT = 'orgs/demo/projects/demo';
/** Right to left, markup, and much longer than any column. */
const HOSTILE = `<script>alert(1)</script> שלום עולם 🙂 ${'long'.repeat(36)}`;

type Sizes = Record<'scrollWidth' | 'scrollHeight' | 'clientWidth' | 'clientHeight', number>;
const isCutOff = (element: Sizes) =>
  element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight;

describeWalks('the settings of the console', (walk) => {
  walk('show why a member may not change settings', 'member', async ({ page, open, lookAt }) => {
    await open(`${PROJECT}/keys`);
    await page.getByText('Only owners and admins can see, create or revoke API keys').waitFor();
    assert.ok(await page.getByRole('button', { name: 'New API key' }).isDisabled());
    await lookAt('keys-as-member');

    await open('orgs/demo/settings/members');
    await page.getByText('Only owners and admins can invite people').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Invite' }).isDisabled());

    await open('orgs/demo/settings/audit-log');
    await page.getByText('Only owners and admins can see the audit log').waitFor();

    await open('orgs/demo/webhooks/secret');
    await page.getByText('Only owners and admins can rotate the signing secret').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Rotate …' }).isDisabled());
  });

  walk('show a refusal at its field', 'owner', async ({ page, open, allow, lookAt }) => {
    allow(/422/);
    await open('orgs/demo/settings/members');
    await page.getByRole('button', { name: 'Invite' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('E-mail address').fill('nobody at home');
    await dialog.getByRole('button', { name: 'Invite' }).click();
    await dialog.getByText('Must be an e-mail address').waitFor();
    await lookAt('invitation-refused');
    await dialog.getByLabel('E-mail address').fill('ann@example.com');
    await dialog.getByRole('button', { name: 'Invite' }).click();
    await page.getByRole('heading', { name: 'ann@example.com is invited' }).waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('cell', { name: 'ann@example.com', exact: true }).waitFor();
  });

  walk('name users as the organization does, and the current one “you”', 'admin', async (tour) => {
    const { page, weir, open } = tour;
    const accounts = await weir.db
      .selectFrom('membership')
      .select(['organization_id', 'user_id', 'role'])
      .where('organization_id', '=', weir.organizationId)
      .execute();
    const createdBy = (user_id: string) =>
      weir.db
        .updateTable('api_key')
        .set({ created_by: user_id })
        .where('project_id', '=', weir.projectId)
        .where('name', '=', 'npm start')
        .execute();
    const member = accounts.find(({ role }) => role === 'member') ?? assert.fail();
    await weir.db
      .insertInto('member_profile')
      .values({
        ...{ organization_id: member.organization_id, user_id: member.user_id },
        ...{ name: 'Mia', email: null, email_verified: false, told_at: new Date() },
      })
      .onConflict((conflict) => conflict.columns(['organization_id', 'user_id']).doUpdateSet({ name: 'Mia' }))
      .execute();
    await createdBy(member.user_id);
    await open(`${PROJECT}/keys`);
    await page.getByText('by Mia', { exact: true }).waitFor();
    await createdBy(accounts.find(({ role }) => role === 'admin')?.user_id ?? assert.fail());
    await open(`${PROJECT}/keys`);
    await page.getByText('by you', { exact: true }).waitFor();
    await createdBy('somebody-who-left');
    await open(`${PROJECT}/keys`);
    await page.getByText('by somebody-who-left').waitFor();
  });

  walk('stay intact with hostile and long names', 'owner', async ({ page, open, lookAt }) => {
    await open('orgs/demo/settings/projects');
    await page.getByRole('button', { name: 'New project' }).first().click();
    await page.getByRole('dialog').getByLabel('Name').fill(HOSTILE);
    await page.getByRole('dialog').getByLabel('Slug').fill('hostile');
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('heading', { name: 'Create the first flow' }).waitFor();
    await lookAt('project-with-hostile-name');
    await open('orgs/demo/settings/projects');
    const name = page.getByRole('main').getByText(HOSTILE);
    await name.waitFor();
    await page.setViewportSize({ width: 360, height: 800 });
    assert.equal(await name.evaluate(isCutOff), false);
    await lookAt('projects-with-hostile-name');
  });

  walk('show the role of a member in a narrow window', 'owner', async ({ page, open }) => {
    await page.setViewportSize({ width: 360, height: 800 });
    await open('orgs/demo/settings/members');
    const role = page.getByRole('button', { name: /Role of/ }).first();
    await role.waitFor();
    assert.equal(await role.locator('span').first().evaluate(isCutOff), false);
  });

  walk('delete a project after its slug is typed', 'owner', async ({ page, open }) => {
    await open('orgs/demo/settings/projects');
    await page.getByRole('button', { name: 'New project' }).first().click();
    await page.getByRole('dialog').getByLabel('Name').fill('Passing');
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('heading', { name: 'Create the first flow' }).waitFor();
    await open('orgs/demo/settings/projects');
    await page.getByRole('button', { name: 'Actions of Passing' }).click();
    await page.getByRole('menuitem', { name: 'Delete …' }).click();
    const button = page.getByRole('button', { name: 'Delete project' });
    assert.ok(await button.isDisabled());
    await page.getByLabel('Type passing to confirm').fill('passing');
    await button.click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Passing' }).waitFor({ state: 'detached' });
  });

  walk('rotate the signing secret, with the remaining time of the previous one', 'owner', async (tour) => {
    const { page, open, lookAt } = tour;
    await open('orgs/demo/webhooks/secret');
    await page.getByRole('button', { name: 'Rotate …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    await page.getByText(/^whsec_[A-Za-z0-9+/=]{20,}$/).waitFor();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByText('The previous secret still signs for').waitFor();
    await lookAt('signing-secret');
  });

  walk('let somebody join by one link, which ends in a project', 'member', async (tour) => {
    const { page, weir, open, lookAt } = tour;
    const { organizationId } = await weir.createTenant();
    const invitation = await weir.db
      .insertInto('invitation')
      .values({
        ...{ organization_id: organizationId, email: 'member@weir.local', role: 'member' },
        ...{ invited_by: 'somebody', expires_at: new Date(Date.now() + 86_400_000) },
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await open(`invitations/${invitation.id}`);
    await lookAt('invitation');
    await page.getByRole('button', { name: 'Join' }).click();
    await page.waitForURL(/\/orgs\/[^/]+\/projects\/[^/]+$/);
    await open(`invitations/${invitation.id}`);
    await page.getByText('No open invitation').waitFor();
    await lookAt('invitation-used');
  });

  walk('hand an organization on, and let its former owner leave', 'member', async (tour) => {
    const { page, weir, open, lookAt, allow } = tour;
    allow(/409/);
    const { organization, organizationId } = await weir.createTenant();
    const { user_id: mine } = await weir.db
      .selectFrom('membership')
      .select('user_id')
      .where('organization_id', '=', weir.organizationId)
      .where('role', '=', 'member')
      .executeTakeFirstOrThrow();
    const members = [
      { organization_id: organizationId, user_id: mine, role: 'owner' as const },
      { organization_id: organizationId, user_id: 'next', role: 'member' as const },
    ];
    await weir.db.insertInto('membership').values(members).execute();
    await open(`orgs/${organization}/settings/members`);
    await page.getByRole('button', { name: 'Leave' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Leave' }).click();
    await dialog.getByText('the only owner').waitFor();
    await lookAt('leave-refused');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Role of next' }).click();
    await page.getByRole('option', { name: 'Owner' }).click();
    await dialog.getByRole('button', { name: 'Make an owner' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Role of next' }).getByText('Owner').waitFor();
    await lookAt('owners');
    await page.getByRole('button', { name: 'Leave' }).click();
    await dialog.getByRole('button', { name: 'Leave' }).click();
    await page.waitForURL((url) => !url.pathname.includes(organization));
    const left = await weir.db
      .selectFrom('membership')
      .select(['user_id', 'role'])
      .where('organization_id', '=', organizationId)
      .execute();
    assert.deepEqual(left, [{ user_id: 'next', role: 'owner' }]);
  });

  walk('revoke the last invitation, and ask nothing about the next one', 'owner', async (tour) => {
    const { page, weir, open } = tour;
    await weir.db.deleteFrom('invitation').execute();
    await open('orgs/demo/settings/members');
    const dialog = page.getByRole('dialog');
    const invite = async (address: string) => {
      await page.getByRole('button', { name: 'Invite' }).click();
      await dialog.getByLabel('E-mail address').fill(address);
      await dialog.getByRole('button', { name: 'Invite' }).click();
      await dialog.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('cell', { name: address, exact: true }).waitFor();
    };
    await invite('first@example.com');
    await page.getByRole('button', { name: 'Revoke the invitation of first@example.com' }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Invitations' }).waitFor({ state: 'detached' });
    await invite('next@example.com');
    assert.equal(await page.getByText('Revoke the invitation?').count(), 0);
  });

  walk('change only the edited fields of a project, even a new one', 'owner', async (tour) => {
    const { page, weir, open } = tour;
    await open('orgs/demo/settings');
    await sql`
      insert into project (organization_id, slug, name)
      values (${weir.organizationId}, 'made-meanwhile', 'Made meanwhile')`.execute(weir.db);
    await page.evaluate("history.pushState(null, '', '/console/orgs/demo/projects/made-meanwhile')");
    await page.getByRole('heading', { name: 'Create the first flow' }).waitFor();
    await open('orgs/demo/settings/projects');
    await page.getByRole('button', { name: 'Actions of Made meanwhile' }).click();
    await page.getByRole('menuitem', { name: 'Rename …' }).click();
    const changed = weir.db.updateTable('project').set({ description: 'Theirs' });
    await changed.where('slug', '=', 'made-meanwhile').execute();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Mine');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /Mine.*Theirs/ }).waitFor();
  });
});
