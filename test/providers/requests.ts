// What the runs of providers ask for.
export const outputSchema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
export const tools = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
    },
  },
];
export const cat = { kind: 'url', url: 'https://img.example/cat.png', mime_type: 'image/png' };
