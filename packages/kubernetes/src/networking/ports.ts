/** Validates ports by number and by name, and their protocols. */
import { field, type FieldError } from "@flotilla/apimachinery";
const PORT_RANGE = "must be between 1 and 65535, inclusive";
const PROTOCOLS = ["SCTP", "TCP", "UDP"];

export function checkPortNumber(path: string, port: number | undefined): FieldError[] {
  return port !== undefined && port >= 1 && port <= 65535 ? [] : [field.invalid(path, port ?? 0, PORT_RANGE)];
}

export function checkPortName(path: string, name: string): FieldError[] {
  const problems: string[] = [];
  if (Buffer.byteLength(name) > 15) problems.push("must be no more than 15 characters");
  if (!/^[-a-z0-9]+$/.test(name))
    problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!/[a-z]/.test(name)) problems.push("must contain at least one letter (a-z)");
  if (name.includes("--")) problems.push("must not contain consecutive hyphens");
  if (name.startsWith("-") || name.endsWith("-")) problems.push("must not begin or end with a hyphen");
  return problems.map((problem) => field.invalid(path, name, problem));
}

export function checkPortNumberOrName(path: string, port: number | string | undefined): FieldError[] {
  return typeof port === "string" ? checkPortName(path, port) : checkPortNumber(path, port);
}

export function checkProtocol(path: string, protocol: string | undefined): FieldError[] {
  if (!protocol) return [field.required(path)];
  return PROTOCOLS.includes(protocol) ? [] : [field.notSupported(path, protocol, PROTOCOLS)];
}
