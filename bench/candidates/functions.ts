// Three functions that do almost nothing, so that the measurement shows everything around them.

export async function forward(input: string): Promise<string> {
  return input;
}

export async function shout(input: string): Promise<string> {
  return input.toUpperCase();
}

export async function passOn(input: string): Promise<string> {
  return input;
}
