import { fieldName } from './field-names.ts';
import { listsInside, type Step } from './steps.ts';

/** A problem that prevents publishing, or that made the service refuse the draft. */
export type Problem = {
  /** The step with the problem; undefined for the flow itself. */
  stepId: string | undefined;
  /** The field of the step, such as `processor_config.temperature`; '' for the step itself. */
  field: string;
  message: string;
};

/** Finds the step and field of a path such as `steps[2].branches.summary[0].prompt` or `steps.2.prompt`. */
export function locateProblem(steps: Step[], { path, message }: { path: string; message: string }): Problem {
  const found = path.startsWith('steps') ? walk(steps, path.slice('steps'.length)) : undefined;
  // The form has words of its own for the settings of the API.
  const words = message.replace(/\bprocessor_config\.\w+/g, fieldName);
  return { stepId: found?.step.step_id, field: found?.field ?? path, message: words };
}

function walk(steps: Step[], path: string): { step: Step; field: string } | undefined {
  const [start, bracketed, dotted] = /^(?:\[(\d+)\]|\.(\d+))/.exec(path) ?? [''];
  const step = steps[Number(bracketed ?? dotted)];
  if (!step) return undefined;
  const rest = path.slice(start.length);
  for (const { list, steps: inner } of listsInside(step)) {
    const head = list.branch === undefined ? '.body' : '.branches';
    const heads =
      list.branch === undefined
        ? [head]
        : [`${head}.${list.branch}`, `${head}[${JSON.stringify(list.branch)}]`];
    for (const start of heads) {
      const found = rest.startsWith(start) ? walk(inner, rest.slice(start.length)) : undefined;
      if (found) return found;
    }
  }
  return { step, field: rest.replace(/^\./, '') };
}
