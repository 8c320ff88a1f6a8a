// The activities of the hand-written candidates.
import OpenAI from 'openai';

const models = new OpenAI({ apiKey: 'bench', baseURL: process.env.DEMO_BASE_URL, maxRetries: 0 });

/** The first of three functions that do almost nothing, so that the measurement shows everything around them. */
export async function forward(input: string): Promise<string> {
  return input;
}

export async function shout(input: string): Promise<string> {
  return input.toUpperCase();
}

export async function passOn(input: string): Promise<string> {
  return input;
}

/** Creates the activity that asks the demo model, which answers after `ms`. */
export function createModelCaller(ms: number): (input: string) => Promise<string> {
  return async (input) => {
    const { choices } = await models.chat.completions.create({
      model: `slow-${ms}`,
      messages: [{ role: 'user', content: `Answer to ${input}` }],
    });
    return choices[0]?.message.content ?? '';
  };
}
