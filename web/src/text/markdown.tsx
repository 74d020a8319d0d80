/**
 * Markdown as elements. The library only cuts the text into tokens; every element is made here, from a closed list,
 * and text stays text. No HTML of a message is ever parsed, and only harmless addresses become links.
 */

import { Lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren, VNode } from "preact";
import { Code } from "../ui/code";
import { pieces } from "./mentions";

const SAFE = /^(https?:|mailto:)/i;
/** A link that signs somebody in is to be pasted by whom it is for, not followed by whoever reads it. */
const SIGNS_IN = /#(?:sign-in|token)=/i;
const LONGEST = 40_000;
const DEEPEST = 24;
/** A paragraph with more than this much in it is no prose: the library would take its time over every sign of it. */
const LONG_PARAGRAPH = 8_000;
const MANY_SIGNS = 600;
const SIGNS = /[*_~!<>[\]&\\`]/g;
const MANY_LINES = 3_000;
const ENDLESS = /[ \t]{200}/;
const STEEP = /^(?:[ \t]*(?:[-*+>]|\d{1,9}[.)])){50}/m;

/** An address that may be followed; anything else stays text. */
export function safeAddress(href: string): string | null {
  const bare = [...href].filter((char) => char.charCodeAt(0) > 32 && char.charCodeAt(0) !== 127).join("");
  return SAFE.test(bare) && !SIGNS_IN.test(bare) ? bare : null;
}

interface Reading {
  names: ReadonlySet<string>;
  me: string;
}

function words(text: string, reading: Reading): ComponentChildren {
  const found = pieces(text, reading.names);
  if (found.length === 1 && found[0]!.name === undefined) return text;
  return found.map((one) =>
    one.name === undefined ? (
      one.text
    ) : (
      <span class={`mention${isMine(one.name, reading.me) ? " mine" : ""}`}>{one.text}</span>
    ),
  );
}

function isMine(name: string, me: string): boolean {
  return name === me || `usr:${name}` === me || name === "all" || name === "everyone";
}

const ENTITIES: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };
const plain = (text: string): string => text.replace(/&(amp|lt|gt|quot|#39);/g, (one) => ENTITIES[one]!);

function inline(tokens: Token[] | undefined, reading: Reading, depth: number): ComponentChildren {
  if (tokens === undefined) return null;
  if (depth > DEEPEST) return tokens.map((one) => one.raw).join("");
  return tokens.map((one) => inlineOne(one, reading, depth + 1));
}

function inlineOne(token: Token, reading: Reading, depth: number): ComponentChildren {
  switch (token.type) {
    case "strong":
      return <strong>{inline(token.tokens, reading, depth)}</strong>;
    case "em":
      return <em>{inline(token.tokens, reading, depth)}</em>;
    case "del":
      return <s>{inline(token.tokens, reading, depth)}</s>;
    case "codespan":
      return <code>{token.text}</code>;
    case "br":
      return <br />;
    case "link":
      return link(token as Tokens.Link, reading, depth);
    case "image":
      // A picture from elsewhere would tell its host who reads: it becomes a link.
      return link({ ...token, tokens: [{ type: "text", raw: token.raw, text: token.text || token.href }] } as Tokens.Link, reading, depth);
    case "text":
    case "escape":
      return "tokens" in token && token.tokens ? inline(token.tokens, reading, depth) : words(plain(token.text), reading);
    default:
      return token.raw;
  }
}

function link(token: Tokens.Link, reading: Reading, depth: number): ComponentChildren {
  const href = safeAddress(token.href);
  const body = inline(token.tokens, reading, depth);
  if (href === null) return <span>{token.raw}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {body}
    </a>
  );
}

function blocks(tokens: Token[], reading: Reading, depth: number): ComponentChildren {
  if (depth > DEEPEST) return <p>{tokens.map((one) => one.raw).join("")}</p>;
  return tokens.map((one) => block(one, reading, depth + 1));
}

function block(token: Token, reading: Reading, depth: number): ComponentChildren {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "paragraph":
      return <p dir="auto">{inline(token.tokens, reading, depth)}</p>;
    case "text":
      return <>{"tokens" in token && token.tokens ? inline(token.tokens, reading, depth) : words(plain(token.text), reading)}</>;
    case "heading":
      // Headings of a message are no headings of the page.
      return <p dir="auto" class={`heading h${Math.min(token.depth, 4)}`}>{inline(token.tokens, reading, depth)}</p>;
    case "code":
      return <Code text={token.text} language={token.lang ?? ""} />;
    case "blockquote":
      return <blockquote>{blocks(token.tokens ?? [], reading, depth)}</blockquote>;
    case "hr":
      return <hr />;
    case "list":
      return list(token as Tokens.List, reading, depth);
    case "table":
      return table(token as Tokens.Table, reading, depth);
    default:
      return <p>{token.raw}</p>;
  }
}

function list(token: Tokens.List, reading: Reading, depth: number): VNode {
  const items = token.items.map((item) => (
    <li class={item.task ? "task" : undefined}>
      {item.task && (
        <span class="tick" aria-label={item.checked ? "done" : "open"}>
          {item.checked ? "☑" : "☐"}
        </span>
      )}
      {blocks(item.tokens.filter((one) => (one.type as string) !== "checkbox"), reading, depth)}
    </li>
  ));
  return token.ordered ? <ol dir="auto" start={Number(token.start) || 1}>{items}</ol> : <ul dir="auto">{items}</ul>;
}

function table(token: Tokens.Table, reading: Reading, depth: number): VNode {
  const cell = (one: Tokens.TableCell, head: boolean) => {
    const align = one.align ? `to-${one.align}` : undefined;
    const body = inline(one.tokens, reading, depth);
    return head ? <th dir="auto" class={align}>{body}</th> : <td dir="auto" class={align}>{body}</td>;
  };
  return (
    <div class="table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>{token.header.map((one) => cell(one, true))}</tr>
        </thead>
        <tbody>
          {token.rows.map((row) => (
            <tr>{row.map((one) => cell(one, false))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const ADDRESS = /\bhttps?:\/\/[^\s<>"'`]+[^\s<>"'`.,;:!?)\]]/g;

/** Plain text with its addresses and names made visible. */
function bare(text: string, reading: Reading): ComponentChildren {
  const out: ComponentChildren[] = [];
  let at = 0;
  for (const match of text.matchAll(ADDRESS)) {
    out.push(words(text.slice(at, match.index), reading));
    out.push(
      <a href={match[0]} target="_blank" rel="noopener noreferrer nofollow">
        {match[0]}
      </a>,
    );
    at = match.index + match[0].length;
  }
  out.push(words(text.slice(at), reading));
  return out;
}

export function Prose(props: { text: string; format?: string; names: ReadonlySet<string>; me: string }): VNode {
  const reading = { names: props.names, me: props.me };
  if (props.format !== "markdown" || props.text.length > LONGEST) {
    return <div class="prose plain" dir="auto">{bare(props.text, reading)}</div>;
  }
  return <div class="prose">{blocks(tokensOf(props.text), reading, 0)}</div>;
}

/**
 * The tokens of a text, in time that grows no faster than the text: blocks first, then what stands within each. What
 * is made to cost (endless rows of signs, steep nesting) is shown as it was written.
 */
function tokensOf(text: string): Token[] {
  if (ENDLESS.test(text) || STEEP.test(text) || count(text, /\n/g) > MANY_LINES) return asWritten(text);
  const lexer = new Lexer({ gfm: true, breaks: true });
  try {
    lexer.blockTokens(text.replace(/\r\n|\r/g, "\n"), lexer.tokens);
    for (const { src, tokens } of lexer.inlineQueue) {
      if (isCostly(src)) tokens.push(verbatim(src));
      else lexer.inlineTokens(src, tokens);
    }
    return lexer.tokens;
  } catch {
    // The library gives up on absurd nesting.
    return asWritten(text);
  }
}

function isCostly(text: string): boolean {
  return text.length > LONG_PARAGRAPH || (text.length > MANY_SIGNS && count(text, SIGNS) > MANY_SIGNS);
}

const count = (text: string, signs: RegExp): number => text.match(signs)?.length ?? 0;

const verbatim = (text: string): Token => ({ type: "text", raw: text, text });

const asWritten = (text: string): Token[] => [{ type: "paragraph", raw: text, text, tokens: [verbatim(text)] }];
