// The state that `npm start` leaves for this command: where the service is on this machine, and a credential for it.
import path from 'node:path';
import { isStarting } from '../../dev/processes/start-lock.ts';
import { LOCAL_ENVIRONMENT, type LocalEnvironment, readState } from '../../dev/state-folder.ts';
import { ServiceError } from '../../flow/errors.ts';

const CHECKOUT = path.join(import.meta.dirname, '../..');

/** Reads what `npm start` wrote; undefined where none ran. */
export function findLocalStart(): LocalEnvironment | undefined {
  return readState<LocalEnvironment>(stateFolder(), LOCAL_ENVIRONMENT);
}

export function stateFolder(): string {
  return path.resolve(process.env.WEIR_STATE_DIR || path.join(CHECKOUT, '.weir'));
}

/** Throws while `npm start` is on its way to a service, of which this command then knows nothing yet. */
export function requireStarted(): void {
  if (isStarting(stateFolder()))
    throw new ServiceError(
      'CONFLICT',
      'npm start is still starting. Repeat the command when it says that Weir is ready.',
    );
}
