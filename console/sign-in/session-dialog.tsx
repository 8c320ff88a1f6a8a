import { useEffect, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { Note } from '../ui/feedback.tsx';
import { showToast } from '../ui/toast.tsx';
import { beginSignIn } from './code-grant.ts';
import type { Tokens } from './provider.ts';
import { onSessionEnd, openSignInWindow } from './session.ts';

/**
 * Asks the user to sign in again when the session has ended, while requests wait. The page stays, unless the browser
 * blocks the window and the user signs in on this page.
 */
export function SessionDialog() {
  const [resume, setResume] = useState<(tokens: Tokens) => void>();
  const [isBlocked, setBlocked] = useState(false);
  useEffect(() => onSessionEnd(() => new Promise((resolve) => setResume(() => resolve))), []);

  const signIn = async () => {
    const opened = openSignInWindow();
    setBlocked(opened === undefined);
    if (!opened) return;
    const tokens = await opened;
    resume?.(tokens);
    setResume(undefined);
  };
  return (
    <Dialog
      title="Your session has ended"
      isOpen={resume !== undefined}
      isDismissable={false}
      hasCross={false}
      onClose={() => location.assign('/console/signed-out')}
    >
      <p>Sign in again in a small window to continue. This page keeps everything that you have entered.</p>
      {isBlocked && (
        <Note tone="warn">
          The browser has blocked the window. Allow pop-up windows for this address and press Sign in again;
          or sign in on this page, which loses unsaved changes.
        </Note>
      )}
      <DialogActions>
        <Button slot="close" variant="quiet">
          Leave this page
        </Button>
        {isBlocked && (
          <Button
            onPress={() =>
              void beginSignIn(location.pathname + location.search).catch((error: Error) =>
                showToast({ tone: 'bad', title: error.message }),
              )
            }
          >
            Sign in on this page
          </Button>
        )}
        <Button variant="primary" onPress={() => void signIn()}>
          Sign in
        </Button>
      </DialogActions>
    </Dialog>
  );
}
