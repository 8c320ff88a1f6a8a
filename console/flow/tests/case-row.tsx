import { Pencil, Play, Trash2 } from 'lucide-react';
import type { Schemas } from '../../api/client.ts';
import { Clipped } from '../../ui/clipped.tsx';
import { formatCredits, formatDuration } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import style from './tests.module.css';

type CaseRowProps = {
  testCase: Schemas['ListedTestCase'];
  isBusy: boolean;
  onOpen: () => void;
  onRun: () => void;
  onEdit: () => void;
  onDelete: () => void;
};

/** A row with a test case and its last result. */
export function CaseRow({ testCase, isBusy, onOpen, onRun, onEdit, onDelete }: CaseRowProps) {
  const { name, last_result: last } = testCase;
  return (
    <tr>
      <td className={style.name}>
        {last ? (
          <button type="button" className={style.link} onClick={onOpen}>
            <Clipped text={name} />
          </button>
        ) : (
          <Clipped text={name} />
        )}
        {last?.why && last.status !== 'passed' && <p className={style.why}>{last.why}</p>}
      </td>
      <td>{last ? <StatusBadge status={last.status} /> : <span className={style.soft}>Never run</span>}</td>
      <td>{last ? formatCredits(last.cost) : ''}</td>
      <td>{last?.ms != null ? formatDuration(last.ms) : ''}</td>
      <td>{last && <Time at={last.tested_at} />}</td>
      <td className={style.actions}>
        <IconButton label={`Run ${name}`} size="small" isDisabled={isBusy} onPress={onRun}>
          <Play size={14} />
        </IconButton>
        <IconButton label={`Edit ${name}`} size="small" onPress={onEdit}>
          <Pencil size={14} />
        </IconButton>
        <IconButton label={`Delete ${name}`} size="small" onPress={onDelete}>
          <Trash2 size={14} />
        </IconButton>
      </td>
    </tr>
  );
}
