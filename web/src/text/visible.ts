/**
 * Text for somebody who decides: what nobody would see is shown as its code, such as ⟨U+202E⟩.
 *
 * The same rule over the same table as `tacit.base.visible`; `web/test/visible.json` holds what both are held to.
 */

/** Shown as codes, unless one of the rules below keeps them. */
export const HIDDEN =
  "0000-0009 000B-001F 007F-00A0 00AD 0334-0338 034F 061C 115F-1160 1680 17B4-17B5 180B-180F 2000-200F " +
  "2028-202F 205F-206F 20D2-20D3 20D8-20DA 20E0 20E5-20E6 20EA-20EB 2800 3000 3164 D800-F8FF FDD0-FDEF FE00-FE0F FEFF FFA0 FFF0-FFFC FFFE-FFFF 13430-13440 " +
  "16FE4 1BCA0-1BCA3 1D159 1D173-1D17A E0000-10FFFF";
/** Taken for what is on a keyboard, wherever they stand: also shown as codes. */
export const TWINS =
  "01C3 037E 2010-2011 2024 2044 2215 2236 29F8 A789-A78A 1D400-1D7FF";
/** Taken for Latin letters: shown as codes in a word that has Latin letters too. */
export const ALIKE =
  "0391-0392 0395-0397 0399-039A 039C-039D 039F 03A1 03A4-03A5 03A7 03B1 03B5 03B9-03BA 03BD 03BF 03C1 " +
  "03C4-03C5 03F2 03F9 0405-0406 0408 0410 0412 0415 041A 041C-041E 0420-0422 0425 0430 0433 0435 043A " +
  "043C-043E 0440-0443 0445-0446 0455-0456 0458 0474-0475 04AE-04AF 04BA-04BB 04BD 04C0 04CF 0500-0501 " +
  "050C 051B 051D 0570 0578 057C-057D 0581 0585 13A0-13FF 1D00-1D2B 2160-217F A4D0-A4F7 A731";
/** What words are made of, where letters of several scripts are told apart. */
export const LETTERS =
  "0030-0039 0041-005A 0061-007A 00C0-02AF 0370-037D 037F-0482 048A-052F 0531-0588 13A0-13FF 1D00-1D7F 2160-217F " +
  "A4D0-A4F7";
/** Wide forms of what is on a keyboard: ordinary beside wide letters, and shown as codes elsewhere. */
export const FULL_WIDTH =
  "FF01-FF5E";
/** Letters of scripts that need joiners and non-joiners between them. */
export const JOINING =
  "0620-06FF 0700-08FF 0900-0DFF 0F00-109F 1780-17B3 17B6-17FF 1810-18AF 1A20-1AAF 1B00-1BFF A840-A87F " +
  "A980-A9DF FB50-FDCF FE70-FEFC";
/** Emoji, and signs that a selector makes into one. */
export const PICTURES =
  "00A9 00AE 203C 2049 2122 2139 2190-21FF 2300-23FF 24C2 25AA-25FE 2600-27BF 2934-2935 2B00-2BFF 3030 " +
  "303D 3297 3299 1F000-1FAFF";
/** Letters beside which wide forms and the wide space are the ordinary ones. */
export const WIDE =
  "2E80-2FFF 3001-3163 3165-9FFF AC00-D7A3 F900-FAFF FF5F-FF9F FFA1-FFEE 20000-3FFFF";
/** Marks that stand on a letter, of which many hide what is around it. */
export const MARKS =
  "0300-034E 0350-036F 0483-0489 0591-05BD 064B-065F 0670 06D6-06DC 0E31 0E34-0E3A 0E47-0E4E 1AB0-1AFF " +
  "1DC0-1DFF 20D0-20FF FE20-FE2F";
const MARKS_ON_A_LETTER = 3;
const SPACES_IN_A_ROW = 24;
const TABS_IN_A_ROW = 8;
const SAME_IN_A_ROW = 200;
const BLANK_LINES = 1;
const FLAGS = new Set(["gbeng", "gbsct", "gbwls"]);

const inside = (table: string): string =>
  table
    .split(" ")
    .map((row) => row.split("-"))
    .map(([first, last]) => `\\u{${first}}-\\u{${last ?? first}}`)
    .join("");
