import { fieldName } from '../draft/field-names.ts';
import { changeStep, type SequentialStep, type Step } from '../draft/steps.ts';
import { useDraft } from '../flow-context.ts';
import { isWithin, withField } from './change-fields.ts';

export type BlockConfig = NonNullable<SequentialStep['processor_config']>;

/** Returns the functions that change the fields of one step. Setting a field to `undefined` removes it. */
export function useStep<S extends Step>(step: S) {
  const { steps, problems, notes, change } = useDraft();
  const { step_id } = step;
  const of = problems.filter((problem) => problem.stepId === step_id);
  function set<Field extends keyof S & string>(
    field: Field,
    value: S[Field] | undefined,
    words: string = fieldName(field),
  ) {
    change(`Change the ${words} of ${step.name}`, (steps) =>
      changeStep(steps, step_id, (now) => withField(now, field, value)),
    );
  }
  return {
    steps,
    problems: of,
    notes: notes.filter((note) => note.stepId === step_id),
    set,
    /** Sets a field of `processor_config`, which is removed with its last field. */
    configure<Field extends keyof BlockConfig & string>(field: Field, value: BlockConfig[Field] | undefined) {
      change(`Change the ${fieldName(field)} of ${step.name}`, (steps) =>
        changeStep(steps, step_id, (now) => {
          const config = withField((now as SequentialStep).processor_config ?? {}, field, value);
          return withField(
            now as SequentialStep,
            'processor_config',
            Object.keys(config).length > 0 ? config : undefined,
          );
        }),
      );
    },
    /** Returns the problems of a field, or of anything inside it, as one text; undefined when there are none. */
    problemOf(field: string): string | undefined {
      const found = of.filter((problem) => isWithin(problem.field, field));
      return found.length > 0 ? found.map(({ message }) => message).join(' ') : undefined;
    },
  };
}
