// Which response formats providers refused, so that the same refusal is not asked for again and again.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { OpenAI } from 'openai';
import { ServiceError } from '../../flow/errors.ts';

const REMEMBERED_MS = 24 * 60 * 60 * 1_000;
/** Maximum number of refusals, of all organizations. */
const REFUSALS_MAX = 10_000;

const FORMAT =
  '(response[_ ]format|output[_ ]format|output_config|json_schema|json[ _-]?mode|structured[ _-]?outputs?)';
/** Matches the words of a provider whose model has no such format. Other words are about this one schema. */
const NO_FORMAT = new RegExp(
  String.raw`${FORMAT}\b.{0,100}?(not (yet |currently )?(supported|available|allowed|enabled|implemented)|enabled only|expected one of|input should be|unsupported|unavailable|extra inputs|extra_forbidden)|(not support|unsupported|unknown|unrecogni[sz]ed)\b.{0,60}?${FORMAT}`,
  'is',
);
const THIS_SCHEMA =
  /invalid (json )?schema|context=|schema is (invalid|not valid)|format\.schema|too complex|\bwith tools\b/i;
/** Matches the words of a provider that does not say what it refuses. */
const NO_REASON =
  /\(status (?:400|422)\): (?:request contains an invalid argument|provider returned error|bad request|it gives no reason)\W*$/i;
const OF_TOOLS = /for function|function_parameters|\btools?[[.]\d|input_schema/i;

type Format = OpenAI.ResponseFormatJSONSchema;

/** The refused formats of this process. Each organization has its own: none degrades the runs of another. */
export type FormatRefusals = {
  /** Whether the model refused this format, or any, within a day. */
  has(organizationId: string, model: string, format: Format): boolean;
  /** Remembers a refusal of a format, after the model has answered without one. */
  note(organizationId: string, model: string, format: Format, error: Error): void;
};

/** Whether an error refuses the format of a request, or may do so. */
export function isFormatRefusal(error: unknown): error is ServiceError {
  if (!(error instanceof ServiceError) || OF_TOOLS.test(error.message)) return false;
  const isUnknown = error.code === 'MODEL_REQUEST_INVALID' && NO_REASON.test(error.message);
  return isUnknown || error.code === 'MODEL_SCHEMA_REFUSED';
}

export function createFormatRefusals(): FormatRefusals {
  const refused = new LRUCache<string, true>({ max: REFUSALS_MAX, ttl: REMEMBERED_MS });
  const ofModel = (organizationId: string, model: string) => `${organizationId} ${model}`;
  const ofSchema = (organizationId: string, model: string, format: Format) =>
    `${ofModel(organizationId, model)} ${createHash('sha256').update(JSON.stringify(format)).digest('base64')}`;
  return {
    has(organizationId, model, format) {
      if (refused.size === 0) return false;
      return (
        refused.has(ofModel(organizationId, model)) || refused.has(ofSchema(organizationId, model, format))
      );
    },
    note(organizationId, model, format, error) {
      const isOfModel = NO_FORMAT.test(error.message) && !THIS_SCHEMA.test(error.message);
      refused.set(isOfModel ? ofModel(organizationId, model) : ofSchema(organizationId, model, format), true);
    },
  };
}
