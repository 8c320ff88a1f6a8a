import { type Logger, Worker } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';

/** A worker of Temporal's SDK whose workflow thread, of some 25 MB, starts with its first workflow. */
export class LateThreadWorker extends Worker {
  protected static override async createWorkflowCreator(
    bundle: WorkflowBundleWithSourceMapAndFilename,
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    const start = () => Worker.createWorkflowCreator(bundle, options, logger);
    let started: Promise<WorkflowCreator> | undefined;
    return {
      async createWorkflow(workflow) {
        started ??= start().catch((error) => {
          // The workflow's task fails and is repeated, which starts the thread again.
          started = undefined;
          throw error;
        });
        return (await started).createWorkflow(workflow);
      },
      async destroy() {
        await (await started)?.destroy();
      },
    };
  }
}
