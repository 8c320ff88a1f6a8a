import { Mark } from '../shell/mark.tsx';
import { Button } from '../ui/button.tsx';
import style from './sign-in-page.module.css';

/** The page without a session, outside the shell: says why, and offers to sign in. */
export function SignInPage({ title, message }: { title: string; message: string }) {
  return (
    <main className={style.page}>
      <div className={style.box}>
        <Mark size={36} />
        <h1>{title}</h1>
        <p>{message}</p>
        <Button variant="primary" onPress={signIn}>
          Sign in
        </Button>
      </div>
    </main>
  );
}

/** Reloads the page, which starts the sign-in and returns to the same address. */
function signIn(): void {
  if (location.pathname === '/console/signed-out') location.assign('/console/');
  else location.reload();
}
