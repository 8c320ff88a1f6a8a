import { useBlocker } from '@tanstack/react-router';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { useDraft } from './draft-context.ts';

/** Saves the draft before the user leaves the flow, and asks when it cannot be saved. */
export function LeaveGuard() {
  const { saveState, message, flush, discard } = useDraft();
  const blocker = useBlocker({
    shouldBlockFn: async ({ current, next }) =>
      flowOf(current.pathname) !== flowOf(next.pathname) && !(await flush()),
    enableBeforeUnload: () => saveState !== 'saved',
    withResolver: true,
  });
  if (blocker.status !== 'blocked') return null;
  return (
    <Dialog title="The draft is not saved" isOpen onClose={blocker.reset}>
      <p>
        {saveState === 'conflict'
          ? 'It was changed elsewhere meanwhile. Stay to choose between the two, or leave without your last changes.'
          : `${message ?? 'The service did not accept it.'} Stay to fix it, or leave without your last changes.`}
      </p>
      <DialogActions>
        <Button
          variant="danger"
          onPress={() => {
            discard();
            blocker.proceed();
          }}
        >
          Leave without them
        </Button>
        <Button variant="primary" onPress={blocker.reset}>
          Stay
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/** Returns the path up to the flow: pages with the same one share the draft. */
function flowOf(pathname: string): string | undefined {
  return /^.*\/flows\/[^/]+(?!.*\/runs\/)/.exec(pathname)?.[0];
}
