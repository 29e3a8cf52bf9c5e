/** The keys of ConfigMaps and Secrets become file names. */
import type { FieldError } from "../../machinery/index.ts";
import { wrong } from "../field-errors.ts";

const RULE = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const MAX_LENGTH = 253;

export function checkDataKeys(field: string, data: Readonly<Record<string, string>> = {}, other: Readonly<Record<string, string>> = {}): FieldError[] {
  return Object.keys(data).flatMap((key) => {
    const at = `${field}[${key}]`;
    const errors: FieldError[] = [];
    if (key.length > MAX_LENGTH) errors.push(wrong(at, key, `must be no more than ${MAX_LENGTH} characters`));
    else if (!/^[-._a-zA-Z0-9]+$/.test(key)) errors.push(wrong(at, key, RULE));
    if (key === "." || key === "..") errors.push(wrong(at, key, `must not be '${key}'`));
    else if (key.startsWith("..")) errors.push(wrong(at, key, "must not start with '..'"));
    if (Object.hasOwn(other, key)) errors.push(wrong(at, key, "duplicate of key present in binaryData"));
    return errors;
  });
}
