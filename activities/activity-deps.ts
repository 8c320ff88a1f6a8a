import type { Db } from '../db/connect.ts';
import type { FlowDefinitions } from '../db/flows/flow-definitions.ts';
import type { Provider } from '../platform/config/config.ts';
import type { Validator } from '../platform/json-schema/validator.ts';
import type { LargeValues } from '../platform/large-values/large-values.ts';
import type { FairQueue } from '../platform/limits/fair-queue.ts';
import type { ActivityGates } from '../platform/limits/gates.ts';
import type { Registry } from '../platform/models/registry.ts';
import type { Encryption } from '../platform/secrets/encrypt.ts';
import type { Cancellations } from './cancellations.ts';
import type { Sandbox } from './code/sandbox.ts';
import type { InProcessRuns } from './in-process-runs.ts';
import type { AnswerLengths } from './model/answer-lengths.ts';
import type { FormatRefusals } from './model/format-refusals.ts';
import type { ProviderOutages } from './model/provider-outages.ts';

/** Dependencies of the activities; the worker opens and closes them. */
export type ActivityDeps = {
  db: Db;
  definitions: FlowDefinitions;
  /** Bounds the statements that lock one organization's balance. */
  balanceLimit: Pick<FairQueue, 'acquire'>;
  validator: Validator;
  sandbox: Sandbox;
  largeValues: LargeValues;
  /** Credits per second of processor time of code blocks. */
  codePrice: number;
  registry: Registry;
  providers: Record<string, Provider>;
  providerOutages: ProviderOutages;
  answerLengths: AnswerLengths;
  formatRefusals: FormatRefusals;
  /** The providers that take a caller's own key, by prefix. */
  ownKeyProviders: Record<string, Provider>;
  encryption: Encryption;
  inProcessRuns: InProcessRuns;
  /** The gate of run starts; absent where no API runs in this process. */
  runStarts?: FairQueue | undefined;
  gates: ActivityGates;
  cancellations: Cancellations;
  /** For tests: calls of a model that takes less time on average, in milliseconds, are local activities. */
  fastModelMs?: number | undefined;
};
