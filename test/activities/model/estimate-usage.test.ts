import assert from 'node:assert/strict';
import { estimateUsage } from '../../../activities/model/estimate-usage.ts';

const BYTES = Buffer.from(Array.from({ length: 3_000 }, (_, index) => (index * 7_919 + (index >> 3)) % 256));

describe('estimateUsage', () => {
  const prompt = (content: unknown) => ({ messages: [{ role: 'user', content }] });
  const tokensOf = (asked: object) => estimateUsage(asked, 1).promptTokens;
  /** Tokens of the text alone. */
  const perCharacter = (text: string) => (tokensOf(prompt(text)) - tokensOf(prompt(''))) / text.length;

  it('counts all that is asked', () => {
    const bare = tokensOf(prompt(''));
    assert(tokensOf({ ...prompt(''), tools: [{ name: 'name '.repeat(80) }] }) >= bare + 100);
    assert(tokensOf({}) >= 1);
  });

  // How many tokens a character is by o200k and cl100k, the larger of the two.
  for (const [kind, text, atLeast, atMost] of [
    ['English', 'The reservation is made before each request, and settled after it. ', 0.2, 0.4],
    ['Chinese', '系统会预留可能的费用，并在回答之后结算实际费用。', 1, 2],
    ['Japanese', 'かかる可能性のある費用が予約されます。', 1, 2],
    ['Korean', '발생할 수 있는 비용이 예약되고 ', 0.9, 2],
    ['Russian', 'Перед каждым запросом резервируется возможная стоимость. ', 0.45, 1],
    ['Hindi', 'अनुरोध से पहले संभावित लागत आरक्षित की जाती है। ', 1, 2],
    ['Thai', 'ก่อนการร้องขอแต่ละครั้งไปยังโมเดล', 0.9, 2],
    ['emoji', '😀🎉🚀👩‍👩‍👧‍👦🏳️‍🌈🇩🇪✨🔥', 1.2, 2],
    ['base64', BYTES.toString('base64'), 0.55, 0.9],
    ['hexadecimal', BYTES.toString('hex'), 0.5, 0.9],
    ['digits', BYTES.join(''), 0.33, 0.8],
    ['letters without words', 'qwzxkvjhpfbgmd'.repeat(30), 0.45, 0.6],
    ['signs', '{[()]}<>!@#$%^&*-_=+;:,.?', 0.6, 0.9],
  ] as const)
    it(`does not underestimate ${kind}`, () => {
      const estimated = perCharacter(text.repeat(20));
      assert(estimated >= atLeast && estimated <= atMost, String(estimated));
    });

  it('counts an image the same whatever its address', () => {
    const withImage = (url: string) => tokensOf(prompt([{ type: 'image_url', image_url: { url } }]));
    assert.equal(
      withImage('https://example.com/a.png'),
      withImage(`https://example.com/${'a'.repeat(2_000)}`),
    );
    assert(withImage('https://example.com/a.png') > 1_000);
  });

  it('expects as long an answer as the model is allowed', () => {
    assert.equal(estimateUsage({}, 7).completionTokens, 7);
  });
});
