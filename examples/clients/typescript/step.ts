// Steps through a flow: looks at each output, changes one on the way, and lets the rest run.
//   WEIR_URL=http://127.0.0.1:8787 WEIR_API_KEY=weir_… npx node examples/clients/typescript/step.ts 'rivers, dams'
import { stream } from './weir.ts';

type StepEvent =
  | { event: 'run_started'; data: { executionId: string; version: number } }
  | { event: 'block_started' | 'step_progress'; data: { stepId: string } }
  | { event: 'block_completed'; data: { stepId: string; key?: string; output: unknown } }
  | { event: 'step_paused'; data: { nextStepIndex: number } }
  | { event: 'run_completed'; data: { result: unknown } }
  | { event: 'run_failed'; data: { errorMessage: string } };

// The service keeps no outputs between calls: the caller collects them and sends them with each call.
const accumulatedOutputs: Record<string, unknown> = {};
let executionId: string | null = null;
let path = 'demo/demo/hello/step';

async function step(body: object): Promise<void> {
  const request = { executionId, accumulatedOutputs, ...body };
  for await (const { event, data } of stream<StepEvent>('POST', path, request)) {
    if (event === 'run_started') {
      executionId = data.executionId;
      // With the version in the path, the steps stay the same when the flow is published again.
      path = `demo/demo/hello/v${data.version}/step`;
      // Blocks inside a step, which have a key, are part of the output of the step.
    } else if (event === 'block_completed' && !data.key) {
      accumulatedOutputs[data.stepId] = data.output;
      console.log(`${data.stepId}:`, JSON.stringify(data.output));
    } else if (event === 'step_paused') console.log(`Step ${data.nextStepIndex} is next.`);
    else if (event === 'run_completed') console.log('Result:', JSON.stringify(data.result, null, 2));
    else if (event === 'run_failed') throw new Error(data.errorMessage);
  }
}

await step({ stepIndex: 0, message: process.argv[2] ?? 'rivers, dams' });
await step({ stepIndex: 1, inputOverrides: { topics: ['lakes'] } });
await step({ stepIndex: 2, runRemaining: true });
