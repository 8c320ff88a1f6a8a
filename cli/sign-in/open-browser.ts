import { spawn } from 'node:child_process';

/** A program that still runs after this long has opened the page, and stays in the foreground. */
const FAILURE_MS = 3_000;

/** Opens a page in the user's browser; answers false where there is none. The command to open it may be in BROWSER. */
export async function openBrowser(url: string): Promise<boolean> {
  const program = findProgram(process.env);
  if (program === undefined) return false;
  const child = spawn(program, [url], { stdio: 'ignore', detached: true });
  const opened = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(true), FAILURE_MS);
    const settle = (result: boolean) => {
      clearTimeout(timer);
      resolve(result);
    };
    child.on('error', () => settle(false));
    child.on('exit', (code) => settle(code === 0));
  });
  child.unref();
  return opened;
}

function findProgram(env: NodeJS.ProcessEnv): string | undefined {
  if (env.BROWSER) return env.BROWSER;
  if (process.platform === 'darwin') return env.SSH_CONNECTION ? undefined : 'open';
  return env.DISPLAY || env.WAYLAND_DISPLAY ? 'xdg-open' : undefined;
}
