// Progress of a start: what it is doing and for how long. On a terminal in place, else a plain line every few seconds.

/** Reports the current step in one line. */
export type Report = (line: string) => void;

export const silent: Report = () => undefined;

/** One task: `say` replaces its current state, `note` prints a line that stays, `done` ends it with how long it took. */
type Task = { say: Report; note: Report; done(detail?: string): void; drop(): void };

export type Progress = { begin(name: string): Task; line(text?: string): void };

const REDRAW_MS = 100;
const PLAIN_INTERVAL_MS = 5_000;
const NAME_WIDTH = 14;
const SPINNER = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const CLEAR_LINE = '\r\u001b[2K';

type Running = { name: string; doing: string; began: number };

/** Creates the progress display on the standard output. Its timer never keeps the process alive. */
export function createProgress(): Progress {
  const out = process.stdout;
  const running = new Set<Running>();
  const terminal = out.isTTY === true && process.env.TERM !== 'dumb';
  let timer: NodeJS.Timeout | undefined;
  let frame = 0;

  const write = (text: string) => out.write(`${terminal ? CLEAR_LINE : ''}${text}\n`);
  const describe = ({ name, doing, began }: Running) => `${name} (${elapsed(began)}): ${doing}`;
  const tick = () => {
    frame += 1;
    if (!terminal) return [...running].forEach((task) => void write(`  … ${describe(task)}`));
    const text = `  ${SPINNER[frame % SPINNER.length]} ${[...running].map(describe).join(' · ')}`;
    // One column stays free: a full line wraps and can no longer be cleared.
    out.write(CLEAR_LINE + text.slice(0, (out.columns || 80) - 1));
  };
  const end = (task: Running) => {
    running.delete(task);
    if (running.size > 0) return;
    clearInterval(timer);
    timer = undefined;
    if (terminal) out.write(CLEAR_LINE);
  };

  return {
    begin(name) {
      const task = { name, doing: 'starting', began: performance.now() };
      running.add(task);
      timer ??= setInterval(tick, terminal ? REDRAW_MS : PLAIN_INTERVAL_MS).unref();
      return {
        say: (line) => {
          task.doing = line;
        },
        note: (line) => write(`  ! ${name}: ${line}`),
        done: (detail = '') => {
          end(task);
          write(`  ✔ ${name.padEnd(NAME_WIDTH)} ${elapsed(task.began).padStart(7)}  ${detail}`.trimEnd());
        },
        drop: () => end(task),
      };
    },
    line: (text = '') => void write(text),
  };
}

/** Formats the time since `began`: `0.7 s`, `42 s`, `3 min 5 s`. */
function elapsed(began: number): string {
  const seconds = (performance.now() - began) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}
