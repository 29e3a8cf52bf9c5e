/** The hub's own health checks, as `/readyz` reports them. */

/** Requests every check by name. */
export const HUB_CHECKS_PATH = "/readyz?verbose";

/** The names of the failing checks. */
export function failedChecksOf(page: string): string[] {
  return Array.from(page.matchAll(/^\[-\]([\w./-]+)/gm), ([, name = ""]) => name);
}
