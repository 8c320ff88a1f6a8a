// platform/large-values/ reads large JSON texts and code in a thread (large-json.ts), and bounds definitions that are checked.
import { createFairQueue } from '../limits/fair-queue.ts';
import { createPresence, type Presence } from '../limits/presence.ts';
import { type CodeReader, createCodeReader } from './code-reader.ts';
import { createDefinitionTurns, type DefinitionTurns } from './definition-turns.ts';
import { createLargeJson, type LargeJson } from './large-json.ts';

/** Definitions of one organization that are looked at, and drafts of it that are checked, at a time. */
const FLOW_LOADS_MAX = 2;
const DRAFT_CHECKS_MAX = 1;
/** Large definitions of both kinds, of all organizations; the reserve is for idle ones. */
const LARGE_DEFINITIONS = { capacity: 4, reserved: 2 };

export type LargeValues = {
  /** Looks at definitions that are about to run. */
  flowLoads: DefinitionTurns;
  /** Checks of drafts that are about to be published. */
  draftChecks: DefinitionTurns;
  json: LargeJson;
  readCode: CodeReader;
  /** The organizations whose runs and blocks this process has begun lately. */
  presence: Presence;
  /** Ends the thread. */
  close(): Promise<void>;
};

/** Creates what a process may hold. Its thread starts with the first large text. */
export function createLargeValues(): LargeValues {
  const presence = createPresence();
  const json = createLargeJson({ presence });
  const largeDefinitions = createFairQueue(LARGE_DEFINITIONS);
  return {
    flowLoads: createDefinitionTurns(FLOW_LOADS_MAX, largeDefinitions),
    draftChecks: createDefinitionTurns(DRAFT_CHECKS_MAX, largeDefinitions),
    json,
    readCode: createCodeReader(json),
    presence,
    close: json.close,
  };
}
