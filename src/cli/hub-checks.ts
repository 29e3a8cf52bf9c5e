/** The hub's own checks, as its page `/readyz` tells them. */

/** Asks for every check by name. */
export const HUB_CHECKS_PATH = "/readyz?verbose";

/** The names of those that fail. */
export function failedChecksOf(page: string): string[] {
  return Array.from(page.matchAll(/^\[-\]([\w./-]+)/gm), ([, name = ""]) => name);
}
