/** Formats of strings that schemas name. A format that is not listed here is not checked, as in Kubernetes. */
import { isIP, isIPv4, isIPv6 } from "node:net";

/** Longer texts are no date, address or duration; the bound keeps every expression below cheap. */
const MAX_CHECKED = 4096;

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const DATE_TIME = /^(\d{4}-\d\d-\d\d)[Tt ]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const HOST_LABEL = /^[a-z0-9_]([-a-z0-9_]{0,61}[a-z0-9_])?$/i;
const MAC = /^([0-9a-f]{2}[:-]){5}([0-9a-f]{2}|[0-9a-f]{2}[:-][0-9a-f]{2}[:-][0-9a-f]{2})$/i;
const GO_DURATION = /^[-+]?(0|(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))*)$/;
const WORD_DURATION = /^\d+\s*(ns|nano|us|µs|micro|ms|milli|s|sec|secs|second|seconds|m|min|mins|minute|minutes|h|hr|hrs|hour|hours|d|day|days|w|week|weeks)$/i;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const EMAIL = /^[^\s@<>"]+@[^\s@<>"]+$/;

function isDate(text: string): boolean {
  const match = DATE.exec(text);
  if (!match) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function isDateTime(text: string): boolean {
  const match = DATE_TIME.exec(text);
  return match !== null && isDate(match[1] ?? "");
}

function isCidr(text: string): boolean {
  const slash = text.indexOf("/");
  if (slash < 0) return false;
  const family = isIP(text.slice(0, slash));
  const bits = text.slice(slash + 1);
  return family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

function isUri(text: string): boolean {
  return !/[\s<>"{}|\\^`]/.test(text) && (text.startsWith("/") || URL.canParse(text));
}

const isHostname = (text: string): boolean => text.length <= 255 && text.replace(/\.$/, "").split(".").every((label) => HOST_LABEL.test(label));

const CHECKS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["date", isDate],
  ["date-time", isDateTime],
  ["datetime", isDateTime],
  ["duration", (text) => GO_DURATION.test(text) || WORD_DURATION.test(text)],
  ["email", (text) => EMAIL.test(text)],
  ["hostname", isHostname],
  ["ipv4", isIPv4],
  ["ipv6", isIPv6],
  ["cidr", isCidr],
  ["mac", (text) => MAC.test(text)],
  ["uri", isUri],
  ["uuid", (text) => UUID.test(text)],
  ["uuid3", (text) => UUID.test(text)],
  ["uuid4", (text) => UUID.test(text)],
  ["uuid5", (text) => UUID.test(text)],
]);

/** What decides whether a text has the format; undefined when the format is not checked. */
export function formatCheck(format: string): ((text: string) => boolean) | undefined {
  // Data may be long; one linear pass over it is fine.
  if (format === "byte") return (text) => BASE64.test(text.replaceAll(/[\r\n]/g, ""));
  const check = CHECKS.get(format);
  return check && ((text) => text.length <= MAX_CHECKED && check(text));
}
