/**
 * The `Warning:` headers of a response. Their texts contain field names chosen by clients, so they are limited as in
 * kube-apiserver: when all texts together are too long each is truncated, and those that still do not fit are omitted.
 */

/** In code points, counting only the texts. */
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
    // Twice as many code units contain at least that many code points.
    const cut = Array.from(text.slice(0, 2 * MAX_EACH_WHEN_CUT)).slice(0, MAX_EACH_WHEN_CUT);
    total += cut.length;
    headers.push(warningHeader(cut.join("")));
  }
  return headers;
}

/** A text beyond the limit is not counted to its end. */
function lengthOf(text: string): number {
  if (text.length > 2 * MAX_TOTAL) return text.length;
  let length = 0;
  for (const _character of text) length++;
  return length;
}

/**
 * `299 - "text"`; characters that a quoted string may not contain are escaped or omitted. Node writes one byte per
 * header character, and clients decode UTF-8, so each byte of the text's UTF-8 becomes a character.
 */
function warningHeader(text: string): string {
  const quoted = text.replaceAll(/\p{Cc}/gu, " ").replaceAll(/["\\]/g, "\\$&");
  return Buffer.from(`299 - "${quoted}"`).toString("latin1");
}
