import type { Schemas } from '../../api/client.ts';
import { StatusBadge } from '../../ui/badge.tsx';
import { formatDuration } from '../../ui/format.ts';
import style from './attempts.module.css';

type Attempt = { number: number; startedAt: string; endedAt: string; code?: string; message?: string };

/** The attempts at a block that was repeated: the failed ones of which the trace has the errors, and the last. */
export function Attempts({ block }: { block: Schemas['BlockDetail'] }) {
  const { failedAttempts = [], attempts, startedAt, finishedAt: endedAt, status, code, errorMessage } = block;
  const error = code && { code, message: errorMessage ?? '' };
  const all: Attempt[] = [...failedAttempts, { number: attempts, startedAt, endedAt, ...error }];
  return (
    <table className={style.attempts} aria-label="Attempts">
      <thead>
        <tr>
          <th scope="col">No.</th>
          <th scope="col">Started</th>
          <th scope="col">Took</th>
          <th scope="col">Outcome</th>
        </tr>
      </thead>
      <tbody>
        {all.map(({ number, startedAt, endedAt, code, message }) => (
          <tr key={number}>
            <td>{number}</td>
            <td>
              <time dateTime={startedAt} title={new Date(startedAt).toLocaleString()}>
                {new Date(startedAt).toLocaleTimeString('en-GB')}
              </time>
            </td>
            <td>{formatDuration(Date.parse(endedAt) - Date.parse(startedAt))}</td>
            <td>
              {code ? <code>{code}</code> : <StatusBadge status={status} />}
              {message && <p dir="auto">{message}</p>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
