/**
 * The Pod Security level that a namespace's labels request, and the violations of a pod. An invalid label means the
 * strictest level for enforce, and no level for warn and audit.
 */
import { field, type FieldError } from "@flotilla/apimachinery";
import { baselineChecks } from "./pod-security-baseline.ts";
import type { Check, ExaminedPod, Rule, Violation } from "./pod-security-check.ts";
import { restrictedChecks } from "./pod-security-restricted.ts";

const LEVELS = ["privileged", "baseline", "restricted"] as const;
type Level = (typeof LEVELS)[number];

export interface LevelVersion {
  readonly level: Level;
  /** `latest` or `v1.x`. */
  readonly version: string;
}

export interface Policy {
  /** Violating pods are rejected. */
  readonly enforce: LevelVersion;
  /** Violating pods and templates are recorded in the audit log. */
  readonly audit: LevelVersion;
  /** Writers of violating pods and templates are warned. */
  readonly warn: LevelVersion;
  /** Validation errors of the labels. */
  readonly errors: readonly FieldError[];
}

type Labels = Readonly<Record<string, string>>;

export const LABEL_PREFIX = "pod-security.kubernetes.io/";
const ENFORCE = `${LABEL_PREFIX}enforce`;
const AUDIT = `${LABEL_PREFIX}audit`;
const WARN = `${LABEL_PREFIX}warn`;
const LABELS = [ENFORCE, AUDIT, WARN].flatMap((label) => [label, `${label}-version`]);
export const NOTHING: LevelVersion = { level: "privileged", version: "latest" };

/** Returns undefined quickly for the many namespaces without such labels. */
export function policyOf(labels: Labels | undefined): Policy | undefined {
  if (!labels || !LABELS.some((label) => Object.hasOwn(labels, label))) return undefined;
  const errors: FieldError[] = [];
  const enforce = read(labels, ENFORCE, errors, "restricted");
  const audit = read(labels, AUDIT, errors, "privileged");
  const warn = read(labels, WARN, errors, "privileged");
  // The enforced level is also used for warnings about templates, unless a warn level is set.
  const follows = !Object.hasOwn(labels, WARN) && isLevel(labels[ENFORCE] ?? "") && enforce.level !== "privileged";
  return {
    enforce,
    audit,
    warn: follows
      ? { level: enforce.level, version: Object.hasOwn(labels, `${WARN}-version`) ? warn.version : enforce.version }
      : warn,
    errors,
  };
}

const isLevel = (text: string): text is Level => (LEVELS as readonly string[]).includes(text);

function read(labels: Labels, label: string, errors: FieldError[], otherwise: Level): LevelVersion {
  let { level, version } = NOTHING;
  const sent = Object.hasOwn(labels, label) ? labels[label] : undefined;
  if (sent !== undefined && isLevel(sent)) level = sent;
  else if (sent !== undefined) {
    level = otherwise;
    errors.push(field.invalid(`metadata.labels[${label}]`, sent, `must be one of ${LEVELS.join(", ")}`));
  }
  const versionLabel = `${label}-version`;
  const asked = Object.hasOwn(labels, versionLabel) ? labels[versionLabel] : undefined;
  if (asked !== undefined && isVersion(asked)) version = asked;
  else if (asked !== undefined)
    errors.push(field.invalid(`metadata.labels[${versionLabel}]`, asked, 'must be "latest" or "v1.x"'));
  return { level, version };
}

const MAX_MINOR = 2n ** 63n - 1n;
const isVersion = (text: string): boolean =>
  text === "latest" || (/^v1\.(0|[1-9]\d*)$/.test(text) && BigInt(text.slice("v1.".length)) <= MAX_MINOR);

export const textOfLevel = ({ level, version }: LevelVersion): string => `${level}:${version}`;
export const isSameLevel = (a: LevelVersion, b: LevelVersion): boolean =>
  a.level === b.level && a.version === b.version;
/** The level is higher, or the version differs, which may be stricter. */
export const isStricter = (now: LevelVersion, before: LevelVersion): boolean =>
  now.level !== "privileged" &&
  !isSameLevel(now, before) &&
  (now.version !== before.version || LEVELS.indexOf(now.level) > LEVELS.indexOf(before.level));

/** The last version that changed a rule; later versions are the same. */
const NEWEST = Math.max(
  ...[...baselineChecks, ...restrictedChecks].flatMap(({ rules }) => rules.map(([since]) => since)),
);
const known = new Map<string, readonly Rule[]>();

/** The rules of a level, computed once per requested version, of which there are few. */
function rulesOf({ level, version }: LevelVersion): readonly Rule[] {
  const minor = version === "latest" ? NEWEST : Math.min(NEWEST, Number(version.slice("v1.".length)));
  const key = `${level} ${minor}`;
  let rules = known.get(key);
  if (!rules) known.set(key, (rules = collectRules(level, minor)));
  return rules;
}

function collectRules(level: Level, minor: number): Rule[] {
  if (level === "privileged") return [];
  const ruleOf = ({ rules }: Check): Rule | undefined => rules.findLast(([since]) => since <= minor)?.[1];
  const own = level === "restricted" ? restrictedChecks.filter((check) => ruleOf(check)) : [];
  const overridden = new Set(own.map(({ overrides }) => overrides));
  return [...baselineChecks.filter(({ id }) => !overridden.has(id)), ...own].flatMap((check) => ruleOf(check) ?? []);
}

export function violations(level: LevelVersion, pod: ExaminedPod): Violation[] {
  return rulesOf(level).flatMap((rule) => rule(pod) ?? []);
}

export const detailsOf = (found: readonly Violation[]): string =>
  found.map(({ reason, detail }) => `${reason} (${detail})`).join(", ");
export const reasonsOf = (found: readonly Violation[]): string => found.map(({ reason }) => reason).join(", ");
