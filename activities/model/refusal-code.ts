// Tells why a provider rejected a request. Providers agree on few statuses and codes, so their words decide too.

/** An answer of status 4xx. `text`: its error with all fields. `hasSchema`: a schema or tools were sent. */
type Rejection = { status: number; text: string; hasSchema: boolean };

type RefusalCode =
  | 'MODEL_KEY_REJECTED'
  | 'MODEL_QUOTA_EXCEEDED'
  | 'MODEL_NOT_FOUND'
  | 'PROMPT_TOO_LARGE'
  | 'MODEL_REFUSED'
  | 'MODEL_SCHEMA_REFUSED'
  | 'MODEL_REQUEST_INVALID';

const KEY = /api_key_invalid|invalid_api_key|(incorrect|invalid) api key/i;
const QUOTA =
  /insufficient_quota|billing_(hard_limit|not_active)|(insufficient|not enough|run out of|any) (balance|credits|funds)|credit balance is too low|requestsperday/i;
const UNKNOWN_MODEL =
  /model_not_found|invalid_model|invalid model|not a valid model|access to (the |this )?model|\bmodels?\b.{0,200}\b(not found|not exist)/i;
const TOO_LARGE =
  /context[ _](length|window|size)|exceed_context|(prompt|input|request) is too (long|large)|too many (input )?tokens|input token count|payload size exceeds|maximum context/i;
const FILTERED =
  /content_filter|content_policy|content management policy|invalid_prompt|moderation|flagged|usage polic|safety (system|settings|reasons)|prohibited_content/i;
const SCHEMA = /schema|response_format|output_format|function_parameters|grammar/i;
const PLACE = /country|region|territory|location/i;

/** Returns the error code of a rejection; MODEL_KEY_REJECTED also for a key of the caller or organization. */
export function refusalCode({ status, text, hasSchema }: Rejection): RefusalCode {
  // Google and xAI answer 400 to a wrong key.
  if (status === 401 || KEY.test(text)) return 'MODEL_KEY_REJECTED';
  if (isQuotaUsedUp(status, text)) return 'MODEL_QUOTA_EXCEEDED';
  if (status === 404 || UNKNOWN_MODEL.test(text)) return 'MODEL_NOT_FOUND';
  if (status === 413 || TOO_LARGE.test(text)) return 'PROMPT_TOO_LARGE';
  if (status === 451 || FILTERED.test(text)) return 'MODEL_REFUSED';
  if (hasSchema && SCHEMA.test(text)) return 'MODEL_SCHEMA_REFUSED';
  return status === 403 && !PLACE.test(text) ? 'MODEL_KEY_REJECTED' : 'MODEL_REQUEST_INVALID';
}

/** Whether no request is answered until somebody pays. Other answers of status 429 pass, whatever they say of a quota. */
export function isQuotaUsedUp(status: number, text: string): boolean {
  return status === 402 || QUOTA.test(text);
}
