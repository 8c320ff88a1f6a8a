import { type Logger, UnexpectedError, Worker } from '@temporalio/worker';
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
    let hasEnded = false;
    let started: Promise<WorkflowCreator> | undefined;

    /** With an UnexpectedError, the worker ends, as one does whose thread ends. */
    async function start(): Promise<WorkflowCreator> {
      if (hasEnded) throw new UnexpectedError('A workflow came after the worker had ended');
      return Worker.createWorkflowCreator(bundle, options, logger).catch((error) => {
        throw new UnexpectedError(`The workflow thread could not be started: ${error}`, error);
      });
    }

    return {
      async createWorkflow(workflow) {
        started ??= start();
        return (await started).createWorkflow(workflow);
      },
      async destroy() {
        hasEnded = true;
        await started?.then(
          (creator) => creator.destroy(),
          () => undefined,
        );
      },
    };
  }
}
