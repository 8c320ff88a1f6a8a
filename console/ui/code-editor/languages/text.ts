import type { LanguageSupport } from '../editor-types.ts';

/** Text without rules. */
export function loadLanguage(): LanguageSupport {
  return { extensions: [] };
}
