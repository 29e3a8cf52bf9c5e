/**
 * Words that our text does not use, in code, comments, test titles, identifiers, Markdown, YAML, scripts and alerts:
 * they hide who acts, or come from a vocabulary that only its authors know. Name the actor and use its usual verb: log,
 * report, emit, reject.
 */
import type { SourceFile } from "./sources.ts";

/** Whole words; identifiers are split into theirs, so `tellFailure`, `TOLD_AT` and `isUnderWay` count as well. */
const WORDS: ReadonlySet<string> = new Set([
  "whoever",
  "whomever",
  "somebody",
  "nobody",
  "tell",
  "tells",
  "told",
  "telling",
  "news",
  "farewell",
  "patience",
  "deed",
  "deeds",
  // Ends, continues, is deleted, is sent.
  "goes",
  "anew",
  "strange",
  "stranger",
  "strangers",
  // The field says generation, and snapshot.
  "era",
  "sight",
  // Unhealthy, environment, sample, stress, probe.
  "unwell",
  "surroundings",
  "specimen",
  "specimens",
  "siege",
  "bystander",
  // Access, apply or follow, timeout.
  "passage",
  "obey",
  "obeys",
  "impatience",
]);
const PHRASES: readonly RegExp[] = [
  /\bmade-up\b/gi,
  /\bis there or not\b/gi,
  /\bheld against\b/gi,
  /\bto and fro\b/gi,
  /\bof either\b/gi,
  /\bone of both\b/gi,
  // In progress, in transit, the reverse, the previous.
  /\bunder ?way\b/gi,
  /\bon (?:its|the|their) way\b/gi,
  /\bway round\b/gi,
  /\bthe way back\b/gi,
  /\b(?:that|one|template|image|version|value|revision) of before\b/gi,
  /\b(?:cannot|could not) be asked\b/gi,
  /\bwhat (?:is|was) so\b/gi,
  /\btak(?:e|es|ing|en) back\b/gi,
  // "is not a X". A comparison, a limit that ended and "there is no X" pass.
  /(?<!\b[Tt]here )\b(?:is|are|was|were) no (?!longer\b|more\b|smaller\b|larger\b|less\b|fewer\b|better\b|worse\b|later\b|earlier\b)[a-z]+/gi,
  // Codes of a specification that is not published; readers cannot look them up.
  /\b(?:AD|AG|AZ|CR|DI|DL|GC|LW|OP|PA|RB|SA|TB|WR|WT)-\d+\b/g,
];

/** All code, documents and manifests, the scripts, and the dashboard; other JSON is recorded or generated. */
const CHECKED = /\.(?:tsx?|css|md|tpl|ya?ml)$|^deploy\/.*\.txt$|^monitoring\/.*\.json$|^\.ci\/run$|^bin\//;
/** Tables that are generated from upstream's descriptions; and this check, which has to name the words. */
const EXEMPT = /\/facts\/.*\.ts$|^tools\/check\/words(?:\.test)?\.ts$/;

/** Texts that upstream defines or answered, and former names. */
const EXCEPTIONS: readonly { path: string; text: string; reason: string }[] = [
  {
    path: "test/e2e/karmadactl-steps.ts",
    text: "--operation-scope nobody",
    reason: "recorded with the answer of a real karmadactl, which repeats the value",
  },
  {
    path: "packages/openkruise/src/workloadspread/workloadspread-rules.ts",
    text: "exceeds 100% is no permitted",
    reason: "the answer of OpenKruise's webhook",
  },
  { path: "CHANGELOG.md", text: "`unwell`", reason: "the former name of a field" },
  { path: "CHANGELOG.md", text: "`PodsTakenBack`", reason: "the former name of a condition" },
  { path: "CHANGELOG.md", text: "`isTakenBack`", reason: "the former name of a field" },
  { path: "CHANGELOG.md", text: "`flotilla_member_lane_under_way`", reason: "the former name of a metric" },
];

export function checkWords(sources: readonly SourceFile[]): string[] {
  return sources.filter(({ path }) => CHECKED.test(path) && !EXEMPT.test(path)).flatMap(checkFile);
}

function checkFile({ path, text }: SourceFile): string[] {
  const allowed = EXCEPTIONS.filter((exception) => exception.path === path);
  return text.split("\n").flatMap((line, index) => {
    const rest = allowed.reduce((left, exception) => left.replaceAll(exception.text, ""), line);
    return forbiddenIn(rest).map((found) => `${path}:${index + 1}: "${found}" is not a word that we use`);
  });
}

function forbiddenIn(line: string): string[] {
  const identifiers = [...line.matchAll(/\w+/g)].map(([identifier]) => ({ identifier, words: wordsIn(identifier) }));
  const words = identifiers.flatMap(({ words: each }) => each.filter((word) => WORDS.has(word.toLowerCase())));
  const compound = identifiers.filter(({ words: each }) => each.length > 1 && phrasesIn(each.join(" ")).length > 0);
  return [...words, ...phrasesIn(line), ...compound.map(({ identifier }) => identifier)];
}

/** The words of an identifier: `is`, `Under`, `Way`. */
const wordsIn = (identifier: string): string[] =>
  identifier.split(/[_\d]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/).filter(Boolean);

const phrasesIn = (text: string): string[] =>
  PHRASES.flatMap((phrase) => [...text.matchAll(phrase)].map(([found]) => found));
