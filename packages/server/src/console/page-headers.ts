/** The paths of the console, and their headers. The policy allows nothing but our own files, and no string becomes code. */

export const PREFIX = "/ui";
export const isOfConsole = (path: string): boolean => path === PREFIX || path.startsWith(`${PREFIX}/`);

export const pagePolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    // The editor and the terminal create style elements, which carry the nonce.
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");

/** What members and workloads answer never runs as a page of ours. */
export const DATA_POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'";

export const COMMON_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
} as const;
