/** The errors in a log of a Kubernetes program, grouped by message, ignoring names. */

export interface ErrorClass {
  count: number;
  /** The first of them, verbatim. */
  example: string;
}

/** `E1115 19:07:34.490914    5409 reflector.go:227] message`; F is an error that ends the program. */
const LINE = /^[EF]\d{4} \S+\s+\d+ (\S+?):\d+\] (.*)$/;
const CLASS_CHARACTERS = 200;

/** Most frequent first. */
export function errorClasses(log: string): Map<string, ErrorClass> {
  const classes = new Map<string, ErrorClass>();
  for (const line of log.split("\n")) {
    const [, file, message] = LINE.exec(line) ?? [];
    if (file === undefined || message === undefined) continue;
    const name = `${file} ${withoutNames(message).slice(0, CLASS_CHARACTERS)}`;
    const known = classes.get(name);
    if (known) known.count += 1;
    else classes.set(name, { count: 1, example: line });
  }
  return new Map([...classes].sort(([, a], [, b]) => b.count - a.count));
}

/** Identifiers, generated suffixes and numbers differ between runs. */
function withoutNames(message: string): string {
  return message
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, "<uid>")
    .replaceAll(/-[bcdfghjklmnpqrstvwxz2456789]{5,10}\b/g, "-<x>")
    .replaceAll(/\d+/g, "<n>");
}
