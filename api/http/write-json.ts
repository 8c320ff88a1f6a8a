/** A value that is there as JSON text and is passed on as it is. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Writes an object as JSON; its own members may be JsonText. */
export function writeJson(object: object): string {
  const members = Object.entries(object).map(([name, value]: [string, unknown]) => {
    const text = value instanceof JsonText ? value.text : JSON.stringify(value);
    return text === undefined ? undefined : `${JSON.stringify(name)}:${text}`;
  });
  return `{${members.filter((member) => member !== undefined).join(',')}}`;
}