const oneOf = (table: string): RegExp => new RegExp(`^[${inside(table)}]$`, "u");

const joins = oneOf(JOINING);
const isPicture = oneOf(PICTURES);
const isWide = oneOf(WIDE);
const alike = new RegExp(`[${inside(ALIKE)}]`, "gu");
const letters = inside(LETTERS);
const run = new RegExp(`(\\S)\\1{${SAME_IN_A_ROW},}`, "gu");
const inALine =
  "(?<flag>\\u{1F3F4}[\\u{E0061}-\\u{E007A}]{1,8}\\u{E007F})" +
  `|(?<row> {${SPACES_IN_A_ROW + 1},}|\\t{${TABS_IN_A_ROW + 1},})` +
  `|(?<wide>[${inside(FULL_WIDTH)}]+)` +
  `|(?<![${letters}])(?<word>[${letters}]+)` +
  `|(?<=[${inside(MARKS)}]{${MARKS_ON_A_LETTER}})(?<marks>[${inside(MARKS)}]+)` +
  `|(?<hidden>[${inside(HIDDEN)}${inside(TWINS)}])`;
const unseenInALine = new RegExp(inALine, "gu");
const unseen = new RegExp(`(?<lines>\\n(?:[ \\t]*\\n){${BLANK_LINES + 1},})|${inALine}`, "gu");

/** How a character is named, and how many of it there are. */
function code(char: string, count = 1): string {
  return `⟨U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}${count > 1 ? `×${count}` : ""}⟩`;
}

/** Is this a character that the text around it needs? */
function isKept(char: string, left: string, right: string): boolean {
  if (char === "\t") return true;
  if (char === "\u200d" && isPicture.test(right)) return left === "\ufe0f" || isPicture.test(left);
  if (/^[\u200c\u200d\u180b-\u180f]$/.test(char)) return joins.test(left) && joins.test(right);
  if (/^[\ufe0e\ufe0f]$/.test(char)) return isPicture.test(left) || (/^[0-9#*]$/.test(left) && right === "\u20e3");
  return char === "\u3000" && isWide.test(left) && isWide.test(right);
}

/** The character that ends just before a place. */
function before(text: string, at: number): string {
  const low = text.charCodeAt(at - 1);
  const start = low >= 0xdc00 && low <= 0xdfff ? at - 2 : at - 1;
  return at === 0 ? "" : [...text.slice(Math.max(0, start), at)].at(-1)!;
}

/** The character that begins at a place. */
function behind(text: string, at: number): string {
  const point = text.codePointAt(at);
  return point === undefined ? "" : String.fromCodePoint(point);
}

/**
 * The text with a code in the place of everything that would not be seen. With `lines` it may have several: line breaks
 * and tabs stay, and a character that comes so often that it would push the rest out of sight is counted. Else line breaks
 * and tabs are shown as codes too.
 */
export function visible(text: string, lines = false): string {
  const short = lines ? text.replace(run, (all: string, same: string) => same + code(same, [...all].length)) : text;
  const drawn = short.replace(lines ? unseen : unseenInALine, (...found) => {
    const groups = found.at(-1) as Record<string, string | undefined>;
    const [part, at] = [found[0] as string, found.at(-3) as number];
    const codes = (): string => [...part].map((char) => code(char)).join("");
    if (groups.flag !== undefined) {
      const [flag, ...tags] = [...part];
      const spelt = tags.slice(0, -1).map((tag) => String.fromCodePoint(tag.codePointAt(0)! - 0xe0000)).join("");
      return FLAGS.has(spelt) ? part : flag + tags.map((tag) => code(tag)).join("");
    }
    if (groups.lines !== undefined) return `\n${code("\n", part.split("\n").length - 1)}\n`;
    if (groups.row !== undefined) return code(part[0]!, part.length);
    if (groups.word !== undefined) return /[A-Za-z]/.test(part) ? part.replace(alike, (letter) => code(letter)) : part;
    if (groups.marks !== undefined) return codes();
    const [left, right] = [before(short, at), behind(short, at + part.length)];
    if (groups.wide !== undefined) return isWide.test(left) || isWide.test(right) ? part : codes();
    return isKept(part, left, right) ? part : code(part);
  });
  return lines ? drawn : drawn.replaceAll("\n", code("\n")).replaceAll("\t", code("\t"));
}
