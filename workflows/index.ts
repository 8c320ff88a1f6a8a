// The workflow types of this service, as the worker bundles them.
export { deliverWebhook } from './deliver-webhook.ts';
export { runFlow } from './run-flow.ts';
export { runTests } from './run-tests.ts';
