import { CancellationScope, continueAsNew, isCancellation, sleep, workflowInfo } from '@temporalio/workflow';
import { type DeliveryCall, describeDelivery, fairShareOfDelivery } from '../flow/delivery.ts';
import { abandonDelivery, deliveryActivities } from './activities.ts';

const POSTPONED_MIN_MS = 1_000;
const POSTPONED_MAX_MS = 60_000;

/**
 * Delivers one webhook: makes attempts on the fixed schedule until one succeeds. When the last one fails, so does the
 * workflow. Waits on a timer while the organization has too many attempts in flight, while the database is away, and, after the
 * engine was set back, until the next attempt is due. None of these counts as an attempt.
 */
export async function deliverWebhook(call: DeliveryCall): Promise<void> {
  let { made } = call;
  try {
    for (let postponed = 0; !workflowInfo().continueAsNewSuggested; postponed += 1) {
      const { attemptDelivery } = deliveryActivities(made);
      const options = { summary: describeDelivery(call), priority: fairShareOfDelivery(call) };
      const result = await attemptDelivery.executeWithOptions(options, [{ ...call, made }]);
      if (result === 'over') return;
      made = result.made;
      await sleep(result.dueInMs ?? Math.min(POSTPONED_MIN_MS * 2 ** postponed, POSTPONED_MAX_MS));
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
