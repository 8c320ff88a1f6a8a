// workflows/ holds the workflow types: deterministic code that Temporal replays. A run's plan and ids come in; activities do
// everything that has an effect. The worker bundles this file.
export { deliverWebhook } from './deliver-webhook.ts';
export * from './maintenance.ts';
export { runFlow } from './run-flow.ts';
export { runTests } from './run-tests.ts';
