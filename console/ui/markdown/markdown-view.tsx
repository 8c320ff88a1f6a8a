import { lexer, type MarkedToken, type Token, type Tokens, walkTokens } from 'marked';
import { createElement, Fragment, type ReactNode, useMemo } from 'react';
import style from './markdown-view.module.css';

/** Deeper texts are shown as they are written. */
const DEPTH_MAX = 16;
const LINKED = /^(?:https?:\/\/|mailto:)/i;

/**
 * Shows a text as Markdown. Builds elements, never HTML: raw HTML stays text, and nothing is loaded from elsewhere. An
 * image is a link to it.
 */
export function MarkdownView({ text }: { text: string }) {
  const tokens = useMemo(() => readTokens(text), [text]);
  return (
    <div className={style.markdown} dir="auto">
      {tokens ? renderAll(tokens, 0) : text}
    </div>
  );
}

/** Parses a text. Returns undefined when its nesting is too deep for the parser. */
function readTokens(text: string): Token[] | undefined {
  try {
    const tokens = lexer(text);
    // The page has headings of its own above these, and no level between two headings is left out.
    let before = 0;
    void walkTokens(tokens, (token) => {
      if (token.type !== 'heading') return;
      before = Math.min(token.depth, before + 1);
      token.depth = before;
    });
    return tokens;
  } catch {
    return undefined;
  }
}

function renderAll(tokens: Token[] | undefined, depth: number): ReactNode {
  return tokens?.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens do not move
    <Fragment key={index}>{render(token as MarkedToken, depth + 1)}</Fragment>
  ));
}

function render(token: MarkedToken, depth: number): ReactNode {
  if (depth > DEPTH_MAX) return token.raw;
  const inner = 'tokens' in token ? renderAll(token.tokens, depth) : undefined;
  switch (token.type) {
    case 'heading':
      return createElement(`h${Math.min(6, token.depth + 2)}`, null, inner);
    case 'paragraph':
      return <p>{inner}</p>;
    case 'text':
      return inner ?? token.text;
    case 'escape':
      return token.text;
    case 'strong':
      return <strong>{inner}</strong>;
    case 'em':
      return <em>{inner}</em>;
    case 'del':
      return <del>{inner}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'code':
      return <pre>{token.text}</pre>;
    case 'blockquote':
      return <blockquote>{inner}</blockquote>;
    case 'list':
      return renderList(token, depth);
    case 'table':
      return renderTable(token, depth);
    case 'link':
      return <Outside href={token.href}>{inner}</Outside>;
    case 'image':
      return <Outside href={token.href}>Image: {token.text || token.href}</Outside>;
    case 'br':
      return <br />;
    case 'hr':
      return <hr />;
    case 'space':
      return null;
    case 'checkbox':
      return token.checked ? '☑ ' : '☐ ';
    default:
      return token.raw;
  }
}

function renderList({ ordered, start, items }: Tokens.List, depth: number): ReactNode {
  const rows = items.map(({ tokens }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items do not move
    <li key={index}>{renderAll(tokens, depth)}</li>
  ));
  return ordered ? <ol start={Number(start)}>{rows}</ol> : <ul>{rows}</ul>;
}

function renderTable({ header, rows }: Tokens.Table, depth: number): ReactNode {
  const cells = (row: Tokens.TableCell[], name: 'td' | 'th') =>
    row.map(({ tokens }, index) => createElement(name, { key: index }, renderAll(tokens, depth)));
  return (
    <table>
      <thead>
        <tr>{cells(header, 'th')}</tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows do not move
          <tr key={index}>{cells(row, 'td')}</tr>
        ))}
      </tbody>
    </table>
  );
}

/** A link to another site, in a new tab; text where the address is no web or mail address. */
function Outside({ href, children }: { href: string; children: ReactNode }) {
  if (!LINKED.test(href)) return children;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}
