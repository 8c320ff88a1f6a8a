import { UsageError } from './usage-error.ts';

/** Splits a path such as `acme/main` into its slugs; `form` is the required form, such as `org/project`. Throws UsageError. */
export function splitPath(text: string, form: string): string[] {
  const parts = text.split('/');
  if (parts.length !== form.split('/').length || parts.includes(''))
    throw new UsageError(
      `${JSON.stringify(text)} is not the path of a ${form.split('/').at(-1)}: write it as ${form}.`,
    );
  return parts;
}

/** Makes a parser of arguments that are paths of the form. It throws UsageError. */
export function parsePath(form: string) {
  return (text: string): string => splitPath(text, form).join('/');
}
