import assert from 'node:assert/strict';
import { parseHttpsUrl, URL_MAX_LENGTH } from '../../../platform/net/parse-https-url.ts';

const longest = `https://images.example/${'a'.repeat(URL_MAX_LENGTH - 'https://images.example/'.length)}`;

describe('parseHttpsUrl', () => {
  const sound: [string, string][] = [
    ['https://images.example', 'https://images.example/'],
    ['HTTPS://Images.Example:443/Cat.png?a=b@c#d', 'https://images.example/Cat.png?a=b@c#d'],
    ['https://images.example:8443/%20', 'https://images.example:8443/%20'],
    ['https://bücher.example/ä', 'https://xn--bcher-kva.example/%C3%A4'],
    // The host is what the parser reads: its address is checked afterwards.
    ['https://2130706433/', 'https://127.0.0.1/'],
    ['https://0x7f.1/', 'https://127.0.0.1/'],
    ['https://017700000001/', 'https://127.0.0.1/'],
    ['https://127.0.0.1./', 'https://127.0.0.1/'],
    ['https://①②⑦.⓪.⓪.①/', 'https://127.0.0.1/'],
    ['https://[::ffff:127.0.0.1]/', 'https://[::ffff:7f00:1]/'],
    ['https://[0:0:0:0:0:0:0:1]/', 'https://[::1]/'],
    [longest, longest],
    [longest.replaceAll(/a(?=a*$)/g, '😀'), longest.replaceAll(/a(?=a*$)/g, '%F0%9F%98%80')],
  ];
  for (const [text, href] of sound)
    it(`reads ${text.slice(0, 60)}`, () => assert.equal(parseHttpsUrl(text).url?.href, href));

  const refused: [string, string][] = [
    ['http://images.example/a.png', 'scheme'],
    ['data:image/png;base64,AAAA', 'scheme'],
    [`data:image/png;base64,${'A'.repeat(URL_MAX_LENGTH)}`, 'scheme'],
    ['blob:https://images.example/0f', 'scheme'],
    ['ftp://images.example/a', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['//images.example/a.png', 'scheme'],
    ['images.example/a.png', 'scheme'],
    ['', 'scheme'],
    [' https://images.example/', 'scheme'],
    ['\u0000https://images.example/', 'scheme'],
    ['httpſ://images.example/', 'scheme'],
    [`${longest}a`, 'too_long'],
    [`${longest}😀`, 'too_long'],
    ['https:images.example', 'malformed'],
    ['https:/images.example', 'malformed'],
    ['https:///images.example', 'malformed'],
    ['https://', 'malformed'],
    ['https:// /', 'malformed'],
    ['https://a b/', 'malformed'],
    ['https://images.example/a b', 'malformed'],
    ['https://images.example/a\tb', 'malformed'],
    ['https://ima\nges.example/', 'malformed'],
    ['https://images.example/\r\nHost: x', 'malformed'],
    ['https://images.example/\u0000', 'malformed'],
    ['https://images.example/\u0085', 'malformed'],
    ['https://images.example/\u2028', 'malformed'],
    ['https://images.example\\@127.0.0.1/', 'malformed'],
    ['https:\\\\images.example/', 'malformed'],
    ['https://user@images.example/', 'malformed'],
    ['https://user:secret@images.example/', 'malformed'],
    ['https://@images.example/', 'malformed'],
    ['https://:@images.example/', 'malformed'],
    ['https://8.8.8.8@127.0.0.1/', 'malformed'],
    ['https://images.example:0/', 'malformed'],
    ['https://images.example:65536/', 'malformed'],
    ['https://images.example:x/', 'malformed'],
    ['https://256.1.1.1/', 'malformed'],
    ['https://[::1/', 'malformed'],
    ['https://[fe80::1%25eth0]/', 'malformed'],
    ['https://images.example%00/', 'malformed'],
    ['https://%zz/', 'malformed'],
  ];
  for (const [text, problem] of refused)
    it(`refuses ${JSON.stringify(text.slice(0, 60))} as ${problem}`, () =>
      assert.equal(parseHttpsUrl(text).problem, problem));
});
