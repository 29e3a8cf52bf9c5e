/** Semantic versions (semver.org), strict or, on request, tolerating a `v`, leading zeros and missing parts. */
import { compareTexts } from "../values/equality.ts";
import type { Row } from "../types/functions.ts";
import { goQuote } from "../values/go-text.ts";
import { intOf } from "../values/numbers.ts";
import { CelError, CelOpaque, type CelValue, NO_SUCH_OVERLOAD } from "../values/values.ts";

class CelSemver extends CelOpaque {
  readonly typeName = "kubernetes.Semver";
  readonly numbers: readonly bigint[];
  readonly prerelease: readonly (bigint | string)[];
  constructor(numbers: readonly bigint[], prerelease: readonly (bigint | string)[]) {
    super();
    this.numbers = numbers;
    this.prerelease = prerelease;
  }

  equals(other: CelValue): boolean | CelError {
    return other instanceof CelSemver ? compareVersions(this, other) === 0 : NO_SUCH_OVERLOAD;
  }
}

const MAX_LENGTH = 4096;
const MAX_NUMBER = 2n ** 64n - 1n;
const ALPHANUMERIC = /^[0-9A-Za-z-]+$/;

function parse(text: string, normalize = false): CelSemver | CelError {
  if (text.length > MAX_LENGTH) return new CelError(`a version must have at most ${MAX_LENGTH} characters`);
  const normal = normalize ? normalized(text) : text;
  return normal instanceof CelError ? normal : parseStrict(normal);
}

/** Splits into at most this many parts; the last one keeps the rest. */
function splitInto(text: string, separator: string, count: number): string[] {
  const parts = text.split(separator);
  return parts.length <= count ? parts : [...parts.slice(0, count - 1), parts.slice(count - 1).join(separator)];
}

function normalized(text: string): string | CelError {
  const parts = splitInto(text.replace(/^v/, ""), ".", 3).map((part) => {
    if (part.length <= 1) return part;
    const trimmed = part.replace(/^0+/, "");
    return /^[0-9]/.test(trimmed) ? trimmed : `0${trimmed}`;
  });
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? ""))
    return new CelError("short version cannot contain PreRelease/Build meta data");
  while (parts.length < 3) parts.push("0");
  return parts.join(".");
}

function parseStrict(text: string): CelSemver | CelError {
  if (text === "") return new CelError("Version string empty");
  const parts = splitInto(text, ".", 3);
  if (parts.length !== 3) return new CelError("No Major.Minor.Patch elements found");
  const [major = "", minor = "", rest = ""] = parts;
  const [unbuilt = "", ...builds] = splitInto(rest, "+", 2);
  const [patch = "", ...prereleases] = splitInto(unbuilt, "-", 2);
  const numbers: bigint[] = [];
  for (const [name, digits] of [
    ["Major", major],
    ["Minor", minor],
    ["Patch", patch],
  ] as const) {
    if (!/^\d*$/.test(digits))
      return new CelError(`Invalid character(s) found in ${name.toLowerCase()} number ${goQuote(digits)}`);
    if (digits.length > 1 && digits.startsWith("0"))
      return new CelError(`${name} number must not contain leading zeroes ${goQuote(digits)}`);
    if (digits === "" || BigInt(digits) > MAX_NUMBER)
      return new CelError(
        `strconv.ParseUint: parsing ${goQuote(digits)}: ${digits === "" ? "invalid syntax" : "value out of range"}`,
      );
    numbers.push(BigInt(digits));
  }
  const prerelease = prereleases.flatMap((part) => part.split(".")).map(prereleasePart);
  const wrong =
    prerelease.find((part) => part instanceof CelError) ??
    builds
      .flatMap((part) => part.split("."))
      .map(buildProblem)
      .find((part) => part !== undefined);
  return wrong instanceof CelError ? wrong : new CelSemver(numbers, prerelease as (bigint | string)[]);
}

function prereleasePart(text: string): bigint | string | CelError {
  if (text === "") return new CelError("Prerelease is empty");
  if (/^\d+$/.test(text)) {
    if (text.length > 1 && text.startsWith("0"))
      return new CelError(`Numeric PreRelease version must not contain leading zeroes ${goQuote(text)}`);
    return BigInt(text) > MAX_NUMBER
      ? new CelError(`strconv.ParseUint: parsing ${goQuote(text)}: value out of range`)
      : BigInt(text);
  }
  return ALPHANUMERIC.test(text) ? text : new CelError(`Invalid character(s) found in prerelease ${goQuote(text)}`);
}

function buildProblem(text: string): CelError | undefined {
  if (text === "") return new CelError("Build meta data is empty");
  return ALPHANUMERIC.test(text)
    ? undefined
    : new CelError(`Invalid character(s) found in build meta data ${goQuote(text)}`);
}

const order = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

function compareVersions(a: CelSemver, b: CelSemver): number {
  for (let index = 0; index < 3; index++) {
    const found = order(a.numbers[index] ?? 0n, b.numbers[index] ?? 0n);
    if (found !== 0) return found;
  }
  return comparePrereleases(a.prerelease, b.prerelease);
}

/** A version with a prerelease comes before the one without. */
function comparePrereleases(a: CelSemver["prerelease"], b: CelSemver["prerelease"]): number {
  if (a.length === 0 || b.length === 0) return Math.sign(b.length - a.length);
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const found = comparePart(a[index] ?? 0n, b[index] ?? 0n);
    if (found !== 0) return found;
  }
  return Math.sign(a.length - b.length);
}

function comparePart(a: bigint | string, b: bigint | string): number {
  if (typeof a === "bigint") return typeof b === "bigint" ? order(a, b) : -1;
  return typeof b === "bigint" ? 1 : Math.sign(compareTexts(a, b));
}

const part =
  (index: number) =>
  ({ numbers }: CelSemver): CelValue =>
    intOf(BigInt.asIntN(64, numbers[index] ?? 0n));

export const versions: readonly Row[] = [
  ["semver", "string_to_semver", "(string) -> Semver", parse],
  ["semver", "string_bool_to_semver", "(string, bool) -> Semver", parse],
  ["isSemver", "is_semver_string", "(string) -> bool", (text: string) => parse(text) instanceof CelSemver],
  [
    "isSemver",
    "is_semver_string_bool",
    "(string, bool) -> bool",
    (text: string, normalize: boolean) => parse(text, normalize) instanceof CelSemver,
  ],
  [
    "isGreaterThan",
    "semver_is_greater_than",
    "Semver.(Semver) -> bool",
    (a: CelSemver, b: CelSemver) => compareVersions(a, b) > 0,
  ],
  [
    "isLessThan",
    "semver_is_less_than",
    "Semver.(Semver) -> bool",
    (a: CelSemver, b: CelSemver) => compareVersions(a, b) < 0,
  ],
  ["compareTo", "semver_compare_to", "Semver.(Semver) -> int", compareVersions],
  ["major", "semver_major", "Semver.() -> int", part(0)],
  ["minor", "semver_minor", "Semver.() -> int", part(1)],
  ["patch", "semver_patch", "Semver.() -> int", part(2)],
];
