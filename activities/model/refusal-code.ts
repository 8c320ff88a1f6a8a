// Tells why a provider rejected a request. Providers agree on few statuses and codes: names decide, then words, then the status.
import type { ProviderWords } from './provider-words.ts';
import { RETRY_AFTER_MAX_MS } from './retry-after.ts';

/** An error of a provider. `status`: undefined where an answer with 200 names none. `hasSchema`: a schema or tools were sent. */
export type Rejection = Pick<ProviderWords, 'said' | 'names' | 'waitMs' | 'isPage'> & {
  status: number | undefined;
  hasSchema: boolean;
};

type RefusalCode =
  | 'MODEL_KEY_REJECTED'
  | 'MODEL_QUOTA_EXCEEDED'
  | 'MODEL_NOT_FOUND'
  | 'MODEL_TOOLS_UNSUPPORTED'
  | 'PROMPT_TOO_LARGE'
  | 'MODEL_REFUSED'
  | 'MODEL_SCHEMA_REFUSED'
  | 'MODEL_REQUEST_INVALID';

/** `passing`: a repetition may succeed; `sample`: the model wrote what its provider cannot use, and another answer may do. */
export type Meaning = RefusalCode | 'passing' | 'sample';

const SAMPLE = /^(tool_use_failed|json_validate_failed|output_parse_failed)$/i;
/** Words of servers that cannot read what their model wrote: Groq, Bedrock, and vLLM with gpt-oss or a required tool. */
const SAMPLE_SAID =
  /failed_generation|model produced (an )?invalid|while expecting start token|tokens remaining in message header|unknown role: \S{0,20}assistant|validation error for list\[functiondefinition\]/i;

/** Names that decide alone, whatever the status is. */
const NAMED: [RegExp, RefusalCode][] = [
  [
    /^(insufficient_quota|insufficient_user_quota|exceeded_current_quota\w*|billing_\w+|credit_limit\w*|payment_required|arrearage|budget_exceeded)$/i,
    'MODEL_QUOTA_EXCEEDED',
  ],
  [/per_?day/i, 'MODEL_QUOTA_EXCEEDED'],
  [
    /^(invalid_api_key|api_key_\w+|invalid_x_api_key|expired_api_key|invalid_authentication\w*)$/i,
    'MODEL_KEY_REJECTED',
  ],
  [/^(model_not_found|invalid_model|model_decommissioned|model_not_available)$/i, 'MODEL_NOT_FOUND'],
  [
    /^(context_length_exceeded|exceed_context\w*|request_too_large|string_above_max_length)$/i,
    'PROMPT_TOO_LARGE',
  ],
  [
    /^(content_filter|content_policy\w*|responsibleaipolicyviolation|data_?inspection_?failed|prohibited_content)$/i,
    'MODEL_REFUSED',
  ],
];

/**
 * Statuses of a server or network that is busy or broken: 424 a model that failed, at Bedrock, 425 too early, 498 no capacity at
 * Groq, 499 closed by a gateway.
 */
const PASSING_STATUSES = new Set([408, 409, 424, 425, 429, 498, 499]);
/** Statuses of a server that will not do it the next time, either. */
const NEVER = new Set([501, 505]);
const PASSING_NAME =
  /overloaded|rate_?limit|too_?many_?requests|throttl|unavailable$|time_?out|capacity_?exceeded|^(internal_)?server_error$|resource_exhausted|not_?ready/i;
const PASSING_WORDS =
  /timed[ -]?out|\btimeout\b.{0,40}\b(while|when|during|download|fetch|occurred|exceeded|reached)|\b(overloaded|at capacity|over capacity)\b|\b(is|are|currently|still|temporarily) (busy|loading|unavailable|starting|warming)|loading model|too many requests|rate limit (exceeded|reached)|try again (later|shortly|soon|in )|please retry\b(?! with)|\bconnection (was )?(reset|refused|closed|aborted|lost|timed)|econn(reset|refused|aborted)|socket hang up|upstream connect error|\bmodel (has crashed|(is |was )?unloaded)|^channel error$|operation cancell?ed/i;

