import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { showToast } from '../../ui/toast.tsx';
import { useFlow } from '../flow-context.ts';
import { FlowDifference } from './flow-difference.tsx';
import { setProduction } from './set-production.ts';
import style from './versions.module.css';

type ProductionDialogProps = { version: number; isOpen: boolean; onClose: () => void };

/** Asks before putting a version into production, and says what callers will notice. */
export function ProductionDialog({ version, isOpen, onClose }: ProductionDialogProps) {
  const { flow, projectId } = useFlow();
  const { productionVersion: now } = flow;
  const isBack = now !== null && version < now;
  async function promote() {
    await setProduction(projectId, flow.id, version);
    showToast({ tone: 'good', title: `Version ${version} is in production.` });
  }
  return (
    <ConfirmDialog
      title={isBack ? `Roll back to version ${version}?` : `Put version ${version} into production?`}
      action={isBack ? 'Roll back' : 'Put into production'}
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={promote}
    >
      <div className={style.difference}>
        <p>
          {now === null
            ? `Calls of this flow run version ${version} from now on; until now they are refused, since no version is in production.`
            : `Calls that name no version run version ${version} from now on, instead of version ${now}. Runs under way finish with the version they began with; calls that name a version are not affected.`}
        </p>
        {now !== null && isOpen && (
          <div className={style.inDialog}>
            <FlowDifference from={now} to={version} />
          </div>
        )}
      </div>
    </ConfirmDialog>
  );
}
