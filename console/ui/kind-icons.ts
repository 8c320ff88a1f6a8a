import { ArrowRight, Braces, type LucideIcon, Repeat, Sparkles, Split } from 'lucide-react';

/** The icon of each kind of step: its processor type, `parallel` or `loop`. */
export const KIND_ICONS = {
  llm: Sparkles,
  code: Braces,
  passthrough: ArrowRight,
  parallel: Split,
  loop: Repeat,
} as const satisfies Record<string, LucideIcon>;
