/** Characters that a terminal acts on: controls but for line feeds and tabs, and those that reverse text. */
export const CONTROL_CHARACTERS = /[[\p{Cc}--[\n\t]][\u202a-\u202e\u2066-\u2069]]/gv;