const QUOTA =
  /exceeded your current quota|insufficient[ _]quota|check your (plan and )?billing|billing (hard limit|details)|(insufficient|not enough|run out of|any|no) (remaining )?(balance|credits?|funds)\b(?! (were|was|have|has|will))|key limit exceeded|extra usage is required|余额不足|欠费|(credit|account) balance is|out of credits|in arrears|budget has been exceeded|exceeded (its|their|your) budget|(requires|add) (more )?credits|spend(ing)? limit|usage limits?( has been)? (reached|exceeded)|reached your (specified )?(api |daily |weekly |monthly )*(usage|spending) limits?|(tokens|requests|calls|messages|limit|quota|models?)[ -]?(per|\/)[ -]?(day|week|month)|\b(daily|weekly|monthly)\b.{0,30}\b(limit|quota|cap)\b|\b(limit|quota)\b.{0,30}\b(daily|per day|for today)|\blimit: 0\b/i;
const PER_MINUTE = /per[ _-]?(minute|min|second)\b|perminute|\b[RT]PM\b/i;
/** A limit that ends later is none that a repetition waits for. */
const LONG_WAIT_MS = 3_600_000;
/** With a status that refuses access: settings are "not allowed" for a model, too. */
const MODEL_ACCESS =
  /(access|permitted|allowed|entitled|permission|authori[sz]ed)\b.{0,60}\bmodels?\b|\bmodels?\b.{0,100}\b(not (available|allowed|enabled|permitted|accessible)|is restricted|access denied)|key_model_access_denied/i;
const UNKNOWN_MODEL =
  /model_?not_?found|invalid_?model|invalid model|access to (the |this )?model|not a valid model|unknown model|no such model|\bmodels?\b.{0,200}\b(not found|not exist|decommissioned|retired|no longer (available|supported)|been deprecated)|no endpoints found for|model identifier is invalid/i;
