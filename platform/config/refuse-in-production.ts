import type { z } from 'zod';

type Values = {
  NODE_ENV: string;
  WEIR_TEST_DIAL_MAP?: unknown;
  WEIR_TEST_WORKFLOW_BUNDLE?: unknown;
  WEIR_WEBHOOK_LISTENERS: boolean;
};

/** Refuses in production the variables that are for tests or for a local service. */
export function refuseInProduction(values: Values, context: z.RefinementCtx): void {
  if (values.NODE_ENV !== 'production') return;
  const { WEIR_TEST_DIAL_MAP, WEIR_TEST_WORKFLOW_BUNDLE, WEIR_WEBHOOK_LISTENERS } = values;
  const refused = { WEIR_TEST_DIAL_MAP, WEIR_TEST_WORKFLOW_BUNDLE, WEIR_WEBHOOK_LISTENERS };
  const message = 'must not be set in production: it is for tests or a local service';
  for (const [name, value] of Object.entries(refused))
    if (value) context.addIssue({ code: 'custom', path: [name], message });
}
