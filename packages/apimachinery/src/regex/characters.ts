/** Tests of single characters: ranges, named classes, Unicode properties. */
import { foldsOf } from "./case-folding.ts";

export type CharacterTest = (codePoint: number) => boolean;

export const inRange = (from: string, to: string): CharacterTest => {
  const [low, high] = [from.codePointAt(0) ?? 0, to.codePointAt(0) ?? 0];
  return (code) => code >= low && code <= high;
};
export const any = (...tests: CharacterTest[]): CharacterTest =>
  tests.length === 1 && tests[0] ? tests[0] : (code) => tests.some((test) => test(code));
export const not =
  (test: CharacterTest): CharacterTest =>
  (code) =>
    !test(code);
export const oneOf = (characters: string): CharacterTest => {
  const [only, ...more] = characters;
  if (only !== undefined && more.length === 0) return inRange(only, only);
  const codes = new Set(Array.from(characters, (character) => character.codePointAt(0)));
  return (code) => codes.has(code);
};

const digit = inRange("0", "9");
const word = any(inRange("a", "z"), inRange("A", "Z"), digit, oneOf("_"));
const space = oneOf("\t\n\f\r ");
/** The classes of `\d`, `\s` and `\w`; their capitals are the opposites. */
export const PERL: ReadonlyMap<string, CharacterTest> = new Map([
  ["d", digit],
  ["s", space],
  ["w", word],
]);
export const POSIX: ReadonlyMap<string, CharacterTest> = new Map([
  ["alnum", any(inRange("a", "z"), inRange("A", "Z"), digit)],
  ["alpha", any(inRange("a", "z"), inRange("A", "Z"))],
  ["ascii", inRange("\0", "\x7f")],
  ["blank", oneOf("\t ")],
  ["cntrl", any(inRange("\0", "\x1f"), oneOf("\x7f"))],
  ["digit", digit],
  ["graph", inRange("!", "~")],
  ["lower", inRange("a", "z")],
  ["print", inRange(" ", "~")],
  ["punct", any(inRange("!", "/"), inRange(":", "@"), inRange("[", "`"), inRange("{", "~"))],
  ["space", oneOf("\t\n\v\f\r ")],
  ["upper", inRange("A", "Z")],
  ["word", word],
  ["xdigit", any(digit, inRange("a", "f"), inRange("A", "F"))],
]);

/** Matches also what differs only in case. A class is folded before it is negated: `(?i)[^a]` does not match `A`. */
export const ignoringCase =
  (test: CharacterTest): CharacterTest =>
  (code) =>
    test(code) || foldsOf(code).some(test);

/** Scripts whose names have four letters. Other names of four letters are codes of scripts, which RE2 does not know. */
const SHORT_SCRIPTS = new Set(["Ahom", "Cham", "Lisu", "Modi", "Newa", "Thai", "Toto"]);

/**
 * The class of `\p{name}`, a category or a script; undefined if it is unknown. As in Go, names are case-insensitive.
 */
export function unicodeClass(name: string): CharacterTest | undefined {
  const words = name.split(/[ _-]/).filter((word) => word !== "");
  const title = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase()).join("_");
  if (!/^\w+$/.test(title)) return undefined;
  if (title === "Any") return () => true;
  if (title === "Ascii") return inRange("\0", "\x7f");
  if (title === "Assigned") return unicodeTest("\\P{gc=Cn}");
  const category = title === "Lc" ? "LC" : title;
  return (
    unicodeTest(`\\p{gc=${category}}`) ??
    unicodeTest(`\\p{gc=${title.toLowerCase()}}`) ??
    (title.length === 4 && !SHORT_SCRIPTS.has(title) ? undefined : unicodeTest(`\\p{Script=${title}}`))
  );
}

/** Tests one character at a time, so this cannot backtrack. */
function unicodeTest(source: string): CharacterTest | undefined {
  try {
    const expression = new RegExp(`^${source}$`, "u");
    return (code) => expression.test(String.fromCodePoint(code));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
