/** Compares by UTF-16 code units, so that the order does not depend on the machine's locale. */
export function compareText(a: string, b: string): -1 | 0 | 1 {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** With a capital first letter, for a clause that starts a sentence. */
export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
