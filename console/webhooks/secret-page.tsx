import { useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { $api, refetch } from '../api/client.ts';
import { hasRole, useOrganization } from '../shell/me.ts';
import { RoleNote } from '../shell/notes.tsx';
import { useOpenFromAddress } from '../shell/use-open-from-address.ts';
import { Button } from '../ui/button.tsx';
import { CodeBlock } from '../ui/code-block.tsx';
import { Dialog, DialogActions, FormDialog } from '../ui/dialog.tsx';
import { Note, QueryView } from '../ui/feedback.tsx';
import { Checkbox } from '../ui/fields/checkbox.tsx';
import { Select } from '../ui/fields/select.tsx';
import { formatDuration } from '../ui/format.ts';
import { Fact, Facts, Panel } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { useReturnFocus } from '../ui/use-return-focus.ts';
import { VERIFY_PYTHON, VERIFY_TYPESCRIPT } from './verify-snippets.ts';
import style from './webhooks.module.css';

const LANGUAGES = [
  { id: 'typescript', label: 'TypeScript' },
  { id: 'python', label: 'Python' },
] as const;

const TICK_MS = 1_000;

/** The signing secret of an organization, its rotation, and how receivers verify signatures. */
export function SecretPage() {
  const { org } = useParams({ from: '/orgs/$org/webhooks/secret' });
  const organization = useOrganization(org);
  const canRotate = hasRole(organization, 'admin');
  const [isOpen, setOpen] = useState(false);
  useOpenFromAddress('rotate', () => canRotate && setOpen(true));
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

/** Counts down to a time (ISO 8601); shows `past` afterwards. */
function Countdown({ until, past }: { until: string; past: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  const left = new Date(until).getTime() - now;
  if (left <= 0) return <>{past}</>;
  return (
    <time dateTime={until} title={new Date(until).toLocaleString()}>
      {left < 60_000 ? `${Math.ceil(left / 1_000)} s` : formatDuration(Math.floor(left / 1_000) * 1_000)}
    </time>
  );
}

/** Creates a new signing secret and shows it once. */
function RotateDialog({ organizationId, onClose }: { organizationId: string; onClose: () => void }) {
  const [hasLeaked, setLeaked] = useState(false);
  useReturnFocus();
  const rotate = $api.useMutation('post', '/api/v1/organizations/{org_id}/webhooks/secret/rotate', {
    meta: { quiet: true },
    onSuccess: () => refetch('/api/v1/organizations/{org_id}/webhooks/secret'),
  });
  if (rotate.data)
    return (
      <Dialog title="The new signing secret" isOpen onClose={onClose} isDismissable={false} width="36rem">
        <Note tone="warn">Copy it now: it is shown this once only.</Note>
        <CodeBlock label="the secret" text={rotate.data.newSecret} isWrapped />
        <p>
          {rotate.data.graceUntil ? (
            <>
              Give it to every receiver. The previous one ends <Time at={rotate.data.graceUntil} />, and signs
              too until then.
            </>
          ) : (
            'Give it to every receiver now: deliveries are signed with it alone.'
          )}
        </p>
        <DialogActions>
          <Button variant="primary" onPress={onClose}>
            I have copied it
          </Button>
        </DialogActions>
      </Dialog>
    );
  return (
    <FormDialog
      title="Rotate the signing secret?"
      action="Rotate"
      isOpen
      awaitsAnswer
      onClose={onClose}
      change={rotate}
      onSubmit={() =>
        rotate.mutate({
          params: {
            path: { org_id: organizationId },
            query: { grace: hasLeaked ? 'false' : 'true' },
          },
        })
      }
    >
      <p>
        Deliveries are signed with a new secret at once, and for 24 hours with the current one too, so that no
        receiver loses any. An older secret ends now.
      </p>
      <Checkbox isSelected={hasLeaked} onChange={setLeaked}>
        The current secret has leaked: end it now
      </Checkbox>
      {hasLeaked && <Note tone="warn">Receivers refuse all deliveries until they have the new secret.</Note>}
    </FormDialog>
  );
}

/** The rules for a receiver, with code that verifies a signature. */
function VerifyPanel() {
  const [language, setLanguage] = useState<(typeof LANGUAGES)[number]['id']>('typescript');
  return (
    <Panel
      title="What a receiver does"
      actions={
        <Select label="Language" hideLabel options={LANGUAGES} value={language} onChange={setLanguage} />
      }
    >
      <ul className={style.list}>
        <li>Verify the signature over the bytes as they arrived, before parsing them.</li>
        <li>Refuse requests older than five minutes.</li>
        <li>
          Answer 2xx within 20 seconds, and work afterwards. 408, 429 and 5xx are retried; another 3xx or 4xx
          is final.
        </li>
        <li>
          Remember <code>X-Weir-Delivery</code>: a delivery may arrive more than once.
        </li>
      </ul>
      <CodeBlock
        label={`the code in ${language === 'python' ? 'Python' : 'TypeScript'}`}
        text={language === 'python' ? VERIFY_PYTHON : VERIFY_TYPESCRIPT}
      />
    </Panel>
  );
}
