import { failure, type Result, warning } from './finding.ts';

const NOTICED_MS = 5_000;
/** Tokens and signatures are refused by some when clocks differ by so much. */
const REFUSED_MS = 60_000;

/** Compares a clock that was just read, which took `takenMs`, with that of this machine; finds nothing where they agree. */
export function checkClock(whose: string, at: Date, takenMs: number): Result[] {
  const apart = Math.abs(Date.now() - takenMs / 2 - at.getTime());
  if (apart < NOTICED_MS + takenMs) return [];
  const message = `The clock of this machine and that of ${whose} are ${Math.round(apart / 1_000)} s apart.`;
  const mend = 'Have both synchronized by NTP (chrony, systemd-timesyncd).';
  return [apart >= REFUSED_MS ? failure(message, mend) : warning(message, mend)];
}
