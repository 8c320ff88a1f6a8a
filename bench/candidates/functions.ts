// Three functions that do next to nothing: what is measured is everything around them.

export async function forward(input: string): Promise<string> {
  return input;
}

export async function shout(input: string): Promise<string> {
  return input.toUpperCase();
}

export async function passOn(input: string): Promise<string> {
  return input;
}
