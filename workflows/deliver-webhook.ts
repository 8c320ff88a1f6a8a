import {
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { type DeliveryCall, describeDelivery, TURN_GIVEN } from '../flow/delivery.ts';
import { abandonDelivery, deliveryActivities } from './activities.ts';

const POSTPONED_MIN_MS = 1_000;
const POSTPONED_MAX_MS = 60_000;

/**
 * Delivers one webhook: makes attempts on the fixed schedule until one succeeds. When the last one fails, so does the
 * workflow. While it waits for its turn at the destination, it waits for a signal; while the database is away, it
 * asks again; after the engine was set back, it waits until the next attempt is due. None of these counts as an attempt.
 */
export async function deliverWebhook(call: DeliveryCall): Promise<void> {
  let hasTurn = false;
  setHandler(defineSignal(TURN_GIVEN), () => {
    hasTurn = true;
  });
  let { made } = call;
  try {
    for (let postponed = 0; ; ) {
      const { attemptDelivery } = deliveryActivities(made);
      const options = { summary: describeDelivery(call) };
      hasTurn = false;
      const result = await attemptDelivery.executeWithOptions(options, [{ ...call, made }]);
      if (result === 'over') return;
      made = result.made;
      if (result.waits) await condition(() => hasTurn);
      else {
        await sleep(result.dueInMs ?? Math.min(POSTPONED_MIN_MS * 2 ** postponed, POSTPONED_MAX_MS));
        postponed += 1;
      }
      if (workflowInfo().continueAsNewSuggested) break;
    }
  } catch (error) {
    const reason = isCancellation(error)
      ? 'The delivery was cancelled by an operator.'
      : 'The outcome of the last attempt is not known: its worker was lost.';
    // Changes nothing when the last attempt recorded its end.
    await CancellationScope.nonCancellable(() => abandonDelivery(call, reason));
    throw error;
  }
  await continueAsNew<typeof deliverWebhook>({ ...call, made });
}
