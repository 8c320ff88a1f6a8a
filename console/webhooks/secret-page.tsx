import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { $api } from '../api/client.ts';
import { hasRole, useOrganization } from '../shell/me.ts';
import { RoleNote } from '../shell/role-note.tsx';
import { Button } from '../ui/button.tsx';
import { Countdown } from '../ui/countdown.tsx';
import { Note } from '../ui/note.tsx';
import { Panel } from '../ui/page.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { Fact, Facts } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { RotateDialog } from './rotate-dialog.tsx';
import { VerifyPanel } from './verify-panel.tsx';

/** The signing secret of an organization, its rotation, and how receivers verify signatures. */
export function SecretPage() {
  const { org } = useParams({ from: '/orgs/$org/webhooks/secret' });
  const organization = useOrganization(org);
  const canRotate = hasRole(organization, 'admin');
  const [isOpen, setOpen] = useState(false);
  const query = $api.useQuery('get', '/api/v1/organizations/{org_id}/webhooks/secret', {
    params: { path: { org_id: organization.id } },
  });
  return (
    <>
      <RoleNote organization={organization} needed="admin" to="rotate the signing secret" />
      <Panel
        title="Signing secret"
        actions={
          <Button size="small" isDisabled={!canRotate} onPress={() => setOpen(true)}>
            Rotate …
          </Button>
        }
      >
        <QueryView query={query}>
          {({ secretPreview, version, createdAt, rotatedAt, graceUntil }) => (
            <>
              <Facts>
                <Fact name="Secret">
                  <code>{secretPreview}</code>
                </Fact>
                <Fact name="Version">{version}</Fact>
                <Fact name="Created">
                  <Time at={createdAt} />
                </Fact>
                <Fact name="Rotated">{rotatedAt ? <Time at={rotatedAt} /> : 'Never'}</Fact>
                {graceUntil && (
                  <Fact name="The previous secret still signs for">
                    <strong>
                      <Countdown until={graceUntil} past="No longer" />
                    </strong>
                  </Fact>
                )}
              </Facts>
              {graceUntil && new Date(graceUntil) > new Date() && (
                <Note tone="warn">
                  Until then deliveries carry two signatures, v1 of the new secret and v2 of the previous one.
                  Give every receiver the new secret before the time is over.
                </Note>
              )}
              <p>
                The whole secret is shown once, when it is rotated. A receiver that has lost it needs a
                rotation.
              </p>
            </>
          )}
        </QueryView>
      </Panel>
      {/* Once the height of the panel above is known. */}
      {!query.isPending && <VerifyPanel />}
      {isOpen && <RotateDialog organizationId={organization.id} onClose={() => setOpen(false)} />}
    </>
  );
}
