/**
 * String formats of schemas. An unlisted format is not checked, as in Kubernetes, which warns about it when the schema
 * is written. The rules are Kubernetes' own, oddities included: `ipv4` accepts leading zeros, `duration` matches
 * anywhere in the text, and a single-label host name has at most one dash.
 */
import { parseGoDuration } from "./go-duration.ts";
import { isIPv6 } from "node:net";

/** Longer strings are not dates, addresses or durations; the limit keeps every regular expression below cheap. */
const MAX_CHECKED = 64 * 1024;

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d):(\d\d)(.\d+)?(z|[+-]\d\d:\d\d)$/s;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const UUID3 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const UUID4 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const UUID5 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const HOSTNAME =
  /^([a-zA-Z0-9\p{S}\p{L}](-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|([a-zA-Z0-9\p{S}\p{L}]([-a-zA-Z0-9\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u;
const MAC = /^[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}(?:\1[0-9a-f]{2}\1[0-9a-f]{2}|(?:\1[0-9a-f]{2}){14})?$/i;
const DOTTED_MAC = /^[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}(?:\.[0-9a-f]{4}|(?:\.[0-9a-f]{4}){7})?$/i;
const WORD_DURATION = /(\d+)\s*([A-Za-zµ]+)/g;
const DURATION_UNIT = /^(?:ns|nano.*|us|µs|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week.*)$/i;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const ATOM = "[a-zA-Z0-9!#$%&'*+/=?^_`{|}~\\u0080-\\u{10ffff}-]+";
const ADDRESS = `(?:${ATOM}(?:\\.${ATOM})*|"(?:[^"\\\\\\r\\n]|\\\\[^\\r\\n])+")@(?:${ATOM}(?:\\.${ATOM})*|\\[[^\\[\\]\\\\\\s]+\\])`;
const EMAIL = new RegExp(
  `^\\s*(?:${ADDRESS}|(?:(?:[^<>@,;:"\\\\()\\[\\]]*|"(?:[^"\\\\]|\\\\.)*"\\s*)<${ADDRESS}>))\\s*$`,
  "u",
);
const CREDIT_CARD =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;
const CHANNEL = "\\s*(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*";
const RGB = new RegExp(`^rgb\\(${CHANNEL},${CHANNEL},${CHANNEL}\\)$`);
const SHORT_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

function isDate(text: string): boolean {
  const match = DATE.exec(text);
  if (!match) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

const daysIn = (year: number, month: number): number =>
  month === 2
    ? year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
      ? 29
      : 28
    : [4, 6, 9, 11].includes(month)
      ? 30
      : 31;

function isDateTime(text: string): boolean {
  const [date = "", time] = text.toLowerCase().split("t");
  const match = time === undefined ? null : TIME.exec(time);
  return match !== null && isDate(date) && Number(match[1]) <= 23 && Number(match[2]) <= 59 && Number(match[3]) <= 59;
}

function isDuration(text: string): boolean {
  if (parseGoDuration(text) !== undefined) return true;
  for (const [, , unit = ""] of text.matchAll(WORD_DURATION)) if (DURATION_UNIT.test(unit)) return true;
  return false;
}

const isDottedQuad = (text: string): boolean => {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^\d+$/.test(part) && Number(part) <= 255);
};
const isPlainIPv6 = (text: string): boolean => isIPv6(text) && !text.includes("%");
/** An IPv6 address with an embedded IPv4 address counts, because it has dots. */
const isIPv4 = (text: string): boolean => isDottedQuad(text) || (text.includes(".") && isPlainIPv6(text));

function isCidr(text: string): boolean {
  const slash = text.indexOf("/");
  if (slash < 0) return false;
  const address = text.slice(0, slash);
  const bits = text.slice(slash + 1);
  return (
    /^\d{1,9}$/.test(bits) &&
    ((isDottedQuad(address) && Number(bits) <= 32) || (isPlainIPv6(address) && Number(bits) <= 128))
  );
}

/** A request URI: an absolute path, or anything with a scheme. */
function isUri(text: string): boolean {
  if (text === "" || /[\p{Cc}--[\x80-\x9f]]/v.test(text)) return false;
  if (text === "*") return true;
  if (text.startsWith(":")) return false;
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(text)?.[0] ?? "";
  const rest = text.slice(scheme.length).split("?", 1)[0] ?? "";
  if (!rest.startsWith("/")) return scheme !== "";
  if (scheme === "" || !rest.startsWith("//")) return hasGoodEscapes(rest);
  const [authority = ""] = rest.slice(2).split("/", 1);
  return isAuthority(authority) && hasGoodEscapes(rest.slice(2 + authority.length));
}

const hasGoodEscapes = (text: string): boolean => !/%(?![0-9a-f]{2})/i.test(text);

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf("@");
  if (at >= 0 && !/^(?:[A-Za-z0-9._:~!$&'()*+,;=-]|%[0-9a-f]{2})*$/i.test(authority.slice(0, at))) return false;
  const host = authority.slice(at + 1);
  if (host.startsWith("[")) return /^\[[^\]]*\](?::\d*)?$/.test(host);
  return /^[^:]*(?::\d*)?$/.test(host) && !/[\s/?#@\\^`{|}]/.test(host) && hasGoodEscapes(host);
}

const digitsOf = (text: string): number[] => Array.from(text, Number);

function isIsbn10(text: string): boolean {
  const digits = text.replaceAll(/[\s-]+/g, "");
  if (!/^(?:\d{9}X|\d{10})$/.test(digits)) return false;
  return (
    Array.from(digits).reduce((sum, digit, index) => sum + (index + 1) * (digit === "X" ? 10 : Number(digit)), 0) %
      11 ===
    0
  );
}

function isIsbn13(text: string): boolean {
  const digits = text.replaceAll(/[\s-]+/g, "");
  if (!/^\d{13}$/.test(digits)) return false;
  return digitsOf(digits).reduce((sum, digit, index) => sum + digit * (index % 2 === 0 ? 1 : 3), 0) % 10 === 0;
}

function isCreditCard(text: string): boolean {
  const digits = text.replaceAll(/[^0-9]+/g, "");
  if (!CREDIT_CARD.test(digits)) return false;
  const sum = digitsOf(digits)
    .reverse()
    .reduce((total, digit, index) => total + (index % 2 === 0 ? digit : digit * 2 - (digit > 4 ? 9 : 0)), 0);
  return sum % 10 === 0;
}

/** Without the dashes that format names may have. */
const CHECKS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["bsonobjectid", (text) => /^[0-9a-f]{24}$/i.test(text)],
  ["uri", isUri],
  ["email", (text) => EMAIL.test(text)],
  [
    "hostname",
    (text) =>
      Buffer.byteLength(text) <= 255 &&
      HOSTNAME.test(text) &&
      text.split(".").every((part) => Buffer.byteLength(part) <= 63),
  ],
  ["ipv4", isIPv4],
  ["ipv6", isPlainIPv6],
  ["cidr", isCidr],
  ["mac", (text) => MAC.test(text) || DOTTED_MAC.test(text)],
  ["uuid", (text) => UUID.test(text)],
  ["uuid3", (text) => UUID3.test(text)],
  ["uuid4", (text) => UUID4.test(text)],
  ["uuid5", (text) => UUID5.test(text)],
  ["isbn", (text) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["creditcard", isCreditCard],
  ["ssn", (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ["hexcolor", (text) => /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.test(text)],
  ["rgbcolor", (text) => RGB.test(text)],
  ["password", () => true],
  ["date", isDate],
  ["duration", isDuration],
  ["datetime", isDateTime],
  ["k8sshortname", (text) => text.length <= 63 && SHORT_NAME.test(text)],
  ["k8slongname", (text) => text.length <= 253 && text.split(".").every((part) => SHORT_NAME.test(part))],
]);

const plainName = (format: string): string => format.replaceAll("-", "");

/** Reports whether a format applies to values of a type; the default type is string. */
export function isCheckedFormat(type: string | undefined, format: string): boolean {
  if (type === "integer") return format === "int32" || format === "int64";
  if (type === "number") return format === "float" || format === "double";
  if (type !== undefined && type !== "" && type !== "string") return false;
  const name = plainName(format);
  return name === "byte" || CHECKS.has(name);
}

/** The check for a format; undefined when the format is not checked. */
export function formatCheck(format: string): ((text: string) => boolean) | undefined {
  const name = plainName(format);
  // Data may be long; one linear pass over it is acceptable.
  if (name === "byte") return (text) => text.length % 4 === 0 && BASE64.test(text);
  const check = CHECKS.get(name);
  return check && ((text) => text.length <= MAX_CHECKED && check(text));
}
