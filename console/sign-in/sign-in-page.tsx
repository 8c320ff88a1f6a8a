import { Button } from '../ui/button.tsx';
import { Mark } from '../ui/mark.tsx';
import style from './sign-in-page.module.css';

/** Stands alone, without the shell: said when there is no session, and why. */
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

/** Loads the page again, which begins with the sign-in and ends where it was. */
function signIn(): void {
  if (location.pathname === '/console/signed-out') location.assign('/console/');
  else location.reload();
}
