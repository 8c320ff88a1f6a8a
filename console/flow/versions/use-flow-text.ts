import { useQuery } from '@tanstack/react-query';
import type { Step } from '../draft/steps.ts';

/** Writes values as flow files are written; undefined until the writer of YAML is loaded. */
export function useYaml(): ((value: object) => string) | undefined {
  return useQuery({
    queryKey: ['yaml'],
    queryFn: async () => {
      const { stringify } = await import('yaml');
      return { write: (value: object) => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false }) };
    },
    staleTime: Number.POSITIVE_INFINITY,
  }).data?.write;
}

/** A flow file, as `weir flow pull` writes it. */
export function toFlowFile(
  { name, slug, description }: { name: string; slug: string; description: string },
  steps: Step[],
): object {
  return { name, slug, ...(description !== '' && { description }), steps };
}
