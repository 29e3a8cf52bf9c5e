/**
 * Removes credentials from text before it is logged. Logged text should have none; this catches those that slip in,
 * such as in an error that quotes a request.
 */

export const REDACTED = "[redacted]";

/** Fields that hold credentials, or the contents of a Secret, regardless of their value's format. */
const SECRET_FIELD =
  /token$|tokens$|password|passwd|authorization|cookie|credential|private-?_?key|^data$|^stringdata$|^bearer$/i;

export const isSecretField = (name: string): boolean => SECRET_FIELD.test(name);

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN ([A-Z ]*)PRIVATE KEY-----[\s\S]*?(?:-----END \1PRIVATE KEY-----|$)/g, REDACTED],
  // Service account tokens.
  [/\beyJ[\w-]{6,}\.[\w-]{6,}(?:\.[\w-]*)?/g, REDACTED],
  [/\b(Bearer|Basic)(\s+|%20)[\w.~+/=-]{6,}/gi, `$1 ${REDACTED}`],
  // Bootstrap tokens.
  [/\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g, REDACTED],
  [/\/\/[^\s/@:"]+:[^\s/@"]+@/g, `//${REDACTED}@`],
  [/([?&](?:access_|id_|bearer_)?(?:token|password|secret)=)[^&\s"]+/gi, `$1${REDACTED}`],
];

export function redactText(text: string): string {
  let redacted = text;
  for (const [pattern, replacement] of PATTERNS) redacted = redacted.replaceAll(pattern, replacement);
  return redacted;
}
