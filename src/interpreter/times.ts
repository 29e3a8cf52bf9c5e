/** Times as the API writes them. */

/** The latest of some times; empty texts stand for no time. */
export function latestOf(times: readonly string[]): string {
  return times.reduce((latest, time) => (time !== "" && (latest === "" || isLater(time, latest)) ? time : latest), "");
}

/** The earliest of some times; empty texts stand for no time. */
export function earliestOf(times: readonly string[]): string {
  return times.reduce(
    (earliest, time) => (time !== "" && (earliest === "" || isLater(earliest, time)) ? time : earliest),
    "",
  );
}

/**
 * Times in UTC of the same precision are ordered as their texts are, which is what controllers write and much faster to
 * tell.
 */
function isLater(a: string, b: string): boolean {
  return a.length === b.length && a.endsWith("Z") && b.endsWith("Z") ? a > b : Date.parse(a) > Date.parse(b);
}
