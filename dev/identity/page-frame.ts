import { createHash } from 'node:crypto';
import type { Context } from 'koa';

/** The values are those of console/styles/tokens.css. */
const STYLE = `:root{color-scheme:light dark;--text:light-dark(#171b1f,#e8ebed);--soft:light-dark(#515b64,#a5afb8);
--line:light-dark(#e1e5e8,#2a3136);--strong:light-dark(#868f98,#6b757e);--accent:light-dark(#0b6e75,#5cc4bf);
--on-accent:light-dark(#ffffff,#06201f);--raised:light-dark(#ffffff,#1a1e21);--bad:light-dark(#b3261e,#ff8f86);
--bad-soft:light-dark(#fdeceb,#3a1715);--code:light-dark(#f0f2f3,#20262a)}
*{box-sizing:border-box}
body{margin:0;min-height:100dvh;display:grid;place-items:center;padding:1rem;color:var(--text);
background:light-dark(#f6f7f8,#0c0f10);font:.8125rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif}
main{width:min(26rem,100%);padding:2rem;background:var(--raised);border:1px solid var(--line);border-radius:10px}
svg{display:block}h1{font-size:1.25rem;line-height:1.3;margin:.75rem 0}p{margin:.75rem 0}
p.soft{color:var(--soft);font-size:.75rem}a{color:var(--accent)}
label{display:block;margin-top:.75rem;font-weight:500}
input:not([type=checkbox]){width:100%;height:34px;margin-top:.25rem;padding:0 .5rem;font:inherit;color:inherit;
background:transparent;border:1px solid var(--strong);border-radius:6px}
.actions{display:flex;flex-wrap:wrap;gap:.5rem;margin-top:1.25rem}
button{height:34px;padding:0 .75rem;font:inherit;font-weight:500;color:inherit;background:var(--raised);
border:1px solid var(--line);border-radius:6px;cursor:pointer}
button.primary{color:var(--on-accent);background:var(--accent);border-color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
[role=alert]{padding:.5rem .75rem;color:var(--bad);background:var(--bad-soft);border-radius:6px}
code{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.75rem;padding:.1em .3em;
background:var(--code);border-radius:4px}code,strong{overflow-wrap:anywhere}
ul{margin:.75rem 0;padding:0;list-style:none}.scope{display:flex;gap:.5rem;font-weight:400}
.scope input{flex:none;width:1rem;height:1rem;margin:.15rem 0;accent-color:var(--accent)}
@media (pointer:coarse){button,input:not([type=checkbox]){height:40px}}`;
const MARK =
  '<svg width="36" height="36" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#0b6e75"/><path d="M5 11h11.5c3 0 3.2 3 3.2 5s.3 5 3.3 5H27" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/><path d="M5 17h7m-7 6h9" stroke="#9fd8d6" stroke-width="3" stroke-linecap="round"/><path d="M20 5v6" stroke="#fff" stroke-width="3" stroke-linecap="round"/></svg>';

/** Answers with a page; `body` is HTML. `script`, if any, runs after it. */
export function sendPage(ctx: Context, title: string, body: string, script?: string): void {
  const policy = [
    "default-src 'none'",
    `style-src ${sourceOf(STYLE)}`,
    ...(script === undefined ? [] : [`script-src ${sourceOf(script)}`]),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  ctx.set({
    'Content-Security-Policy': policy.join('; '),
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  });
  ctx.type = 'html';
  ctx.body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Weir</title><style>${STYLE}</style>
</head>
<body><main>${MARK}<h1>${escapeHtml(title)}</h1>
${body}
</main>${script === undefined ? '' : `<script>${script}</script>`}</body>
</html>
`;
}

/** Escapes text for HTML. */
export function escapeHtml(text: string): string {
  const entities: { [character: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (character) => entities[character] as string);
}

/** Names inline content by its hash, for a Content-Security-Policy. */
function sourceOf(content: string): string {
  return `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
}
