/** User impersonation: the headers that make a server treat our requests as another user's. */

export interface Impersonation {
  user: string;
  uid?: string;
  groups?: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
}

/** A header may occur several times, once for each group and for each value. */
export function impersonationHeaders(as: Impersonation | undefined): Record<string, string | string[]> {
  if (!as) return {};
  const { user, uid, groups = [], extra = {} } = as;
  const headers: Record<string, string | string[]> = { "impersonate-user": user };
  if (uid !== undefined) headers["impersonate-uid"] = uid;
  if (groups.length > 0) headers["impersonate-group"] = [...groups];
  for (const [name, values] of Object.entries(extra))
    if (values.length > 0) headers[`impersonate-extra-${escapeName(name)}`] = [...values];
  return headers;
}

/** Characters that a header name allows are kept, except the percent sign, which escapes all others. */
const PLAIN = /^[!#$&'*+\-.^_`|~0-9A-Za-z]$/;

function escapeName(name: string): string {
  let escaped = "";
  for (const byte of Buffer.from(name, "utf8")) {
    const character = String.fromCharCode(byte);
    escaped += PLAIN.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return escaped.toLowerCase();
}
