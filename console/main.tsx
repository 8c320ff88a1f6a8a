// Opens the session, then shows the page of the address.
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/client.ts';
import { router } from './routes.tsx';
import { applyTheme, readTheme } from './shell/theme.ts';
import { openSession } from './sign-in/session.ts';
import { SessionDialog } from './sign-in/session-dialog.tsx';
import { SignInError } from './sign-in/sign-in-error.ts';
import { SignInPage } from './sign-in/sign-in-page.tsx';
import './styles/tokens.css';
import './styles/base.css';

applyTheme(readTheme());
const page = createRoot(document.getElementById('root') as HTMLElement);

if (location.pathname === '/console/signed-out')
  page.render(<SignInPage title="Signed out" message="You are signed out of Weir." />);
else
  openSession().then(
    () =>
      page.render(
        <StrictMode>
          <QueryClientProvider client={queryClient}>
            <RouterProvider router={router} />
            <SessionDialog />
          </QueryClientProvider>
        </StrictMode>,
      ),
    (error: unknown) => {
      const message =
        error instanceof SignInError
          ? error.message
          : 'The service cannot be reached. Check that it runs, and try again.';
      page.render(<SignInPage title="Not signed in" message={message} />);
    },
  );
