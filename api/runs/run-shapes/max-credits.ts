import { creditAmount } from '../../http/credit-amount.ts';

export const maxCredits = creditAmount.optional().meta({
  description:
    'The most credits that this run may cost. A model call that could exceed it is not made, and the run fails (`credits_exhausted`).',
});
