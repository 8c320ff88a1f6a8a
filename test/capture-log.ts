import { log, redirectLog } from '../platform/observability/log.ts';

type LogLine = { level: string; msg: string; [field: string]: unknown };

/** Collects the lines that this process logs, of every level, until `stop` is called; `hear` is told of each. */
export function captureLog(hear: (line: LogLine) => void = () => {}): { lines: LogLine[]; stop(): void } {
  const lines: LogLine[] = [];
  const { level } = log;
  log.level = 'trace';
  const undo = redirectLog((text) => {
    const line = JSON.parse(text);
    lines.push(line);
    hear(line);
  });
  return {
    lines,
    stop() {
      undo();
      log.level = level;
    },
  };
}