const NO_TOOLS =
  /(not|n't|no endpoints found that) support[^.]{0,30}\b(tools?|tool use|(tool|function)[ _-]call(s|ing)?|functions)\b|\b(tools|tool use|(tool|function)[ _-]call(s|ing)?|functions)\W{0,2} (is|are) not supported|\btool choice requires --|\btools param requires/i;
const KEY =
  /(incorrect|invalid|wrong|bad|expired|revoked|missing|no|malformed|unknown|disabled) (x-)?(api[ _-]?key|(access|auth|bearer) token|credentials)|api[ _-]?key( \S{1,60})? ?(is |has been |was )?(not (valid|found|recogni[sz]ed)|invalid|incorrect|wrong|expired|revoked|disabled|missing|deleted)|authentication[ _]?(error|fail)|auth(entication|orization) (is )?(required|fails)|unauthenticated|unauthori[sz]ed|invalid (authentication|authorization)|security token .{0,40}(invalid|expired)|reported as leaked|consumer_suspended/i;
const TOO_LARGE =
  /context[ _]?(length|window|size)|exceed_context|(prompt|input|request)( length)? is too (long|large)|(prompt|request) too (long|large)|too many (input )?tokens|input token count|payload size exceeds|maximum context|exceeds? (the )?context|reduce the length of|range of input length|inputs` tokens \+/i;
const FILTERED =
  /content_filter|content[_ ]?policy|content management policy|invalid_prompt|moderation|flagged|usage (polic|guideline)|violat\w+ .{0,40}(polic|guideline|terms)|safety (system|settings|reasons|check)|prohibited_content|content exists risk|inappropriate content|blocked by .{0,30}(filter|guardrail)|filtered: /i;
/** DeepSeek calls a format that it does not have "unavailable now"; others have none together with tools. */
const FORMAT = /response[_ ]format|json[ _-]?mode|structured[ _-]?output/i;
const SCHEMA =
  /schema|response mime type|output[_ ]format|output_config(?!\.effort)|handle the requested parameters|function_parameters|grammar|guided[ _]decoding|function_declarations|\btools?[[.]\d.{0,40}parameters/i;
/** Words of servers that say so with the status of a server error, though no repetition helps. */
const SCHEMA_BROKEN =
  /json schema conversion failed|unrecogni[sz]ed schema|invalid (json )?schema|fail\w* to (parse|compile|create|initiali[sz]e)\b.{0,40}grammar|(response_format|json_schema)\b.{0,80}(not supported|unsupported|input should be)/i;

/** Words that decide, in this order. */
const SAID: [RegExp, RefusalCode][] = [
  [UNKNOWN_MODEL, 'MODEL_NOT_FOUND'],
  // Before the quota: what is refused so is not charged, and some providers say that.
  [FILTERED, 'MODEL_REFUSED'],
  [QUOTA, 'MODEL_QUOTA_EXCEEDED'],
  [TOO_LARGE, 'PROMPT_TOO_LARGE'],
];
/** Where or how data is processed, or what kind: of this request, and no matter of the key or the name of the model. */
const PLACE_OR_POLICY =
  /no endpoints found that support|\b(ip address|virtual network|firewall|country|countries|regions?|territory|user location|location is|data (policy|policies|retention)|zero[- ]data|privacy|guardrails?|opt[- ]?in)\b|unsupported_country/i;

/** Tells what an error of a provider means; MODEL_KEY_REJECTED also for a key of the caller or organization. */
export function meaningOf(rejection: Rejection): Meaning {
  const { status = 0, said, names, hasSchema, waitMs, isPage } = rejection;
  const words = said.replace(/https?:\/\/\S+/g, '');
  const text = `${names.join(' ')} ${words}`;
  if (names.some((name) => SAMPLE.test(name))) return 'sample';
  // A minute's tokens do not suffice for this request alone.
  if (isOverLimit(words)) return 'PROMPT_TOO_LARGE';
  const named = NAMED.find(([name]) => names.some((given) => name.test(given)));
  if (named) return named[1];
  const isServerError = status >= 500 && !NEVER.has(status);
  if (hasSchema && isServerError && SCHEMA_BROKEN.test(words)) return 'MODEL_SCHEMA_REFUSED';
  if (!isServerError && SAMPLE_SAID.test(words)) return 'sample';
  const isNamedPassing = !NEVER.has(status) && names.some((name) => PASSING_NAME.test(name));
  if (isServerError || PASSING_STATUSES.has(status) || isNamedPassing) {
    if (isServerError && TOO_LARGE.test(words)) return 'PROMPT_TOO_LARGE';
    const isOut =
      !isServerError && ((waitMs ?? 0) > LONG_WAIT_MS || (QUOTA.test(words) && !passesSoon(text, waitMs)));
    return isOut ? 'MODEL_QUOTA_EXCEEDED' : 'passing';
  }
  if (status === 402) return 'MODEL_QUOTA_EXCEEDED';
  if (hasSchema && NO_TOOLS.test(words) && !FORMAT.test(words)) return 'MODEL_TOOLS_UNSUPPORTED';
  const decided = SAID.find(([said]) => said.test(text));
  if (decided) return decided[1];
  if (hasSchema && FORMAT.test(words)) return 'MODEL_SCHEMA_REFUSED';
  if (PASSING_WORDS.test(words)) return 'passing';
  if (hasSchema && SCHEMA.test(text)) return 'MODEL_SCHEMA_REFUSED';
  if (PLACE_OR_POLICY.test(text)) return 'MODEL_REQUEST_INVALID';
  // A key that may not use a model is no bad key.
  if ([401, 403, 404].includes(status) && MODEL_ACCESS.test(text)) return 'MODEL_NOT_FOUND';
  if (status === 401 || KEY.test(text)) return 'MODEL_KEY_REJECTED';
  // The page of a gateway that cannot find the server at the moment.
  if (status === 404 && isPage) return 'passing';
  if (status === 404 || status === 410) return 'MODEL_NOT_FOUND';
  if (status === 413) return 'PROMPT_TOO_LARGE';
  if (status === 451) return 'MODEL_REFUSED';
  return status === 0 ? 'passing' : 'MODEL_REQUEST_INVALID';
}

function isOverLimit(words: string): boolean {
  const [, limit, requested] = /\blimit:? (\d{1,15})\b.{0,40}\brequested:? (\d{1,15})\b/i.exec(words) ?? [];
  return Number(requested) > Number(limit);
}

/** Whether a limit ends soon, whatever is said of a plan: some providers speak of quotas of a minute so. */
function passesSoon(text: string, waitMs: number | undefined): boolean {
  if (/\blimit: 0\b/i.test(text)) return false;
  return (
    PER_MINUTE.test(text) ||
    /resource_exhausted/i.test(text) ||
    (waitMs !== undefined && waitMs <= RETRY_AFTER_MAX_MS)
  );
}
