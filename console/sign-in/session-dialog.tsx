import { useEffect, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { beginSignIn } from './code-grant.ts';
import { onSessionEnd } from './session.ts';
import { openSignInWindow } from './sign-in-window.ts';
import type { Tokens } from './tokens.ts';

/** Asks the user to sign in again when the session has ended; requests wait meanwhile, and the page stays as it is. */
export function SessionDialog() {
  const [resume, setResume] = useState<(tokens: Tokens) => void>();
  useEffect(() => onSessionEnd(() => new Promise((resolve) => setResume(() => resolve))), []);

  const signIn = async () => {
    const tokens = await (openSignInWindow() ?? beginSignIn(location.pathname + location.search));
    resume?.(tokens);
    setResume(undefined);
  };
  return (
    <Dialog
      title="Your session has ended"
      isOpen={resume !== undefined}
      isDismissable={false}
      onClose={() => location.assign('/console/signed-out')}
    >
      <p>Sign in again to go on. This page stays as it is, with everything that you have entered.</p>
      <DialogActions>
        <Button variant="primary" onPress={() => void signIn()}>
          Sign in
        </Button>
      </DialogActions>
    </Dialog>
  );
}
