import { useQuery } from '@tanstack/react-query';
import { NOT_LOADED_ADVICE } from '../../ui/not-loaded-advice.ts';
import type { Step } from '../draft/steps.ts';

/** Loads the YAML package, and returns a function that writes values as in flow files. */
export function useYaml() {
  return useQuery({
    queryKey: ['yaml'],
    queryFn: async () => {
      const { stringify } = await import('yaml').catch(() => {
        throw new Error(`What writes YAML could not be loaded. ${NOT_LOADED_ADVICE}`);
      });
      return { write: (value: object) => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false }) };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Builds a flow file, as `weir flow pull` writes it. */
export function toFlowFile(
  { name, slug, description }: { name: string; slug: string; description: string },
  steps: Step[],
): object {
  return { name, slug, ...(description !== '' && { description }), steps };
}
