/** Validates names of devices, pools, attributes and requests, and lists of them. */
import { checkText, dnsLabelProblems, dnsSubdomainProblems, field } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import { checkDriverName } from "../storage/driver-names.ts";

const MAX_POOL_BYTES = 253;
const MAX_ID_BYTES = 32;
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const IDENTIFIER_RULE =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric " +
  "characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is " +
  "'[A-Za-z_][A-Za-z0-9_]*')";

/** Names of devices, requests and counters are DNS labels. */
export const checkShortName = (at: string, name: string): FieldError[] => checkText(at, name, dnsLabelProblems);

/** Parts separated by slashes, each a valid node name. */
export function checkPoolName(at: string, name: string): FieldError[] {
  if (name === "") return [field.required(at)];
  const errors = Buffer.byteLength(name) > MAX_POOL_BYTES ? [field.tooLong(at, MAX_POOL_BYTES)] : [];
  // Every part has at least its slash, so a text that is too long need not be split to its end.
  for (const part of name.slice(0, 2 * MAX_POOL_BYTES).split("/"))
    errors.push(...checkText(at, part, dnsSubdomainProblems));
  return errors;
}

/** The name of an attribute or capacity, with or without the domain of its definer. */
export function checkQualifiedName(at: string, name: string): FieldError[] {
  const [first = "", second, ...more] = name.split("/");
  if (more.length > 0) return [];
  if (second === undefined) return checkIdentifier(at, first);
  return [
    ...(first === "" ? [field.invalid(at, "", "the domain must not be empty")] : checkDriverName(at, first)),
    ...(second === "" ? [field.invalid(at, "", "the name must not be empty")] : checkIdentifier(at, second)),
  ];
}

export function checkFullyQualifiedName(at: string, name: string): FieldError[] {
  const errors = checkQualifiedName(at, name);
  return name.includes("/")
    ? errors
    : [...errors, field.invalid(at, name, "a fully qualified name must be a domain and a name separated by a slash")];
}

function checkIdentifier(at: string, text: string): FieldError[] {
  const errors = Buffer.byteLength(text) > MAX_ID_BYTES ? [field.tooLong(at, MAX_ID_BYTES)] : [];
  return IDENTIFIER.test(text) ? errors : [...errors, field.invalid(at, text, IDENTIFIER_RULE)];
}

const HEX = "[0-9a-fA-F]";
const UUID = new RegExp(`^${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}$`);
const NORMAL_UUID = /^[0-9a-f-]{36}$/;

/** A share of a device. */
export function checkShareId(at: string, id: string): FieldError[] {
  const problem = uuidProblem(id);
  if (problem !== undefined) return [field.invalid(at, id, `error validating uid: ${problem}`)];
  return NORMAL_UUID.test(id)
    ? []
    : [
        field.invalid(
          at,
          id,
          "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters",
        ),
      ];
}

/** A UUID has four notations; their lengths distinguish them. */
function uuidProblem(text: string): string | undefined {
  const length = Buffer.byteLength(text);
  if (length === 32) return new RegExp(`^${HEX}{32}$`).test(text) ? undefined : "invalid UUID format";
  if (length === 45 && text.slice(0, 9).toLowerCase() !== "urn:uuid:")
    return `invalid urn prefix: ${JSON.stringify(text.slice(0, 9))}`;
  if (length === 38 && !(text.startsWith("{") && text.endsWith("}"))) return "invalid bracketed UUID format";
  if (![36, 38, 45].includes(length)) return `invalid UUID length: ${length}`;
  const plain = length === 45 ? text.slice(9) : length === 38 ? text.slice(1, -1) : text;
  return UUID.test(plain) ? undefined : "invalid UUID format";
}

/** A list of bounded length; the items of a list that is too long are not checked. */
export function checkList<T>(
  at: string,
  items: readonly T[],
  limit: number,
  check: (at: string, item: T) => FieldError[],
): FieldError[] {
  if (items.length > limit) return [field.tooMany(at, items.length, limit)];
  return items.flatMap((item, index) => check(`${at}[${index}]`, item));
}

/** The same, without duplicates by `keyOf`. */
export function checkSet<T>(
  at: string,
  items: readonly T[],
  limit: number,
  check: (at: string, item: T) => FieldError[],
  keyOf: (item: T) => unknown,
  shown = keyOf,
): FieldError[] {
  if (items.length > limit) return [field.tooMany(at, items.length, limit)];
  const errors = checkList(at, items, limit, check);
  const seen = new Set<unknown>();
  for (const [index, item] of items.entries()) {
    const key = keyOf(item);
    if (seen.has(key)) errors.push(field.duplicate(`${at}[${index}]`, shown(item)));
    seen.add(key);
  }
  return errors;
}

/** The key of an entry as paths print it: long keys are shortened in the middle. */
export function entryPath(at: string, key: string, limit: number): string {
  const remaining = limit - 3;
  const shown =
    key.length <= limit
      ? key
      : `${key.slice(0, Math.floor((remaining + 1) / 2))}...${key.slice(key.length - Math.floor(remaining / 2))}`;
  return `${at}[${shown}]`;
}
