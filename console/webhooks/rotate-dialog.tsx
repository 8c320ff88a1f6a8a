import { useState } from 'react';
import { $api } from '../api/client.ts';
import { refetch } from '../api/query-client.ts';
import { Button } from '../ui/button.tsx';
import { Checkbox } from '../ui/checkbox.tsx';
import { CodeBlock } from '../ui/code-block.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Note } from '../ui/note.tsx';
import { Time } from '../ui/time.tsx';
import { useReturnFocus } from '../ui/use-return-focus.ts';

/** Creates a new signing secret and shows it once. */
export function RotateDialog({ organizationId, onClose }: { organizationId: string; onClose: () => void }) {
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
