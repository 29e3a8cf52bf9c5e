/**
 * The `Warning:` headers of an answer. Their texts name fields that a client made up, so they are bounded as on the
 * real server: once all texts together are too long each is cut, and what then still does not fit is left out.
 */

/** In code points, of the texts alone. */
const MAX_TOTAL = 4 * 1024;
const MAX_EACH_WHEN_CUT = 256;

/** The header lines for these texts, in their order. */
export function warningHeaders(texts: ReadonlySet<string>): string[] {
  let total = 0;
  for (const text of texts) {
    total += lengthOf(text);
    if (total > MAX_TOTAL) return cutHeaders(texts);
  }
  return Array.from(texts, warningHeader);
}

function cutHeaders(texts: ReadonlySet<string>): string[] {
  const headers: string[] = [];
  let total = 0;
  for (const text of texts) {
    if (total >= MAX_TOTAL) break;
    // Twice as many units hold that many code points, however they are written.
    const cut = Array.from(text.slice(0, 2 * MAX_EACH_WHEN_CUT)).slice(0, MAX_EACH_WHEN_CUT);
    total += cut.length;
    headers.push(warningHeader(cut.join("")));
  }
  return headers;
}

/** A text that is longer than the bound is not counted to its end. */
function lengthOf(text: string): number {
  if (text.length > 2 * MAX_TOTAL) return text.length;
  let length = 0;
  for (const _character of text) length++;
  return length;
}

/**
 * `299 - "text"`, with what a quoted string may not hold escaped or left out. Node writes one byte for each character
 * of a header, and clients read UTF-8, so each byte of the text's UTF-8 becomes a character.
 */
function warningHeader(text: string): string {
  const quoted = text.replaceAll(/\p{Cc}/gu, " ").replaceAll(/["\\]/g, "\\$&");
  return Buffer.from(`299 - "${quoted}"`).toString("latin1");
}
